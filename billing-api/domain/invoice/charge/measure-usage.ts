import { zip } from '../../../../runtime/failure.js';
import { windowAt } from '../../calendar/usage-windows.js';
import { applyAllowances } from '../../entitlement/apply-allowance.js';
import { bucketCutsOf, joinBuckets } from '../../entitlement/cut-buckets.js';
import { cutTo } from '../../calendar/interval.js';
import type { BillableLine, BillableUsageLine } from '../billable-line.js';
import type { InvoiceInputs } from '../invoice.js';
import type { BucketUsage, LineUsage } from '../../usage/line-usage.js';
import type { MeasuredUsage } from './rated-line.js';

/**
 * The usage that was read for a line.
 * @throws TypeError when it is missing, or when it is in buckets and the meter has none, or vice
 *   versa.
 */
function usageOf({ lineItem, meter }: BillableUsageLine, inputs: InvoiceInputs): LineUsage {
  const usage = inputs.usage.get(lineItem.id);
  if (usage === undefined) throw new TypeError(`no usage was read for line item ${lineItem.id}`);
  if ((usage.buckets === null) !== (meter.bucketSize === null)) {
    throw new TypeError(`line item ${lineItem.id}: usage and meter must both have buckets or none`);
  }
  return usage;
}

/** A text that is equal for lines that count the same events of a meter. */
function streamOf({ lineItem }: BillableLine): string {
  const texts = Object.entries(lineItem.price.filterValues).map(([key, values]) =>
    JSON.stringify([key, [...values].sort()]),
  );
  return texts.sort().join();
}

/** Joins the buckets that the allowance cut, because prices apply to whole buckets. */
function wholeBuckets(
  line: BillableUsageLine,
  parts: readonly BucketUsage[] | null,
): readonly BucketUsage[] | null {
  const { bucketGrid, period } = line;
  if (parts === null || bucketGrid === null) return parts;
  return joinBuckets(parts, bucketCutsOf(line), (instant) =>
    cutTo(windowAt(instant, bucketGrid), period),
  );
}

/**
 * The usage of each usage line and the part of it that is billed (docs/domain.md 13.1.2 c). All
 * lines are measured together, because they may share an allowance. The lines are in line order.
 */
export function measureUsage(
  lines: readonly BillableLine[],
  inputs: InvoiceInputs,
): ReadonlyMap<BillableLine, MeasuredUsage> {
  const read = lines
    .filter((line) => line.meter !== null)
    .map((line) => ({ line, usage: usageOf(line, inputs) }));
  const bills = applyAllowances(
    read.map(({ line, usage }) => ({
      meterId: line.meter.id,
      stream: streamOf(line),
      window: line.period,
      allowance: line.allowance,
      usage,
    })),
  );
  return new Map(
    zip(read, bills).map(([{ line, usage }, bill]) => {
      const billed = { ...bill, buckets: wholeBuckets(line, bill.buckets) };
      return [line, { usage, billed }];
    }),
  );
}
