import { windowCountAtLeast } from '../../domain/calendar/usage-windows.js';
import type { BillableLine } from '../../domain/invoice/billable-line.js';
import { Refusal } from '../../records/refusal.js';
import { BUCKETS_MAX } from '../../usage/usage-range.js';

/**
 * Refuses lines with far too many buckets before the buckets are listed. A line whose own billing
 * period is longer may cover more than the interval of the invoice.
 */
export function refuseLongLines(lines: readonly BillableLine[]): Refusal | null {
  const long = lines.find(({ meter, period }) => {
    const size = meter?.bucketSize ?? null;
    return size !== null && windowCountAtLeast(period, size) > BUCKETS_MAX;
  });
  if (long === undefined) return null;
  const { id } = long.lineItem.price;
  const message = `the period of price ${id} has more than ${BUCKETS_MAX} buckets of its meter`;
  return new Refusal('validation_error', `${message}; take a shorter period`);
}
