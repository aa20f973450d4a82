import { fraction, multiply, type Fraction } from '../usage-oracle/fraction.js';
import type { Range } from '../usage-oracle/windows.js';
import { exact, one } from './exact.js';
import type { ChosenLine } from './line-selection.js';
import { chargeFor } from './price.js';
import type { FixedItem, OnetimeItem } from './subscription.js';

function lengthOf({ start, end }: Range): number {
  return Math.max(0, end - start);
}

function unpausedMs({ covered, pauses }: Pick<ChosenLine, 'covered' | 'pauses'>): number {
  const pausedMs = pauses.map(({ start, end }) =>
    lengthOf({ start: Math.max(start, covered.start), end: Math.min(end, covered.end) }),
  );
  return pausedMs.reduce((left, each) => left - each, lengthOf(covered));
}

/**
 * Charge × covered, unpaused time ÷ full, exact to the millisecond; ONETIME is not scaled
 * (docs/domain.md 13.4).
 */
export function fixedCharge(line: ChosenLine<FixedItem | OnetimeItem>): Fraction {
  const { item, full } = line;
  const share =
    item.type === 'ONETIME' ? one : fraction(BigInt(unpausedMs(line)), BigInt(lengthOf(full)));
  return multiply(chargeFor(item.price, exact(item.quantity)), share);
}
