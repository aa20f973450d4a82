import { compare, divide, multiply, zero, type Fraction } from '../usage-oracle/fraction.js';
import { commitmentWindowOf, isLastOf, isLongerThanPeriod, priorIn } from './commitment-window.js';
import { exact, greater, isPositive, one, roundTo, smaller, subtract, sum } from './exact.js';
import { splitAmount } from './largest-remainder.js';
import type { Settlement } from './line-commitment.js';
import { roundMoney } from './money.js';
import type { SubscriptionCommitment } from './subscription.js';
import type { UsageCharge } from './usage-charge.js';

/** A usage charge, or the part of it on one side of the commitment. */
export type SettledLine = {
  readonly charge: UsageCharge;
  readonly kind: 'charge' | 'overage';
  readonly quantity: Fraction;
  /** Rounded. */
  readonly amount: Fraction;
};

export type Settled = {
  readonly lines: readonly SettledLine[];
  /** Rounded; 0 when there is none. */
  readonly trueUp: Fraction;
};

const QUANTITY_DIGITS = 12;

/** Whether a commitment of the subscription does anything (docs/domain.md 11.1, 11.6). */
function isActive(commitment: SubscriptionCommitment | null): commitment is SubscriptionCommitment {
  if (commitment === null) return false;
  const { amount, factor, hasTrueUp } = commitment;
  return isPositive(exact(amount)) && (hasTrueUp || compare(exact(factor), one) > 0);
}

/** One charge against what is left of the commitment (docs/domain.md 11.1, the three cases). */
function divided(charge: UsageCharge, left: Fraction, factor: Fraction): readonly SettledLine[] {
  const { money, quantity } = charge;
  const whole = { charge, quantity };
  if (compare(money, left) <= 0) return [{ ...whole, kind: 'charge', amount: money }];
  if (!isPositive(left)) return [{ ...whole, kind: 'overage', amount: multiply(money, factor) }];
  const inside = roundTo(QUANTITY_DIGITS, divide(multiply(quantity, left), money));
  return [
    { ...whole, kind: 'charge', quantity: inside, amount: left },
    {
      charge,
      kind: 'overage',
      quantity: subtract(quantity, inside),
      amount: multiply(subtract(money, left), factor),
    },
  ];
}

function walk(
  charges: readonly UsageCharge[],
  committed: Fraction,
  factor: Fraction,
): readonly SettledLine[] {
  let left = committed;
  return charges.flatMap((charge) => {
    const lines = divided(charge, left, factor);
    left = subtract(left, smaller(left, charge.money));
    return lines;
  });
}

/** Lines of one kind get parts of a total that they share. */
function splitOver(
  currency: string,
  lines: readonly SettledLine[],
  { kind, total }: { readonly kind: SettledLine['kind']; readonly total: Fraction },
): readonly SettledLine[] {
  const ofKind = lines.filter((line) => line.kind === kind);
  const parts = splitAmount(
    currency,
    total,
    ofKind.map(({ amount }) => amount),
  );
  return lines.map((line) => {
    const part = parts[ofKind.indexOf(line)];
    return part === undefined ? line : { ...line, amount: part };
  });
}

/** Rounding of docs/domain.md 11.1: a commitment that is used up is met to the smallest unit. */
function rounded(
  currency: string,
  lines: readonly SettledLine[],
  { committed, factor }: { readonly committed: Fraction; readonly factor: Fraction },
): readonly SettledLine[] {
  const used = sum([...new Set(lines.map(({ charge }) => charge))].map(({ money }) => money));
  if (compare(used, committed) < 0) {
    return lines.map((line) => ({ ...line, amount: roundMoney(currency, line.amount) }));
  }
  const overage = roundMoney(currency, multiply(subtract(used, committed), factor));
  const inside = splitOver(currency, lines, { kind: 'charge', total: committed });
  return splitOver(currency, inside, { kind: 'overage', total: overage });
}

function priorUse(
  commitment: SubscriptionCommitment,
  { subscription, period, earlier }: Settlement,
): { readonly prior: Fraction; readonly isLast: boolean } {
  const { duration } = commitment;
  if (!isLongerThanPeriod(subscription, duration)) return { prior: zero, isLast: true };
  const window = commitmentWindowOf(subscription, duration, period.start);
  const uses = earlier.flatMap(({ period: { start }, lines }) =>
    lines.map(({ inCommitment }) => ({ periodStart: start, amount: exact(inCommitment) })),
  );
  return { prior: priorIn(window, uses), isLast: isLastOf(window, period, subscription) };
}

/**
 * The subscription's commitment over all usage charges (docs/domain.md 11.1, 11.2); null without.
 */
export function settleSubscription(
  charges: readonly UsageCharge[],
  settlement: Settlement,
): Settled | null {
  const { commitment, currency } = settlement.subscription;
  if (!isActive(commitment)) return null;
  const { prior, isLast } = priorUse(commitment, settlement);
  const committed = greater(zero, subtract(exact(commitment.amount), prior));
  const factor = exact(commitment.factor);
  const walked = walk(charges, committed, factor);
  const lines = rounded(currency, walked, { committed, factor });
  const inside = lines.filter(({ kind }) => kind === 'charge').map(({ amount }) => amount);
  const missing = greater(zero, subtract(committed, sum(inside)));
  return { lines, trueUp: commitment.hasTrueUp && isLast ? missing : zero };
}
