import { ZERO } from '../../../contract/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
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
import { findInvoiceConfig } from '../../platform/settings/invoice-config.js';
import { findRecords } from '../../records/find-record.js';
import { createRecord } from '../../records/create-record.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, notFound, notPublished, type Refusal } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { NEW_DRAFT, type InvoiceDocument } from '../document/invoice-document.js';
import { computationOfGiven, storeComputations } from '../stored/computations.js';
import { documentOf, identified, insertDocumentParts } from '../stored/document-parts.js';
import { finalizeDrafts } from '../finalize/finalize-drafts.js';
import {
  documentOfGiven,
  totalsOfCredit,
  type GivenInvoice,
  type GivenParties,
  type GivenTotals,
} from '../stored/given-document.js';
import { givenLine } from '../stored/given-line.js';
import {
  readGivenInvoice,
  type CreateInvoiceBody,
  type GivenInvoiceRequest,
} from './given-invoice-request.js';
import { adjustmentsOfGiven } from './given-adjustments.js';

/** The lines of a request with what is done to them, and the records that these name. */
async function givenOf(
  unit: Unit,
  id: string,
  request: GivenInvoiceRequest,
): Promise<{ readonly given: GivenInvoice; readonly parties: GivenParties } | Refusal> {
  const { currency, lines, coupons: codes, taxRates, customerId } = request;
  const period = request.period ?? { startMs: unit.now, endMs: unit.now + 1 };
  const invoice = { id, currency, window: period };
  const redeemed = await redeemForInvoice(unit, currency, codes);
  if (isRefusal(redeemed)) return redeemed;
  const adjustments = await adjustmentsOfGiven(unit, id, {
    ...{ coupons: redeemed, taxRates, customerId, isCredit: request.type === 'CREDIT' },
  });
  if (isRefusal(adjustments)) return adjustments;
  const { coupons, taxes, parties } = adjustments;
  const given = { currency, period, coupons, taxes, atMs: unit.now };
  return { given: { ...given, lines: lines.map((line) => givenLine(line, invoice)) }, parties };
}

async function findPublishedCustomer(
  unit: Unit,
  id: string,
): Promise<AnsweredCustomerRow | Refusal> {
  const customer = await findAnsweredCustomer(unit, { id });
  if (isRefusal(customer) || customer.status === 'published') return customer;
  return notPublished('customer', customer.status);
}

/** The 404 for a price that a line names and that does not exist; null when all do. */
async function unknownPrice(unit: Unit, { lines }: GivenInvoiceRequest): Promise<Refusal | null> {
  const ids = lines.map(({ priceId }) => priceId).filter((id) => id !== null);
  const prices = await findRecords(unit, PRICES, ids);
  const missing = ids.find((id) => !prices.has(id));
  return missing === undefined ? null : notFound(PRICES.name, missing);
}

/** The row of the invoice before it is finalized. */
function newRow(
  request: GivenInvoiceRequest,
  { id, sums, customer, now, subscription }: NewInvoice,
): NewInvoiceRow {
  return {
    ...NEW_DRAFT,
    ...sums,
    id,
    metadata: request.metadata,
    invoice_type: request.type,
    billing_reason: request.reason,
    billing_period: null,
    customer_id: customer.id,
    subscription_id: subscription?.id ?? null,
    subscription_customer_id: subscription?.customer_id ?? null,
    subscription,
    currency: request.currency,
    description: request.description,
    due_date: request.dueDate,
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
  readonly subscription: SubscriptionDto | null;
};

/** What an invoice with given lines is made for, when nobody asked for it. */
export type GivenInvoicePurpose = {
  readonly isFunding?: boolean;
  /** The subscription whose line items it charges. */
  readonly subscription?: SubscriptionDto | null;
};

/**
 * Stores and finalizes an invoice with given lines, in the unit of the caller. One that sells
 * credits of a wallet is not paid by credits, and what it charges is not revenue.
 */
export async function storeGivenInvoice(
  unit: Unit,
  request: GivenInvoiceRequest,
  { isFunding = false, subscription = null }: GivenInvoicePurpose = {},
): Promise<InvoiceDocument | Refusal> {
  const customer = await findPublishedCustomer(unit, request.customerId);
  if (isRefusal(customer)) return customer;
  const unknown = await unknownPrice(unit, request);
  if (unknown !== null) return unknown;
  const id = unit.newId(INVOICES.idPrefix);
  const found = await givenOf(unit, id, request);
  if (isRefusal(found)) return found;
  const { totals, ...parts } = documentOfGiven(found.given, found.parties);
  const sums = request.type === 'CREDIT' ? totalsOfCredit(found.given.lines) : totals;
  const values = newRow(request, { id, sums, customer, now: unit.now, subscription });
  const row = await createRecord(unit, INVOICES, values);
  if (isRefusal(row)) return row;
  const stored = identified(unit, id, parts);
  await insertDocumentParts(unit, [stored]);
  await storeComputations(unit, [computationOfGiven(id, found.given)]);
  const draft = { row, computed: {}, parts: stored, number: request.number, isFunding };
  const done = await finalizeDrafts(unit, await findInvoiceConfig(unit), [draft]);
  if (isRefusal(done)) return done;
  const [final] = [...done.finalized, ...done.skipped];
  assertThat(final !== undefined, 'the invoice was finalized');
  return documentOf(final.row, final.parts);
}

/**
 * POST /invoices: an invoice with given lines, finalized at once. A ONE_OFF invoice has coupons and
 * taxes; a CREDIT invoice has neither, and may be negative (docs/domain.md 13.2, 13.7).
 */
export function createInvoice(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreateInvoiceBody,
): Promise<InvoiceDocument | Refusal> {
  const request = readGivenInvoice(body);
  if (isRefusal(request)) return Promise.resolve(request);
  return writeUnit(dependencies, occasion, (unit) => storeGivenInvoice(unit, request));
}
