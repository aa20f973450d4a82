import { Decimal, ZERO } from '../../../contract/decimal.js';
import { allocate, roundMoney } from '../money.js';

/** A usage line as the commitment of a subscription sees it, in line order. */
export type UsageCharge = { readonly quantity: Decimal; readonly charge: Decimal };

/** What is left of the commitment before the first line, and what happens beyond it. */
export type CommitmentBalance = {
  /** R of domain.md 11.1, whole minor units. */
  readonly available: Decimal;
  readonly overageFactor: Decimal;
  readonly currency: string;
};

/** One of at most two parts of a charge; the one in the commitment comes first. */
export type ChargePart = {
  readonly isOverage: boolean;
  readonly quantity: Decimal;
  /** At the normal price; exact. */
  readonly base: Decimal;
  /** What is charged: `base`, or `base` × factor; exact. */
  readonly exact: Decimal;
  readonly amount: Decimal;
  /** What earlier lines used of the commitment. */
  readonly usedBefore: Decimal;
};

type Unrounded = Omit<ChargePart, 'amount'>;

/** Fraction digits of the quantity of a line that is split by money. */
const QUANTITY_DIGITS = 12;

function splitCharge(
  { quantity, charge }: UsageCharge,
  pot: CommitmentBalance,
  usedBefore: Decimal,
): readonly Unrounded[] {
  const left = pot.available.minus(usedBefore);
  const part = { isOverage: false, quantity, base: charge, exact: charge, usedBefore };
  if (charge.lessThanOrEqualTo(left)) return [part];
  const beyond = charge.minus(left);
  const overage = {
    ...part,
    isOverage: true,
    base: beyond,
    exact: beyond.times(pot.overageFactor),
  };
  if (left.isZero()) return [overage];
  const covered = quantity
    .times(left)
    .dividedBy(charge)
    .toDecimalPlaces(QUANTITY_DIGITS, Decimal.ROUND_HALF_UP);
  return [
    { ...part, quantity: covered, base: left, exact: left },
    { ...overage, quantity: quantity.minus(covered), usedBefore: pot.available },
  ];
}

function sumOf(values: readonly Decimal[]): Decimal {
  return values.reduce((sum, value) => sum.plus(value), ZERO);
}

/** The rounded sum dealt out, so that the parts of split lines add up to the exact total. */
function amountsOf(parts: readonly Unrounded[], currency: string): readonly Decimal[] {
  const shares = parts.map(({ exact }) => exact);
  return allocate(roundMoney(sumOf(shares), currency), shares, currency);
}

/**
 * Walks usage charges through the commitment of a subscription (domain.md 11.1): what fits stays as
 * it is, the charge that crosses the edge is split by money, and everything beyond is multiplied by
 * the factor. Once the charges reach the edge, the parts within are a largest-remainder split of
 * exactly what was available and those beyond of the rounded sum; before, every charge is rounded
 * by itself. Answers the parts of every charge, in its order.
 */
export function splitCharges(
  charges: readonly UsageCharge[],
  pot: CommitmentBalance,
): readonly (readonly ChargePart[])[] {
  const { currency } = pot;
  let used = ZERO;
  const split = charges.map((charge) => {
    const parts = splitCharge(charge, pot, used);
    const within = parts.filter(({ isOverage }) => !isOverage);
    used = used.plus(sumOf(within.map(({ base }) => base)));
    return parts;
  });
  const within = split.flat().filter(({ isOverage }) => !isOverage);
  const beyond = split.flat().filter(({ isOverage }) => isOverage);
  const isExhausted = used.greaterThanOrEqualTo(pot.available);
  const amounts = new Map<Unrounded, Decimal>();
  const withinAmounts = isExhausted
    ? amountsOf(within, currency)
    : within.map(({ exact }) => roundMoney(exact, currency));
  const beyondAmounts = amountsOf(beyond, currency);
  within.forEach((part, index) => amounts.set(part, withinAmounts[index] ?? ZERO));
  beyond.forEach((part, index) => amounts.set(part, beyondAmounts[index] ?? ZERO));
  return split.map((parts) =>
    parts.map((part) => ({ ...part, amount: amounts.get(part) ?? ZERO })),
  );
}
