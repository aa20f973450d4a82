import { ZERO, type Decimal } from '../../../contract/number/decimal.js';

/**
 * What is written off of a payment that would settle an invoice, since the gateway could not take
 * it: the rest below the steps of its amounts. 0 where less is left than that, or more than the
 * payment.
 */
export function writtenOffOf({
  asked,
  chargeable,
  received,
  left,
}: {
  readonly asked: Decimal;
  /** What the gateway can take of it. */
  readonly chargeable: Decimal;
  readonly received: Decimal;
  readonly left: Decimal;
}): Decimal {
  const isRounded = received.equals(chargeable);
  const isSettled = left.greaterThan(received) && left.lessThanOrEqualTo(asked);
  return isRounded && isSettled ? left.minus(received) : ZERO;
}
