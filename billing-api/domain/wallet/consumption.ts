import { compareTexts } from '../../../contract/compare-texts.js';
import { minOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';

/** A credit of a wallet of which something is left. */
export type WalletCredit = {
  readonly id: string;
  readonly createdMs: InstantMs;
  readonly available: Decimal;
  /** None last. */
  readonly priority: number | null;
  /** None last. */
  readonly expiryMs: InstantMs | null;
};

/** What a debit takes of one credit. */
export type CreditUse = { readonly creditId: string; readonly credits: Decimal };

const orLast = (value: number | null): number => value ?? Number.MAX_SAFE_INTEGER;

/** The order in which credits are used (docs/domain.md 20.2): it depends on nothing else. */
export function inOrderOfUse(credits: readonly WalletCredit[]): readonly WalletCredit[] {
  return [...credits].sort(
    (left, right) =>
      orLast(left.priority) - orLast(right.priority) ||
      orLast(left.expiryMs) - orLast(right.expiryMs) ||
      left.createdMs - right.createdMs ||
      compareTexts(left.id, right.id),
  );
}

/** What is taken of which credits, in the order of their use; less when there is less. */
export function takeCredits(
  credits: readonly WalletCredit[],
  wanted: Decimal,
): readonly CreditUse[] {
  let left = wanted;
  const uses: CreditUse[] = [];
  for (const { id, available } of inOrderOfUse(credits)) {
    const taken = minOf(left, available);
    if (taken.greaterThan(ZERO)) uses.push({ creditId: id, credits: taken });
    left = left.minus(taken);
  }
  return uses;
}
