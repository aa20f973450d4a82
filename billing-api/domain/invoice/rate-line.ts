import type { Decimal } from '../../../contract/decimal.js';
import { ratePrice } from '../pricing/rate-price.js';
import type { PricingTrace } from '../pricing/pricing-trace.js';
import type { PlannedLine } from './invoice.js';
import type { Proration } from './line-trace.js';
import type { LineUsage } from './line-usage.js';

/** A line whose charge is known to the last digit and not yet rounded. */
export type RatedLine = {
  readonly planned: PlannedLine;
  /** Null exactly for FIXED lines. */
  readonly usage: LineUsage | null;
  /** The quantity that was priced. */
  readonly quantity: Decimal;
  readonly charge: Decimal;
  readonly pricing: PricingTrace;
};

/** Quantity, price and partial period of a line (domain.md 13.1.2 b, c). */
export function rateLine(planned: PlannedLine, usage: LineUsage | null): RatedLine {
  const { lineItem, proration } = planned;
  const quantity = usage === null ? lineItem.quantity : usage.usage;
  const { amount, trace } = ratePrice(lineItem.price, quantity);
  const charge = proration === null ? amount : prorate(amount, proration);
  return { planned, usage, quantity, charge, pricing: trace };
}

/** Multiplies before it divides, so that a full period takes nothing away. */
function prorate(charge: Decimal, { coveredMs, fullMs }: Proration): Decimal {
  return charge.times(coveredMs).dividedBy(fullMs);
}
