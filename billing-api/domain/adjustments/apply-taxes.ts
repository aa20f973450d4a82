import { compareTexts } from '../../../contract/compare-texts.js';
import type { InstantMs } from '../../../contract/instant.js';
import { roundMoney, zeroMoney, type Money } from '../money/money.js';
import type { AppliedTax, TaxAssociation, TaxLevel, TaxRateTerms } from './adjustments.js';

export type TaxContext = {
  readonly taxes: readonly TaxAssociation[];
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

function counts(
  association: TaxAssociation,
  { currency, atMs }: { readonly currency: string; readonly atMs: InstantMs },
): boolean {
  const { rate, validity } = association;
  const isCurrency = association.currency === null || association.currency === currency;
  return rate.isActive && isCurrency && validity.startMs <= atMs && atMs < validity.endMs;
}

function byPriority(left: TaxAssociation, right: TaxAssociation): number {
  const priority = left.priority - right.priority;
  return priority || compareTexts(left.id, right.id);
}

/** The associations that tax an invoice, in order; a rate counts once (docs/domain.md 15). */
function applicableTaxes({ taxes, atMs }: TaxContext, currency: string): readonly TaxAssociation[] {
  const rates = new Set<string>();
  return associationsOf(taxes)
    .filter((association) => counts(association, { currency, atMs }))
    .sort(byPriority)
    .filter(({ rate }) => !rates.has(rate.id) && rates.add(rate.id));
}

function taxOf<C extends string>(rate: TaxRateTerms, taxable: Money<C>): Money<C> {
  const { value, currency } = taxable;
  if (!taxable.isAboveZero()) return zeroMoney(currency);
  switch (rate.type) {
    case 'percentage':
      return roundMoney(value.times(rate.percentage).dividedBy(100), currency);
    case 'fixed':
      return roundMoney(rate.fixedValue, currency);
  }
}

/**
 * The taxes of an invoice: each on the same amount and rounded by itself, not compounded
 * (docs/domain.md 13.2, 15).
 */
export function applyTaxes<C extends string>(
  taxable: Money<C>,
  context: TaxContext,
): readonly AppliedTax<C>[] {
  return applicableTaxes(context, taxable.currency).map((association) => ({
    association,
    taxableAmount: taxable,
    taxAmount: taxOf(association.rate, taxable),
  }));
}
