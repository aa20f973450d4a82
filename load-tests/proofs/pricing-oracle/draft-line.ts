import type { Fraction } from '../usage-oracle/fraction.js';
import type { Range } from '../usage-oracle/windows.js';

/** What a line says about its own commitment; money is rounded (docs/domain.md 11.3, 11.4). */
export type CommitmentInfo = {
  readonly type: 'amount' | 'quantity' | null;
  readonly amount: Fraction | null;
  readonly quantity: Fraction | null;
  readonly factor: Fraction | null;
  readonly hasTrueUp: boolean | null;
  readonly isWindowed: boolean;
  readonly utilized: Fraction;
  readonly overage: Fraction;
  readonly trueUp: Fraction;
};

/** An invoice line before discounts. */
export type DraftLine = {
  /** Null for a true-up of the subscription. */
  readonly itemId: string | null;
  readonly kind: 'charge' | 'overage' | 'true-up';
  readonly priceType: 'USAGE' | 'FIXED';
  readonly period: Range;
  readonly quantity: Fraction;
  /** Rounded to the currency. */
  readonly amount: Fraction;
  /** In units of a custom price unit, null for other prices. */
  readonly priceUnitAmount: Fraction | null;
  /** The quantity that an allowance took away, null without one. */
  readonly adjusted: Fraction | null;
  readonly commitment: CommitmentInfo | null;
};
