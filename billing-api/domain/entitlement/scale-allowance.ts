import { Decimal } from '../../../contract/number/decimal.js';
import type { Proration } from '../calendar/proration.js';

/**
 * The limit of a metered allowance for a short first period, under create_prorations
 * (docs/domain.md 22.2): its share of a full period, half-up to a whole number.
 */
export function scaleAllowance(limit: Decimal, { coveredMs, fullMs }: Proration): Decimal {
  return limit.times(coveredMs).dividedBy(fullMs).toDecimalPlaces(0, Decimal.ROUND_HALF_UP);
}
