import { Decimal, sumOf, ZERO } from '../../../contract/number/decimal.js';
import { mustGet } from '../../../runtime/failure.js';
import { allocate, type AmountParts } from '../money/allocate.js';
import { roundMoney, type Money } from '../money/money.js';

/** The quantity and the charge of a usage line, before the commitment of its subscription. */
export type UsageCharge = { readonly quantity: Decimal; readonly charge: Decimal };

/** What is left of a commitment before the first line, and the factor for charges beyond it. */
export type CommitmentBalance<C extends string = string> = {
  /** R of docs/domain.md 11.1. */
  readonly available: Money<C>;
  readonly overageFactor: Decimal;
};

/** One of at most two parts of a charge; the part within the commitment comes first. */
export type ChargePart<C extends string = string> = {
  readonly isOverage: boolean;
  readonly quantity: Decimal;
  /** At the normal price; exact. */
  readonly base: Decimal;
  /** The charge: `base`, or `base` × factor beyond the commitment; exact. */
  readonly exact: Decimal;
  readonly amount: Money<C>;
  /** The part of the commitment that earlier lines used. */
  readonly usedBefore: Decimal;
};

type Unrounded = Omit<ChargePart, 'amount'>;

/** Fraction digits of the quantities of a split line. */
const QUANTITY_DIGITS = 12;

function splitCharge<C extends string>(
  { quantity, charge }: UsageCharge,
  { available: { value: available }, overageFactor }: CommitmentBalance<C>,
  usedBefore: Decimal,
): readonly Unrounded[] {
  const left = available.minus(usedBefore);
  const part = { isOverage: false, quantity, base: charge, exact: charge, usedBefore };
  if (charge.lessThanOrEqualTo(left)) return [part];
  const beyond = charge.minus(left);
  const overage = {
    ...part,
    isOverage: true,
    base: beyond,
    exact: beyond.times(overageFactor),
  };
  if (left.isZero()) return [overage];
  const covered = quantity
    .times(left)
    .dividedBy(charge)
    .toDecimalPlaces(QUANTITY_DIGITS, Decimal.ROUND_HALF_UP);
  return [
    { ...part, quantity: covered, base: left, exact: left },
    { ...overage, quantity: quantity.minus(covered), usedBefore: available },
  ];
}

/** Allocates the rounded sum, so that the amounts of all parts add up to it. */
function amountsOf<C extends string>(
  parts: readonly Unrounded[],
  currency: C,
): AmountParts<Unrounded, C> {
  const shareOf = ({ exact }: Unrounded): Decimal => exact;
  return allocate(roundMoney(sumOf(parts.map(shareOf)), currency), parts, shareOf);
}

/**
 * Applies the commitment of a subscription to its usage charges in line order (docs/domain.md
 * 11.1). Charges within the commitment stay as they are. The charge that exceeds it is split by
 * money. Everything beyond is multiplied by the overage factor. When the charges exhaust the
 * commitment, two sums are split by largest remainders: exactly what was available over the parts
 * within it, and the rounded overage over the parts beyond it. Otherwise every charge is rounded by
 * itself.
 * @returns the parts of every charge, in the order of the charges.
 */
export function splitCharges<C extends string>(
  charges: readonly UsageCharge[],
  balance: CommitmentBalance<C>,
): readonly (readonly ChargePart<C>[])[] {
  const { currency } = balance.available;
  let used = ZERO;
  const split = charges.map((charge) => {
    const parts = splitCharge(charge, balance, used);
    const within = parts.filter(({ isOverage }) => !isOverage);
    used = used.plus(sumOf(within.map(({ base }) => base)));
    return parts;
  });
  const within = split.flat().filter(({ isOverage }) => !isOverage);
  const beyond = split.flat().filter(({ isOverage }) => isOverage);
  const isExhausted = used.greaterThanOrEqualTo(balance.available.value);
  const withinAmounts = isExhausted
    ? amountsOf(within, currency)
    : within.map((part) => [part, roundMoney(part.exact, currency)] as const);
  const amounts = new Map([...withinAmounts, ...amountsOf(beyond, currency)]);
  return split.map((parts) =>
    parts.map((part) => ({ ...part, amount: mustGet(amounts, part, 'the amount of a charge') })),
  );
}
