import { ONE, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { BillingReason } from '../../declarations/invoices/invoice.resource.js';
import type { BillingPeriod } from '../../domain/calendar/billing-grid.js';
import { minorDigitsOf } from '../../domain/money/minor-digits.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Currency, DateTime, DecimalText, MetadataDto } from '../../records/record-dto.js';
import type { Refusal } from '../../records/refusal.js';
import type { GivenLineTerms } from '../../documents/store/given-line.js';

/** A line of a one-off invoice. */
export interface GivenInvoiceLineBody {
  /**
   * @minLength 1
   * @maxLength 255
   */
  display_name: string;
  /** Money of the currency of the invoice; less than 0 only on a CREDIT invoice. */
  amount: DecimalText;
  /** @default "1" */
  quantity?: DecimalText;
  price_id?: string;
  /** Given with `period_end`. */
  period_start?: DateTime;
  period_end?: DateTime;
  metadata?: MetadataDto;
}

/**
 * @example {"customer_id": "cust_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "currency": "usd",
 *   "subtotal": "150.00", "total": "150.00", "amount_due": "150.00",
 *   "line_items": [{"display_name": "Workshop", "amount": "150.00"}]}
 */
export interface CreateInvoiceBody {
  customer_id: string;
  currency: Currency;
  /** The sum of the lines; so are the next two, before coupons and taxes. */
  subtotal: DecimalText;
  total: DecimalText;
  amount_due: DecimalText;
  /**
   * @minItems 1
   * @maxItems 1000
   */
  line_items: GivenInvoiceLineBody[];
  /**
   * CREDIT has neither coupons nor taxes, and may be negative. SUBSCRIPTION belongs to
   * `subscription_id`, for a period of which it is the only one.
   * @default "ONE_OFF"
   */
  invoice_type?: 'ONE_OFF' | 'CREDIT' | 'SUBSCRIPTION';
  /** Required with type SUBSCRIPTION, and absent otherwise; so is `billing_period`. */
  subscription_id?: string;
  /** That of the subscription. */
  billing_period?: BillingPeriod;
  /**
   * Taken from the series of the environment when absent.
   * @minLength 1
   * @maxLength 100
   */
  invoice_number?: string;
  /** When absent: of a subscription by its payment terms, otherwise none. */
  due_date?: DateTime;
  /** @maxLength 10000 */
  description?: string;
  /**
   * Codes of coupons; each counts as one redemption.
   * @maxItems 100
   */
  coupons?: string[];
  /**
   * Codes of tax rates, beside those of the customer and the tenant.
   * @maxItems 100
   */
  tax_rates?: string[];
  /**
   * MANUAL with type SUBSCRIPTION.
   * @default "MANUAL"
   */
  billing_reason?: BillingReason;
  /** Given with `period_end`. */
  period_start?: DateTime;
  period_end?: DateTime;
  metadata?: MetadataDto;
}

/** A one-off invoice as it was requested, checked. */
export type GivenInvoiceRequest = {
  readonly customerId: string;
  readonly currency: string;
  readonly type: 'ONE_OFF' | 'CREDIT' | 'SUBSCRIPTION';
  readonly lines: readonly GivenLineTerms[];
  readonly number: string | null;
  readonly dueDate: InstantMs | null;
  readonly description: string | null;
  readonly coupons: readonly string[];
  readonly taxRates: readonly string[];
  readonly reason: BillingReason;
  readonly period: Interval | null;
  readonly metadata: MetadataDto;
};

function readPeriod(
  reader: MemberReader,
  place: string,
  given: { readonly period_start?: string; readonly period_end?: string },
): Interval | null {
  const startMs = reader.instant(`${place}period_start`, given.period_start);
  const endMs = reader.instant(`${place}period_end`, given.period_end);
  if ((given.period_start === undefined) !== (given.period_end === undefined)) {
    const missing = given.period_start === undefined ? 'period_start' : 'period_end';
    reader.note(`${place}${missing}`, 'must be given with the other end of the period');
  }
  if (startMs === null || endMs === null) return null;
  if (endMs < startMs) reader.note(`${place}period_end`, 'must not be before period_start');
  return { startMs, endMs };
}

function readLine(
  reader: MemberReader,
  body: GivenInvoiceLineBody,
  { place, currency, isCredit }: { place: string; currency: string; isCredit: boolean },
): GivenLineTerms {
  // Absent means zero: a bad amount, for which the request is refused.
  const amount = reader.decimal(`${place}amount`, body.amount) ?? ZERO;
  reader.minorDigits(`${place}amount`, amount, currency);
  if (amount.isNegative() && !isCredit) {
    reader.note(`${place}amount`, 'must be 0 or more, except on an invoice of type CREDIT');
  }
  return {
    displayName: reader.line(`${place}display_name`, body.display_name),
    amount,
    quantity: reader.decimal(`${place}quantity`, body.quantity) ?? ONE,
    priceId: body.price_id ?? null,
    period: readPeriod(reader, place, body),
    metadata: reader.metadata(body.metadata, `${place}metadata`),
  };
}

/** The three sums of a request must be what its lines add up to (docs/domain.md 13.7). */
function checkSums(reader: MemberReader, body: CreateInvoiceBody, sum: Decimal): void {
  // Lines with too many digits are refused already, and no sum would be right.
  if (sum.decimalPlaces() > minorDigitsOf(body.currency)) return;
  const given = { subtotal: body.subtotal, total: body.total, amount_due: body.amount_due };
  for (const [name, text] of Object.entries(given)) {
    const value = reader.decimal(name, text);
    if (value === null || value.equals(sum)) continue;
    reader.note(name, `must be ${sum.toFixed()}, the sum of the lines`);
  }
}

/** The coupons and tax rates that a request names; a CREDIT invoice has none. */
function readCodes(
  reader: MemberReader,
  { coupons = [], tax_rates: taxRates = [] }: CreateInvoiceBody,
  isCredit: boolean,
) {
  for (const [name, codes] of Object.entries({ coupons, tax_rates: taxRates })) {
    if (isCredit && codes.length > 0) reader.note(name, 'must be left out on a CREDIT invoice');
  }
  return { coupons, taxRates };
}

/** The subscription that an invoice is to belong to, as it is named. */
export type NamedSubscription = { readonly id: string; readonly billingPeriod: BillingPeriod };

/** POST /invoices as it was requested; `named` is null for an invoice that belongs to none. */
export type CreateInvoiceRequest = GivenInvoiceRequest & {
  readonly named: NamedSubscription | null;
};

const OF_SUBSCRIPTION = ['subscription_id', 'billing_period'] as const;
const NEEDED = [...OF_SUBSCRIPTION, 'period_start', 'period_end'] as const;

/** Notes what an invoice of type SUBSCRIPTION has that others have not, or lacks. */
function checkMembers(reader: MemberReader, body: CreateInvoiceBody): void {
  const isNeeded = body.invoice_type === 'SUBSCRIPTION';
  const [wrong, problem] = isNeeded
    ? [NEEDED.filter((member) => body[member] === undefined), 'must be given for']
    : [
        OF_SUBSCRIPTION.filter((member) => body[member] !== undefined),
        'must be left out, except on',
      ];
  for (const member of wrong) reader.note(member, `${problem} an invoice of type SUBSCRIPTION`);
}

/** The subscription that an invoice of type SUBSCRIPTION names (docs/domain.md 13.7). */
function readSubscription(
  reader: MemberReader,
  body: CreateInvoiceBody,
  { period, reason }: { readonly period: Interval | null; readonly reason: BillingReason },
): NamedSubscription | null {
  checkMembers(reader, body);
  const { subscription_id: id, billing_period: billingPeriod } = body;
  if (body.invoice_type !== 'SUBSCRIPTION') return null;
  if (period !== null && period.startMs === period.endMs) {
    reader.note('period_end', 'must be after period_start');
  }
  if (reason !== 'MANUAL') {
    const others = 'invoices of other reasons are computed, and made by themselves';
    reader.note('billing_reason', `must be MANUAL for an invoice of type SUBSCRIPTION: ${others}`);
  }
  return id === undefined || billingPeriod === undefined ? null : { id, billingPeriod };
}

/** Reads the body of POST /invoices. */
export function readGivenInvoice(body: CreateInvoiceBody): CreateInvoiceRequest | Refusal {
  const reader = new MemberReader();
  const currency = reader.currency('currency', body.currency);
  const bad = reader.refusal();
  if (bad !== null) return bad;
  const { invoice_type: type = 'ONE_OFF', billing_reason: reason = 'MANUAL' } = body;
  const isCredit = type === 'CREDIT';
  const lines = body.line_items.map((line, index) =>
    readLine(reader, line, { place: `line_items.${index}.`, currency, isCredit }),
  );
  const sum = lines.reduce((total, { amount }) => total.plus(amount), ZERO);
  checkSums(reader, body, sum);
  const { coupons, taxRates } = readCodes(reader, body, isCredit);
  const number = body.invoice_number;
  const period = readPeriod(reader, '', body);
  const request = {
    customerId: body.customer_id,
    currency,
    type,
    lines,
    number: number === undefined ? null : reader.line('invoice_number', number),
    dueDate: reader.instant('due_date', body.due_date),
    description: body.description ?? null,
    coupons,
    taxRates,
    reason,
    period,
    named: readSubscription(reader, body, { period, reason }),
    metadata: reader.metadata(body.metadata),
  };
  return reader.refusal() ?? assertPresent(request, 'the request');
}
