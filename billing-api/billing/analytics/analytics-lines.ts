import type { CustomerRow } from '../../declarations/customers/customer.resource.js';
import type { Caller } from '../../records/caller.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { readUnit, type ReadDependencies } from '../../records/unit.js';
import { findMetering, type Metering } from '../../subscriptions/lines/metering.js';
import type { LineRecords } from '../../subscriptions/line-records.js';
import { findAnalyticsRecords } from './analytics-records.js';
import { lineInRange, type AnalyticsLine, type LineSelection } from './line-in-range.js';

/** The usage line items of a customer, with the records that they refer to. */
export type AnalyticsLines = {
  readonly customer: CustomerRow;
  readonly lines: readonly AnalyticsLine[];
  readonly metering: Metering;
  readonly related: LineRecords;
};

/** The usage line items of a customer that overlap a range, in line order, from one snapshot. */
export function findAnalyticsLines(
  dependencies: ReadDependencies,
  { environment }: Caller,
  query: LineSelection & { readonly externalId: string },
): Promise<AnalyticsLines | Refusal> {
  return readUnit(dependencies, environment, async (unit): Promise<AnalyticsLines | Refusal> => {
    const found = await findAnalyticsRecords(unit, query);
    if (isRefusal(found)) return found;
    const { customer, related } = found;
    const metering = await findMetering(unit.tx, related.lineItems);
    const lines = related.lineItems.flatMap((row) => lineInRange(row, { query, found, metering }));
    return { customer, lines, metering, related };
  });
}
