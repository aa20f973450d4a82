import { maxOf, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';

/** A payment that a pull has recorded. */
export type Pulled = {
  readonly amount: Decimal;
  /** It was found not to hold, and is not part of what is paid any more. */
  readonly isVoided: boolean;
};

/** What of an invoice is known here. */
export type AmountsHere = {
  readonly total: Decimal;
  /** Taken off by credit notes of type ADJUSTMENT. */
  readonly adjusted: Decimal;
  readonly paid: Decimal;
  readonly pulled: readonly Pulled[];
};

/** What its provider says of it. */
export type AmountsThere = {
  readonly total: Decimal;
  /** Taken off by credit notes there. */
  readonly credited: Decimal;
  readonly paid: Decimal;
  /** What of `paid` the provider has not received itself, but was told of. */
  readonly paidElsewhere: Decimal;
};

/** What was paid of an invoice without its provider. */
export function paidWithoutProvider({ paid, pulled }: AmountsHere): Decimal {
  const held = pulled.filter(({ isVoided }) => !isVoided).map(({ amount }) => amount);
  return maxOf(ZERO, paid.minus(sumOf(held)));
}

/** What lines and credit notes have taken off there for what was paid here. */
function paidAsTold(here: AmountsHere, there: AmountsThere): Decimal {
  const byLine = maxOf(ZERO, here.total.minus(there.total));
  return byLine.plus(maxOf(ZERO, there.credited.minus(here.adjusted)));
}

/**
 * What a provider has received that no pull has recorded yet (docs/domain.md 17.6). What it was
 * told to be paid elsewhere counts where it is more than what was paid here: the rest is the same
 * money. Each payment of a pull counts once, whatever became of it.
 */
export function newlyPaidThere(here: AmountsHere, there: AmountsThere): Decimal {
  const untold = maxOf(ZERO, paidWithoutProvider(here).minus(paidAsTold(here, there)));
  const received = there.paid.minus(there.paidElsewhere);
  const other = maxOf(ZERO, there.paidElsewhere.minus(untold));
  const recorded = sumOf(here.pulled.map(({ amount }) => amount));
  return maxOf(ZERO, received.plus(other).minus(recorded));
}

/**
 * By how much a provider asks for more than what is left, because of adjustments and payments that
 * it does not know; negative where it asks for less.
 */
export function askedTooMuch(here: AmountsHere, there: AmountsThere): Decimal {
  const off = here.adjusted.plus(paidWithoutProvider(here));
  const missing = off.minus(here.total.minus(there.total)).minus(there.credited);
  return missing.isNegative() ? missing : maxOf(ZERO, missing.minus(there.paidElsewhere));
}
