import { minOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';

/** Until when and in which order credits are used. */
export type CreditTerms = { readonly priority: number | null; readonly expiryMs: InstantMs | null };

/** What a debit took of a credit, which had these terms. */
export type UsedCredit = CreditTerms & { readonly credits: Decimal };

/** Something that paid an invoice, and how much of it that was. */
type Paying = { readonly amount: Decimal };

/** What of each payer goes back, and what is missing where more was given back than was paid. */
export type LeftToReturn<P> = {
  readonly left: readonly (readonly [payer: P, amount: Decimal])[];
  readonly missing: Decimal;
};

/**
 * What goes back of what paid an invoice, of which so much was given back before: that stays taken
 * from the first payers (docs/domain.md 18).
 */
export function leftToReturn<P extends Paying>(
  payers: readonly P[],
  givenBack: Decimal,
): LeftToReturn<P> {
  let missing = givenBack;
  const left = payers.map((payer) => {
    const kept = minOf(missing, payer.amount);
    missing = missing.minus(kept);
    return [payer, payer.amount.minus(kept)] as const;
  });
  return { left: left.filter(([, amount]) => amount.greaterThan(ZERO)), missing };
}

/**
 * Credits that go back to a wallet, with the terms that they had: those that were used last go back
 * first. What the debit does not name has none. Equal terms are one credit.
 * @param used in the order of their use.
 */
export function returnedCredits(
  used: readonly UsedCredit[],
  credits: Decimal,
): readonly UsedCredit[] {
  const returned: UsedCredit[] = [];
  let left = credits;
  const add = (terms: CreditTerms, amount: Decimal): void => {
    if (!amount.greaterThan(ZERO)) return;
    left = left.minus(amount);
    const at = returned.findIndex(
      (one) => one.priority === terms.priority && one.expiryMs === terms.expiryMs,
    );
    const same = returned[at];
    const { priority, expiryMs } = terms;
    if (same === undefined) returned.unshift({ priority, expiryMs, credits: amount });
    else returned[at] = { ...same, credits: same.credits.plus(amount) };
  };
  for (const one of used.toReversed()) add(one, minOf(left, one.credits));
  add({ priority: null, expiryMs: null }, left);
  return returned;
}
