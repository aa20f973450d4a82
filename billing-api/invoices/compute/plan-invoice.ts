import { assertPresent } from '../../../runtime/failure.js';
import { windowCountAtLeast } from '../../domain/calendar/usage-windows.js';
import type { BillableLine } from '../../domain/invoice/billable-line.js';
import type { LineSelectionInputs } from '../../domain/invoice/invoice.js';
import { requiredUsage } from '../../domain/invoice/required-usage.js';
import { selectLines } from '../../domain/invoice/select-lines.js';
import { Refusal } from '../../records/refusal.js';
import { lineItemFrom } from '../../subscriptions/lines/line-items.js';
import { BUCKETS_MAX } from '../../usage/usage-range.js';
import { billingTermsOf } from './billing-terms.js';
import type { InvoiceQuery } from './invoice-query.js';
import type { LineUsageQuery } from './line-usage-query.js';
import type { BillingRecords } from './load-billing-records.js';

/** The lines of an invoice, and the usage that must be read before they can be priced. */
export type InvoicePlan = {
  readonly inputs: LineSelectionInputs;
  readonly lines: readonly BillableLine[];
  readonly usage: readonly LineUsageQuery[];
};

/**
 * Refuses lines with far too many buckets before the buckets are listed. A line whose own billing
 * period is longer may cover more than the interval of the invoice.
 */
function lengthRefusal(lines: readonly BillableLine[]): Refusal | null {
  const long = lines.find(({ meter, period }) => {
    const size = meter?.bucketSize ?? null;
    return size !== null && windowCountAtLeast(period, size) > BUCKETS_MAX;
  });
  if (long === undefined) return null;
  const { id } = long.lineItem.price;
  const message = `the period of price ${id} has more than ${BUCKETS_MAX} buckets of its meter`;
  return new Refusal('validation_error', `${message}; take a shorter one`);
}

function usageQueriesOf(
  lines: readonly BillableLine[],
  { subscription: grid }: LineSelectionInputs,
  { metering }: BillingRecords,
): readonly LineUsageQuery[] {
  const lineItems = new Map(lines.map(({ lineItem }) => [lineItem.id, lineItem]));
  return requiredUsage(lines, grid).map((requirement) => {
    const lineItem = assertPresent(lineItems.get(requirement.lineItemId), 'a selected line item');
    const meter = metering.effectiveMeters.get(lineItem.meter?.id ?? '');
    return { requirement, lineItem, meter: assertPresent(meter, 'the meter of a line'), grid };
  });
}

/** Selects the lines of an invoice and says which usage they require. Reads nothing. */
export function planInvoice(
  { loaded, period, lineItems }: InvoiceQuery,
  records: BillingRecords,
): InvoicePlan | Refusal {
  const { prices } = loaded.related;
  const inputs: LineSelectionInputs = {
    subscription: billingTermsOf(loaded),
    period,
    referencePoint: 'period_end',
    lineItems: lineItems.map((row) => lineItemFrom(row, prices, records.metering)),
    // No invoice is stored yet.
    alreadyInvoiced: [],
    entitlements: records.entitlements,
  };
  const lines = selectLines(inputs);
  return lengthRefusal(lines) ?? { inputs, lines, usage: usageQueriesOf(lines, inputs, records) };
}
