import { Decimal, ZERO } from '../../../contract/number/decimal.js';
import { assertPresent } from '../../../runtime/failure.js';

/* What each kind of coupon is: everything else asks here (docs/domain.md 14). */

export const DISCOUNT_TYPES = ['fixed', 'percentage'] as const;
export type DiscountType = (typeof DISCOUNT_TYPES)[number];

/** The members of a coupon that say how much it takes off; null where its type has none. */
export const DISCOUNT_FIGURES = ['amount_off', 'percentage_off'] as const;
export type DiscountFigure = (typeof DISCOUNT_FIGURES)[number];
type Figures = Readonly<Record<DiscountFigure, string | null>>;

/** What each type of coupon is computed with. */
type Terms = {
  readonly fixed: { readonly amountOff: Decimal };
  readonly percentage: { readonly percentageOff: Decimal };
};

/** The type of a discount with its figures. */
export type DiscountTerms<T extends DiscountType = DiscountType> = {
  readonly [Name in T]: { readonly type: Name } & Terms[Name];
}[T];

type DiscountKind<T extends DiscountType> = {
  /** The figures that a coupon of it needs; it has no others. */
  readonly figures: readonly DiscountFigure[];
  /** Whether it needs a currency, and goes only with subscriptions in it. */
  readonly isInCurrency: boolean;
  readonly termsFrom: (figures: Figures) => DiscountTerms<T>;
  /**
   * What it takes off a base, neither rounded nor limited to the base. `share`: of a full charge,
   * where a discount is scaled with it.
   */
  readonly takes: (
    terms: Terms[T],
    of: { readonly base: Decimal; readonly share: Decimal },
  ) => Decimal;
  /** The percentage that invoices show of it; null for none. */
  readonly percentage: (terms: Terms[T]) => Decimal | null;
  /** The percentage of what is charged or credited for unused time (docs/domain.md 23.2). */
  readonly percentageOfUnusedTime: ((terms: Terms[T]) => Decimal) | null;
};

const DISCOUNTS: { readonly [T in DiscountType]: DiscountKind<T> } = {
  fixed: {
    figures: ['amount_off'],
    isInCurrency: true,
    termsFrom: ({ amount_off: amount }) => ({
      type: 'fixed',
      amountOff: new Decimal(assertPresent(amount, 'the amount of a coupon')),
    }),
    takes: ({ amountOff }, { share }) => amountOff.times(share),
    percentage: () => null,
    percentageOfUnusedTime: null,
  },
  percentage: {
    figures: ['percentage_off'],
    isInCurrency: false,
    termsFrom: ({ percentage_off: percentage }) => ({
      type: 'percentage',
      percentageOff: new Decimal(assertPresent(percentage, 'the percentage of a coupon')),
    }),
    takes: ({ percentageOff }, { base }) => base.times(percentageOff).dividedBy(100),
    percentage: ({ percentageOff }) => percentageOff,
    percentageOfUnusedTime: ({ percentageOff }) => percentageOff,
  },
};

/** The figures that a coupon of this type needs. */
export const figuresOfType = (type: DiscountType): readonly DiscountFigure[] =>
  DISCOUNTS[type].figures;

/** The types of coupon that have a figure. */
export const typesWithFigure = (figure: DiscountFigure): readonly DiscountType[] =>
  DISCOUNT_TYPES.filter((type) => figuresOfType(type).includes(figure));

/** Whether a coupon of this type goes only with subscriptions in its currency. */
export const isInCurrency = (type: DiscountType): boolean => DISCOUNTS[type].isInCurrency;

/** Whether a coupon of this type discounts a charge for unused time (docs/domain.md 23.2). */
export const discountsUnusedTime = (type: DiscountType): boolean =>
  DISCOUNTS[type].percentageOfUnusedTime !== null;

/** The terms of a stored coupon. */
export function discountTermsFrom(
  coupon: { readonly type: DiscountType } & Figures,
): DiscountTerms {
  return DISCOUNTS[coupon.type].termsFrom(coupon);
}

/** What a coupon takes off a base, neither rounded nor limited to the base. */
export function takenOff<T extends DiscountType>(
  terms: DiscountTerms<T>,
  of: { readonly base: Decimal; readonly share: Decimal },
): Decimal {
  return DISCOUNTS[terms.type].takes(terms, of);
}

/** The percentage that invoices show of a coupon; null for none. */
export function shownPercentage<T extends DiscountType>(terms: DiscountTerms<T>): Decimal | null {
  return DISCOUNTS[terms.type].percentage(terms);
}

/** The percentage that a coupon takes off a charge for unused time (docs/domain.md 23.2). */
export function percentageOfUnusedTime<T extends DiscountType>(terms: DiscountTerms<T>): Decimal {
  // Absent means zero: a coupon of another type has no part in it.
  return DISCOUNTS[terms.type].percentageOfUnusedTime?.(terms) ?? ZERO;
}
