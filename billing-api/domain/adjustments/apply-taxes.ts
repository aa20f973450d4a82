import { compareTexts } from '../../../contract/compare-texts.js';
import { ZERO, type Decimal } from '../../../contract/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import { roundMoney } from '../money.js';
import type { AppliedTax, TaxAssociation, TaxLevel, TaxRateTerms } from './adjustments.js';

export type TaxContext = {
  readonly taxes: readonly TaxAssociation[];
  readonly currency: string;
  /** The instant of finalization; now for an invoice that is not finalized. */
  readonly atMs: InstantMs;
};

/** The most specific level first; associations of the tenant count only if auto-applied. */
const LEVELS: readonly TaxLevel[] = ['subscription', 'customer', 'tenant'];

/**
 * Associations of the invoice and those of the most specific level that has any (docs/domain.md
 * 15).
 */
function associationsOf(taxes: readonly TaxAssociation[]): readonly TaxAssociation[] {
  const of = (wanted: TaxLevel): readonly TaxAssociation[] =>
    taxes.filter(
      ({ level, isAutoApplied }) => level === wanted && (wanted !== 'tenant' || isAutoApplied),
    );
  // Absent means none: no level has an association.
  const inherited = LEVELS.map(of).find((found) => found.length > 0) ?? [];
  return [...of('invoice'), ...inherited];
}

function counts(association: TaxAssociation, { currency, atMs }: TaxContext): boolean {
  const { rate, validity } = association;
  const isCurrency = association.currency === null || association.currency === currency;
  return rate.isActive && isCurrency && validity.startMs <= atMs && atMs < validity.endMs;
}

function byPriority(left: TaxAssociation, right: TaxAssociation): number {
  const priority = left.priority - right.priority;
  return priority || compareTexts(left.id, right.id);
}

/** The associations that tax an invoice, in order; a rate counts once (docs/domain.md 15). */
function applicableTaxes(context: TaxContext): readonly TaxAssociation[] {
  const rates = new Set<string>();
  return associationsOf(context.taxes)
    .filter((association) => counts(association, context))
    .sort(byPriority)
    .filter(({ rate }) => !rates.has(rate.id) && rates.add(rate.id));
}

function taxOf(rate: TaxRateTerms, taxable: Decimal, currency: string): Decimal {
  if (!taxable.greaterThan(ZERO)) return ZERO;
  switch (rate.type) {
    case 'percentage':
      return roundMoney(taxable.times(rate.percentage).dividedBy(100), currency);
    case 'fixed':
      return roundMoney(rate.fixedValue, currency);
  }
}

/**
 * The taxes of an invoice: each on the same amount and rounded by itself, not compounded
 * (docs/domain.md 13.2, 15).
 */
export function applyTaxes(taxable: Decimal, context: TaxContext): readonly AppliedTax[] {
  return applicableTaxes(context).map((association) => ({
    association,
    taxableAmount: taxable,
    taxAmount: taxOf(association.rate, taxable, context.currency),
  }));
}
