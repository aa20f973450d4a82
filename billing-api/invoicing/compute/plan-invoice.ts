import { assertPresent, mustGet } from '../../../runtime/failure.js';
import type { BillableLine } from '../../domain/invoice/billable-line.js';
import { usageSince } from '../../domain/invoice/invoice-scope.js';
import type { LineSelectionInputs } from '../../domain/invoice/invoice.js';
import { requiredUsage } from '../../domain/invoice/required-usage.js';
import { selectLines } from '../../domain/invoice/select-lines.js';
import type { Refusal } from '../../records/refusal.js';
import { lineItemFromRow } from '../../subscriptions/lines/line-item-from-row.js';
import type { InvoiceQuery } from './invoice-query.js';
import type { LineUsageQuery } from './line-usage-query.js';
import type { BillingRecords } from './load-billing-records.js';
import { LargeInvoice } from './large-invoice.js';
import { bucketsOf, refuseLongLines } from './refuse-long-lines.js';

/** The lines of an invoice, and the usage that must be read before they can be priced. */
export type InvoicePlan = {
  readonly inputs: LineSelectionInputs;
  readonly lines: readonly BillableLine[];
  readonly usage: readonly LineUsageQuery[];
};

function usageQueriesOf(
  lines: readonly BillableLine[],
  { metering }: BillingRecords,
): readonly LineUsageQuery[] {
  const lineItems = new Map(lines.map(({ lineItem }) => [lineItem.id, lineItem]));
  return requiredUsage(lines).map((requirement) => {
    const lineItem = mustGet(lineItems, requirement.lineItemId, 'a selected line item');
    const { id } = assertPresent(lineItem.meter, 'the meter of a line');
    const meter = mustGet(metering.effectiveMeters, id, 'the meter of a line as it is in force');
    return { requirement, lineItem, meter };
  });
}

/**
 * Selects the lines of an invoice and says which usage they require. Reads nothing.
 * @throws LargeInvoice when it has more buckets than `bucketsMax`, before they are listed.
 */
export function planInvoice(
  { loaded, period, lineItems, purpose, now }: InvoiceQuery,
  records: BillingRecords,
  bucketsMax = Infinity,
): InvoicePlan | Refusal {
  const { prices } = loaded.related;
  const usageSinceMs = usageSince(loaded.terms, period);
  const inputs: LineSelectionInputs = {
    subscription: loaded.terms,
    period,
    ...(usageSinceMs === null ? {} : { usageSinceMs }),
    referencePoint: purpose.referencePoint,
    ...(purpose.isAdvanceHeld === true ? { isAdvanceHeld: true } : {}),
    lineItems: lineItems.map((row) => lineItemFromRow(row, prices, records.metering)),
    alreadyInvoiced: purpose.alreadyInvoiced,
    entitlements: records.entitlements,
  };
  const lines = selectLines(inputs);
  const refusal = refuseLongLines(lines);
  if (refusal === null && bucketsOf(lines) > bucketsMax) throw new LargeInvoice(now);
  return refusal ?? { inputs, lines, usage: usageQueriesOf(lines, records) };
}
