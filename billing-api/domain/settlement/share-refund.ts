import { maxOf, minOf, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { allocateByWeight } from '../money/allocate.js';
import { Money } from '../money/money.js';

/** A line of an invoice, as far as a refund of the invoice goes. */
export type RefundedLine = {
  readonly lineId: string;
  /** What it costs after discounts. */
  readonly net: Decimal;
  /** What credit notes, without taxes, and credits for unused time have given back of it. */
  readonly givenBack: Decimal;
};

/**
 * What a refund of an invoice that names no line has given back of each line, by its id
 * (docs/domain.md 23.1). It is split in proportion to what notes and credits have left of the
 * lines. No line gets more than that.
 * @param refunded without taxes.
 */
export function shareRefund(
  lines: readonly RefundedLine[],
  refunded: Decimal,
  currency: string,
): ReadonlyMap<string, Decimal> {
  const leftOf = ({ net, givenBack }: RefundedLine): Decimal => maxOf(ZERO, net.minus(givenBack));
  const amount = minOf(refunded, sumOf(lines.map(leftOf)));
  if (!amount.greaterThan(ZERO)) return new Map();
  const parts = allocateByWeight(new Money(amount, currency), lines, leftOf);
  return new Map(parts.map(([{ lineId }, { value }]) => [lineId, value]));
}
