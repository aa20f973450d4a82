import { windowCountAtLeast } from '../../domain/calendar/usage-windows.js';
import type { BillableLine } from '../../domain/invoice/billable-line.js';
import { Refusal } from '../../records/refusal.js';
import { BUCKETS_MAX } from '../../usage/usage-range.js';

/**
 * Of all lines of an invoice together: 110 lines with a month of minutes. They stay in memory until
 * the invoice is priced, 2.1 million of them with 700 MB (measured with 48 such lines).
 */
const BUCKETS_OF_INVOICE_MAX = 5_000_000;

/** Buckets of all lines together. */
export function bucketsOf(lines: readonly BillableLine[]): number {
  return lines.reduce((sum, line) => sum + bucketCountOf(line), 0);
}

function bucketCountOf({ meter, period }: BillableLine): number {
  const size = meter?.bucketSize ?? null;
  return size === null ? 0 : windowCountAtLeast(period, size);
}

/**
 * Refuses lines with far too many buckets before the buckets are listed. A line whose own billing
 * period is longer may cover more than the interval of the invoice.
 */
export function refuseLongLines(lines: readonly BillableLine[]): Refusal | null {
  const refusal = (problem: string): Refusal =>
    new Refusal('validation_error', `${problem}; take a shorter period`);
  const long = lines.find((line) => bucketCountOf(line) > BUCKETS_MAX);
  if (long !== undefined) {
    const { id } = long.lineItem.price;
    return refusal(`the period of price ${id} has more than ${BUCKETS_MAX} buckets of its meter`);
  }
  if (bucketsOf(lines) <= BUCKETS_OF_INVOICE_MAX) return null;
  return refusal(`the lines have more than ${BUCKETS_OF_INVOICE_MAX} buckets together`);
}
