import type { Decimal } from '../../../../contract/number/decimal.js';
import type { Proration } from '../../calendar/proration.js';
import { ratePrice } from '../../rating/rate-price.js';
import type { BillableFixedLine } from '../billable-line.js';
import type { RatedLine } from './rated-line.js';

/** Rates a FIXED line: quantity, price and partial period (docs/domain.md 13.1.2 b). */
export function rateFixedLine(billable: BillableFixedLine): RatedLine {
  const { lineItem, proration } = billable;
  const { quantity } = lineItem;
  const { amount, trace } = ratePrice(lineItem.price, quantity);
  const charge = proration === null ? amount : prorate(amount, proration);
  const none = { measured: null, windows: null, committed: null };
  return { ...none, billable, quantity, charge, pricing: trace };
}

/** Multiplies before it divides, so that a full period leaves the charge exact. */
function prorate(charge: Decimal, { coveredMs, fullMs }: Proration): Decimal {
  return charge.times(coveredMs).dividedBy(fullMs);
}
