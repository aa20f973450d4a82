import pc from 'picocolors';
import type { CustomerDto } from '../../billing-api/declarations/customers/customer.resource.js';
import type {
  InvoiceDto,
  InvoiceLineItemDto,
} from '../../billing-api/billing/answer/invoice-dto.js';
import type {
  ExplainedPricingDto,
  ExplainedStepDto,
  ExplanationDto,
} from '../../billing-api/billing/explain/explanation-dto.js';
import { tableLines } from '../demo/tables.js';
import { safeText } from './safe-text.js';

type ShownLine = Pick<
  InvoiceLineItemDto,
  | 'display_name'
  | 'quantity'
  | 'amount'
  | 'line_item_discount'
  | 'usage_analytics'
  | 'usage_breakdown'
> & { readonly explanation?: Pick<ExplanationDto, 'pricing' | 'commitment'> };

/** The members of an invoice that are shown. */
export type ShownInvoice = Pick<
  InvoiceDto,
  | 'customer_id'
  | 'period_start'
  | 'period_end'
  | 'data_until'
  | 'currency'
  | 'subtotal'
  | 'total_discount'
  | 'total_tax'
  | 'total'
> & {
  readonly customer?: Pick<CustomerDto, 'name' | 'external_id'> | null;
  readonly line_items: readonly ShownLine[];
};

/** Name, quantity, unit amount, amount. */
type Row = readonly [string, string, string, string];

const isZero = (amount: string): boolean => /^-?0(\.0*)?$/.test(amount);

function unitAmountOf({ unit_amount: unit, flat_amount: flat }: ExplainedStepDto): string {
  return isZero(flat) ? unit : `${unit} + ${flat} flat`;
}

function tierRow(step: ExplainedStepDto, previous: ExplainedStepDto | undefined): Row {
  const from = previous?.up_to ?? 0;
  const range = step.up_to === null ? `beyond ${from}` : `up to ${step.up_to}`;
  return [`  tier ${step.tier}, ${range}`, step.quantity, unitAmountOf(step), step.amount];
}

/** What a commitment made of the line, where it changed the amount. */
function commitmentRows(line: ShownLine): readonly Row[] {
  const commitment = line.explanation?.commitment ?? null;
  if (commitment === null) return [];
  const rows: readonly Row[] = [
    ['  within the commitment', '', '', commitment.in_commitment],
    [`  overage × ${commitment.overage_factor}`, '', '', commitment.overage],
    ['  true-up to the commitment', '', '', commitment.true_up],
  ];
  return rows.filter(([, , , amount]) => !isZero(amount));
}

function splitRows(line: ShownLine): readonly Row[] {
  const bySource = line.usage_analytics.map((split) => ({
    ...split,
    name: split.source === '' ? 'no source' : split.source,
  }));
  const byGroup = line.usage_breakdown.map((split) => ({
    ...split,
    name: Object.values(split.grouped_by).join(', '),
  }));
  return [...bySource, ...byGroup].map(({ name, usage, percentage, cost }) => [
    `  of ${safeText(name)}`,
    usage,
    `${percentage} %`,
    cost,
  ]);
}

/** A price with one step stands in the row of its line; tiers have rows of their own. */
function priceRows(pricing: ExplainedPricingDto | null): readonly [string, readonly Row[]] {
  const steps = pricing?.steps ?? [];
  const [first] = steps;
  if (pricing === null || first === undefined) return ['', []];
  if (pricing.billing_model === 'TIERED') {
    return ['', steps.map((step, index) => tierRow(step, steps[index - 1]))];
  }
  const unit = unitAmountOf(first);
  return [pricing.packages === null ? unit : `${unit} × ${pricing.packages} packages`, []];
}

function lineRows(line: ShownLine): readonly Row[] {
  const [unit, tiers] = priceRows(line.explanation?.pricing ?? null);
  const discount: Row = ['  discount', '', '', `-${line.line_item_discount}`];
  return [
    [safeText(line.display_name), line.quantity, unit, line.amount],
    ...tiers,
    ...commitmentRows(line),
    ...splitRows(line),
    ...(isZero(line.line_item_discount) ? [] : [discount]),
  ];
}

function totalRows(invoice: ShownInvoice): readonly Row[] {
  const changes: readonly Row[] = [
    ['Discounts', '', '', `-${invoice.total_discount}`],
    ['Taxes', '', '', invoice.total_tax],
  ];
  const shown = changes.filter(([, , , amount]) => !isZero(amount));
  const subtotal: Row = ['Subtotal', '', '', invoice.subtotal];
  return [
    ...(shown.length === 0 ? [] : [subtotal, ...shown]),
    [pc.bold('Total'), '', '', pc.bold(invoice.total)],
  ];
}

/**
 * An invoice, previewed or stored, with explanations where it has them, as a table for people. All
 * figures are the texts of the answer; none is computed or rounded here.
 */
export function previewLines(invoice: ShownInvoice, title = 'Invoice preview'): readonly string[] {
  const { customer, period_start: start, period_end: end, data_until: until } = invoice;
  const name = customer?.name ?? customer?.external_id ?? invoice.customer_id;
  const period = start === null ? '' : `, ${start} to ${end ?? ''}`;
  const header = ['line', 'quantity', 'unit amount', `amount ${invoice.currency.toUpperCase()}`];
  const rows = [...invoice.line_items.flatMap(lineRows), ...totalRows(invoice)];
  return [
    pc.bold(`${title} for ${safeText(name)}`) + period,
    '',
    ...tableLines(header, rows),
    '',
    until === null
      ? 'It is not known yet up to when all events are included.'
      : `All events that were received before ${until} are included, and perhaps later ones.`,
  ];
}
