import { decimalOf, plain } from '../../../contract/number/decimal.js';
import { PRICE_MODELS } from '../../domain/rating/price-models.js';
import type { AppliedTaxDto, CouponApplicationDto } from '../../documents/answer/adjustment-dto.js';
import type { InvoiceDto, InvoiceLineItemDto } from '../../documents/answer/invoice-dto.js';
import type {
  ExplainedPricingDto,
  ExplainedStepDto,
  ExplanationDto,
} from '../../documents/answer/explanation-dto.js';

/** The members of a line that its rows show. */
export type PrintedLine = Pick<
  InvoiceLineItemDto,
  | 'display_name'
  | 'quantity'
  | 'amount'
  | 'line_item_discount'
  | 'usage_analytics'
  | 'usage_breakdown'
> &
  Partial<Pick<InvoiceLineItemDto, 'period_start' | 'period_end' | 'commitment_info'>> & {
    readonly explanation?: Pick<ExplanationDto, 'pricing' | 'commitment'> &
      Partial<Pick<ExplanationDto, 'charged_before' | 'maximum' | 'rounding'>>;
  };

/** The members of an invoice that its rows show. */
export type PrintedInvoice = Pick<
  InvoiceDto,
  'subtotal' | 'total_discount' | 'total_tax' | 'total'
> &
  Partial<
    Pick<InvoiceDto, 'total_prepaid_credits_applied' | 'amount_paid' | 'amount_remaining'>
  > & {
    readonly line_items: readonly PrintedLine[];
    readonly coupon_applications?: readonly Pick<
      CouponApplicationDto,
      'coupon_snapshot' | 'discounted_amount'
    >[];
    readonly taxes?: readonly Pick<AppliedTaxDto, 'tax_rate' | 'tax_amount'>[];
  };

/**
 * A row of a printed invoice. The amounts of all rows of kind `line` add up to the subtotal; a
 * `detail` says how the row above it came about; a `sum` adds to the total, or takes from it.
 */
export type InvoiceRow = {
  readonly kind: 'line' | 'detail' | 'sum' | 'total';
  readonly name: string;
  readonly quantity: string;
  readonly unit: string;
  readonly amount: string;
};

const isZero = (amount: string): boolean => /^-?0(\.0*)?$/.test(amount);
/** An amount that is taken off. */
const lessOf = (amount: string): string =>
  amount.startsWith('-') ? amount.slice(1) : isZero(amount) ? amount : `-${amount}`;

function detail(
  name: string,
  amount: string,
  [quantity, unit]: readonly [string, string] = ['', ''],
): InvoiceRow {
  return { kind: 'detail', name, quantity, unit, amount };
}

function sum(name: string, amount: string, kind: 'sum' | 'total' = 'sum'): InvoiceRow {
  return { kind, name, quantity: '', unit: '', amount };
}

function unitAmountOf({ unit_amount: unit, flat_amount: flat }: ExplainedStepDto): string {
  return isZero(flat) ? unit : `${unit} + ${flat} flat`;
}

const tierRow = (step: ExplainedStepDto, range: string): InvoiceRow =>
  detail(`tier ${step.tier}, ${range}`, step.amount, [step.quantity, unitAmountOf(step)]);

function tierRows({ tier_mode: mode, steps }: ExplainedPricingDto): readonly InvoiceRow[] {
  return steps.map((step, index) => {
    // The one tier of a volume price has all of the quantity.
    if (mode === 'VOLUME') return tierRow(step, 'all units');
    // Absent means zero: the first tier begins there.
    const from = steps[index - 1]?.up_to ?? '0';
    return tierRow(step, step.up_to === null ? `beyond ${from}` : `up to ${step.up_to}`);
  });
}

/** What commitments of windows made of the line, summed up. */
function windowRows({ commitment_info: info = null }: PrintedLine): readonly InvoiceRow[] {
  if (info?.is_windowed !== true) return [];
  const sums = [
    ['within the commitments of its windows', info.computed_commitment_utilized_amount],
    ['overage of its windows', info.computed_overage_amount],
    ['true-up of its windows', info.computed_true_up_amount],
  ] as const;
  return sums.flatMap(([name, amount]) =>
    amount === null || isZero(amount) ? [] : [detail(name, amount)],
  );
}

/** What a commitment made of the line, where it changed the amount. */
function commitmentRows(line: PrintedLine): readonly InvoiceRow[] {
  const commitment = line.explanation?.commitment ?? null;
  if (commitment === null) return windowRows(line);
  return [
    detail('within the commitment', commitment.in_commitment),
    detail(`overage × ${commitment.overage_factor}`, commitment.overage),
    detail('true-up to the commitment', commitment.true_up),
  ].filter(({ amount }) => !isZero(amount));
}

function splitRows(line: PrintedLine): readonly InvoiceRow[] {
  const bySource = line.usage_analytics.map((split) => ({
    ...split,
    name: split.source === '' ? 'no source' : split.source,
  }));
  const byGroup = line.usage_breakdown.map((split) => ({
    ...split,
    name: Object.values(split.grouped_by).join(', '),
  }));
  return [...bySource, ...byGroup].map(({ name, usage, percentage, cost }) =>
    detail(`of ${name}`, cost, [usage, `${percentage} %`]),
  );
}

