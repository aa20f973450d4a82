import { fraction, multiply, type Fraction } from '../usage-oracle/fraction.js';
import type { Range } from '../usage-oracle/windows.js';
import { exact, one } from './exact.js';
import type { ChosenLine } from './line-selection.js';
import { chargeFor } from './price.js';
import type { FixedItem, OnetimeItem } from './subscription.js';

function lengthOf({ start, end }: Range): bigint {
  return BigInt(end - start);
}

/**
 * Charge × covered ÷ full, exact to the millisecond; ONETIME is not scaled (docs/domain.md 13.4).
 */
export function fixedCharge({
  item,
  covered,
  full,
}: ChosenLine<FixedItem | OnetimeItem>): Fraction {
  const share = item.type === 'ONETIME' ? one : fraction(lengthOf(covered), lengthOf(full));
  return multiply(chargeFor(item.price, exact(item.quantity)), share);
}
