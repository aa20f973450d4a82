import { ZERO } from '../../../contract/number/decimal.js';
import { DAY_MS, type InstantMs } from '../../../contract/instant.js';
import { assertThat } from '../../../runtime/failure.js';
import { redeemForInvoice } from '../../coupons/redeem-coupons.js';
import { findAnsweredCustomer } from '../../customers/named-customer.js';
import { PRICES } from '../../declarations/catalog/price.resource.js';
import {
  customerToDto,
  type AnsweredCustomerRow,
} from '../../declarations/customers/customer.resource.js';
import { INVOICES, type NewInvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { SubscriptionDto } from '../../declarations/subscriptions/subscription.resource.js';
import { netDaysOf } from '../../domain/invoice/pricing/due-date.js';
import { currentRules } from '../../domain/invoice/pricing/rules.js';
import { findInvoiceConfig, type InvoiceConfig } from '../../platform/settings/invoice-config.js';
import { findRecords } from '../../records/find-record.js';
import { createRecord } from '../../records/create-record.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, notFound, notPublished, type Refusal, Refused } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { NEW_DRAFT, type InvoiceDocument } from '../../documents/invoice-document.js';
import { computationOfGiven, storeComputations } from '../../documents/store/computations.js';
import {
  documentOf,
  identified,
  insertDocumentParts,
} from '../../documents/store/document-parts.js';
import { finalizeDrafts } from '../finalize/finalize-drafts.js';
import {
  documentOfGiven,
  totalsOfCredit,
  type GivenInvoice,
  type GivenParties,
  type GivenTotals,
} from '../../documents/store/given-document.js';
import { givenLine } from '../../documents/store/given-line.js';
import {
  readGivenInvoice,
  type CreateInvoiceBody,
  type GivenInvoiceRequest,
} from './given-invoice-request.js';
import { NO_COUPONS, type CouponsOfRest } from '../compute/coupons-of-rest.js';
import { adjustmentsOfGiven } from './given-adjustments.js';
import { holdInvoiced } from './hold-invoiced.js';

/** The lines of a request with what is done to them, and the records that these name. */
async function givenOf(
  unit: Unit,
  id: string,
  {
    request,
    purpose: { subscription = null, discounts = NO_COUPONS },
  }: {
    readonly request: GivenInvoiceRequest;
    readonly purpose: GivenInvoicePurpose;
  },
): Promise<{ readonly given: GivenInvoice; readonly parties: GivenParties }> {
  const { currency, lines, coupons: codes, taxRates, customerId } = request;
  const period = request.period ?? { startMs: unit.now, endMs: unit.now + 1 };
  const invoice = { id, currency, window: period };
  const redeemed = await redeemForInvoice(unit, currency, codes);
  const adjustments = await adjustmentsOfGiven(unit, id, {
    coupons: redeemed,
    taxRates,
    isCredit: request.type === 'CREDIT',
    customerId,
    subscriptionId: subscription?.id ?? null,
    discounts,
  });
  const { coupons, taxes, parties } = adjustments;
  const { version: rulesVersion } = currentRules();
  const given = { rulesVersion, currency, period, coupons, taxes, atMs: unit.now };
  return { given: { ...given, lines: lines.map((line) => givenLine(line, invoice)) }, parties };
}

async function findPublishedCustomer(unit: Unit, id: string): Promise<AnsweredCustomerRow> {
  const customer = await findAnsweredCustomer(unit, { id });
  if (customer.status === 'published') return customer;
  throw new Refused(notPublished('customer', customer.status));
}

/** Refuses a line that names a price that does not exist. */
async function refuseUnknownPrice(unit: Unit, { lines }: GivenInvoiceRequest): Promise<void> {
  const ids = lines.map(({ priceId }) => priceId).filter((id) => id !== null);
  const prices = await findRecords(unit, PRICES, ids);
  const missing = ids.find((id) => !prices.has(id));
  if (missing !== undefined) throw new Refused(notFound(PRICES.name, missing));
}

/** The customer of a request; refuses one, or a price, that it names and that is not there. */
async function findNamed(unit: Unit, request: GivenInvoiceRequest): Promise<AnsweredCustomerRow> {
  const customer = await findPublishedCustomer(unit, request.customerId);
  await refuseUnknownPrice(unit, request);
  return customer;
}

/** What a row says of the subscription that the invoice belongs to. */
function ownerOf({ subscription = null, sequence = null }: GivenInvoicePurpose) {
  const isNumbered = subscription !== null && sequence !== null;
  return {
    billing_period: isNumbered ? subscription.billing_period : null,
    billing_sequence: sequence,
    subscription_id: subscription?.id ?? null,
    subscription_customer_id: subscription?.customer_id ?? null,
    subscription,
  };
}

/** The row of the invoice before it is finalized. */
function newRow(
  request: GivenInvoiceRequest,
  { id, sums, customer, now, owner, dueMs }: NewInvoice,
): NewInvoiceRow {
  return {
    ...NEW_DRAFT,
    ...sums,
    id,
    metadata: request.metadata,
    invoice_type: request.type,
    billing_reason: request.reason,
    ...ownerOf(owner),
    customer_id: customer.id,
    currency: request.currency,
    description: request.description,
    due_date: request.dueDate ?? dueMs,
    period_start: request.period?.startMs ?? null,
    period_end: request.period?.endMs ?? null,
    last_computed_at: now,
    data_until: null,
    // Nothing was paid, so nothing was paid back.
    refunded_amount: ZERO,
    customer: customerToDto(customer),
  };
}

type NewInvoice = {
  readonly id: string;
  readonly sums: GivenTotals;
  readonly customer: AnsweredCustomerRow;
  readonly now: InstantMs;
  readonly owner: GivenInvoicePurpose;
  /** Where the request does not say; null where nothing does. */
  readonly dueMs: InstantMs | null;
};

/** What an invoice with given lines is made for, when nobody asked for it. */
export type GivenInvoicePurpose = {
  readonly isFunding?: boolean;
  /** The subscription that it belongs to. */
  readonly subscription?: SubscriptionDto | null;
  /** Coupons of the subscription that it has. */
  readonly discounts?: CouponsOfRest;
  /** Of an invoice of type SUBSCRIPTION, among those of its subscription. */
  readonly sequence?: number | null;
};

/** When an invoice that is finalized now is due: by the terms of its subscription. */
function dueOfGiven(
  subscription: SubscriptionDto | null,
  { config, now }: { readonly config: InvoiceConfig; readonly now: InstantMs },
): InstantMs | null {
  if (subscription === null) return null;
  return now + (netDaysOf(subscription.payment_terms) ?? config.due_date_days) * DAY_MS;
}

/**
 * Stores and finalizes an invoice with given lines, in the unit of the caller. One that sells
 * credits of a wallet is not paid by credits, and what it charges is not revenue.
 */
export async function storeGivenInvoice(
  unit: Unit,
  request: GivenInvoiceRequest,
  purpose: GivenInvoicePurpose = {},
): Promise<InvoiceDocument> {
  const { isFunding = false, subscription = null } = purpose;
  const customer = await findNamed(unit, request);
  const id = unit.newId(INVOICES.idPrefix);
  const config = await findInvoiceConfig(unit);
  const found = await givenOf(unit, id, { request, purpose });
  const { totals, ...parts } = documentOfGiven(found.given, found.parties);
  const sums = request.type === 'CREDIT' ? totalsOfCredit(found.given.lines) : totals;
  const dueMs = dueOfGiven(subscription, { config, now: unit.now });
  const values = newRow(request, { id, sums, customer, now: unit.now, owner: purpose, dueMs });
  const row = await createRecord(unit, INVOICES, values);
  const stored = identified(unit, id, parts);
  await insertDocumentParts(unit, [stored]);
  await storeComputations(unit, [computationOfGiven(id, found.given)]);
  const draft = { row, computed: {}, parts: stored, number: request.number, isFunding };
  const done = await finalizeDrafts(unit, config, [draft]);
  const [final] = [...done.finalized, ...done.skipped];
  assertThat(final !== undefined, 'the invoice was finalized');
  return documentOf(final.row, final.parts);
}

/**
 * POST /invoices: an invoice with given lines, finalized at once. A CREDIT invoice has neither
 * coupons nor taxes, and may be negative (docs/domain.md 13.2, 13.7).
 */
export function createInvoice(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreateInvoiceBody,
): Promise<InvoiceDocument | Refusal> {
  const request = readGivenInvoice(body);
  if (isRefusal(request)) return Promise.resolve(request);
  return writeUnit(dependencies, occasion, async (unit) => {
    if (request.named === null) return storeGivenInvoice(unit, request);
    const owner = await holdInvoiced(unit, request, request.named);
    return storeGivenInvoice(unit, request, owner);
  });
}
