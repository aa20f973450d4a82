import { zero, type Fraction } from '../usage-oracle/fraction.js';
import type { CommitmentParts } from './commitment-parts.js';
import { exact, greater, smaller, subtract, sum } from './exact.js';
import { roundMoney } from './money.js';
import type { UsageItem } from './subscription.js';
import type { UsageCharge } from './usage-charge.js';

/** What a line is charged of its money under the maximum of its price (docs/domain.md 8.8). */
export function cappedMoney(
  { maximum }: UsageItem,
  money: Fraction,
  /** What the items that it continues are charged in the same period, rounded. */
  before: readonly Fraction[],
): Fraction {
  if (maximum === undefined) return money;
  return smaller(money, greater(zero, subtract(exact(maximum), sum(before))));
}

/** Takes what is above the maximum off the overage, then off the true-up, then off the rest. */
export function cappedParts(parts: CommitmentParts, cut: Fraction): CommitmentParts {
  const ofOverage = smaller(cut, parts.overage);
  const ofTrueUp = smaller(subtract(cut, ofOverage), parts.trueUp);
  const rest = subtract(subtract(cut, ofOverage), ofTrueUp);
  return {
    utilized: subtract(parts.utilized, rest),
    overage: subtract(parts.overage, ofOverage),
    trueUp: subtract(parts.trueUp, ofTrueUp),
  };
}

/** Charges under the maximums of their prices, before the commitment of the subscription. */
export function cappedCharges(
  charges: readonly UsageCharge[],
  currency: string,
): readonly UsageCharge[] {
  const moneyOf = (charge: UsageCharge): Fraction => {
    const { item } = charge.line;
    const before = charges.filter(({ line }) => item.predecessorIds.includes(line.item.id));
    const rounded = before.map((one) => roundMoney(currency, moneyOf(one)));
    return cappedMoney(item, charge.money, rounded);
  };
  return charges.map((charge) => ({ ...charge, money: moneyOf(charge) }));
}