/** A price with one step stands in the row of its line; tiers have rows of their own. */
function priceRows(pricing: ExplainedPricingDto | null): readonly [string, readonly InvoiceRow[]] {
  // Absent means none: a line that was given by hand was not priced.
  const steps = pricing?.steps ?? [];
  const [first] = steps;
  if (pricing === null || first === undefined) return ['', []];
  if (PRICE_MODELS[pricing.billing_model].hasStepRows) return ['', tierRows(pricing)];
  const unit = unitAmountOf(first);
  return [pricing.packages === null ? unit : `${unit} × ${pricing.packages} packages`, []];
}

/** What the maximum of the price has taken off, where it changed the amount. */
function maximumRows({ explanation }: PrintedLine): readonly InvoiceRow[] {
  const maximum = explanation?.maximum ?? null;
  const exact = explanation?.rounding?.exact;
  if (maximum === null || exact === undefined || maximum.uncapped === exact) return [];
  const cut = decimalOf(maximum.uncapped).minus(decimalOf(exact));
  return [detail(`at most ${maximum.maximum} a period`, lessOf(plain(cut)))];
}

/** What threshold invoices of the same period have charged, which the line leaves out. */
function earlierRows({ explanation }: PrintedLine): readonly InvoiceRow[] {
  const before = explanation?.charged_before ?? null;
  return before === null ? [] : [detail('charged before in this period', lessOf(before))];
}

/** What a unit of a line costs, in words; empty where it has tiers or was not priced. */
export function unitAmountText({ explanation }: PrintedLine): string {
  return priceRows(explanation?.pricing ?? null)[0];
}

/** The rows of a line; `period` says in words what time it is for, where that is not clear. */
export function lineRows(line: PrintedLine, period: string | null): readonly InvoiceRow[] {
  const [unit, tiers] = priceRows(line.explanation?.pricing ?? null);
  const { display_name: name, quantity, amount, line_item_discount: discount } = line;
  return [
    { kind: 'line', name, quantity, unit, amount },
    ...(period === null ? [] : [detail(period, '')]),
    ...tiers,
    ...commitmentRows(line),
    ...maximumRows(line),
    ...earlierRows(line),
    ...splitRows(line),
    ...(isZero(discount) ? [] : [detail('discount', lessOf(discount))]),
  ];
}

function couponRow({
  coupon_snapshot: coupon,
  discounted_amount: amount,
}: Pick<CouponApplicationDto, 'coupon_snapshot' | 'discounted_amount'>): InvoiceRow {
  const { name, coupon_code: code, percentage_off: percentage } = coupon;
  const share = percentage === null ? '' : `, ${percentage} %`;
  return detail(`${name}${code === null ? '' : ` (${code})`}${share}`, lessOf(amount));
}

function taxRow({
  tax_rate: rate,
  tax_amount: amount,
}: Pick<AppliedTaxDto, 'tax_rate' | 'tax_amount'>): InvoiceRow {
  const share = rate.percentage_value === null ? '' : `, ${rate.percentage_value} %`;
  return detail(`${rate.name}${share}`, amount);
}

/** The rows below the lines. */
export function totalRows(invoice: PrintedInvoice): readonly InvoiceRow[] {
  // Absent means none, or that the caller shows the sums alone.
  const { coupon_applications: coupons = [], taxes = [] } = invoice;
  const { total_prepaid_credits_applied: credits = '0' } = invoice;
  const { amount_paid: paid = '0', amount_remaining: remaining = '0' } = invoice;
  const changes: readonly (readonly InvoiceRow[])[] = [
    [sum('Discounts', lessOf(invoice.total_discount)), ...coupons.map(couponRow)],
    [sum('Prepaid credits', lessOf(credits))],
    [sum('Taxes', invoice.total_tax), ...taxes.map(taxRow)],
  ];
  const shown = changes.filter(([first]) => first !== undefined && !isZero(first.amount)).flat();
  return [
    ...(shown.length === 0 ? [] : [sum('Subtotal', invoice.subtotal), ...shown]),
    sum('Total', invoice.total, 'total'),
    ...(isZero(paid) ? [] : [sum('Paid', lessOf(paid)), sum('Remaining', remaining, 'total')]),
  ];
}

/**
 * The rows in which an invoice is shown to people: its lines with what their amounts are made of,
 * then its sums. All figures are the texts of the answer; none is computed or rounded here.
 * `periodOf` says in words what time a line is for, where that is not clear from the invoice.
 */
export function invoiceRows(
  invoice: PrintedInvoice,
  periodOf: (line: PrintedLine) => string | null = () => null,
): readonly InvoiceRow[] {
  const lines = invoice.line_items.flatMap((line) => lineRows(line, periodOf(line)));
  return [...lines, ...totalRows(invoice)];
}
