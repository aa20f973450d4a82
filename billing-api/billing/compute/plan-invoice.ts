import { assertPresent, mustGet } from '../../../runtime/failure.js';
import type { BillableLine } from '../../domain/invoice/billable-line.js';
import type { InvoiceInputs, LineSelectionInputs } from '../../domain/invoice/invoice.js';
import { requiredUsage } from '../../domain/invoice/required-usage.js';
import { selectLines } from '../../domain/invoice/select-lines.js';
import type { Refusal } from '../../records/refusal.js';
import { lineItemFromRow } from '../../subscriptions/lines/line-item-from-row.js';
import { couponFrom, taxFrom } from './adjustment-inputs.js';
import type { InvoiceQuery } from './invoice-query.js';
import type { LineUsageQuery } from './line-usage-query.js';
import type { BillingRecords } from './load-billing-records.js';
import { refuseLongLines } from './refuse-long-lines.js';

/** The lines of an invoice, and the usage that must be read before they can be priced. */
export type InvoicePlan = {
  readonly inputs: LineSelectionInputs;
  readonly lines: readonly BillableLine[];
  readonly usage: readonly LineUsageQuery[];
  /** What changes the sums of the invoice. */
  readonly adjustments: Pick<InvoiceInputs, 'coupons' | 'taxes'>;
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

/** Selects the lines of an invoice and says which usage they require. Reads nothing. */
export function planInvoice(
  { loaded, period, lineItems }: InvoiceQuery,
  records: BillingRecords,
): InvoicePlan | Refusal {
  const { prices, coupons } = loaded.related;
  const adjustments = { coupons: coupons.map(couponFrom), taxes: records.taxes.map(taxFrom) };
  const inputs: LineSelectionInputs = {
    subscription: loaded.terms,
    period,
    referencePoint: 'period_end',
    lineItems: lineItems.map((row) => lineItemFromRow(row, prices, records.metering)),
    // No invoice is stored yet.
    alreadyInvoiced: [],
    entitlements: records.entitlements,
  };
  const lines = selectLines(inputs);
  const refusal = refuseLongLines(lines);
  return refusal ?? { inputs, lines, usage: usageQueriesOf(lines, records), adjustments };
}
