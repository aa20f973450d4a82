import { mutation, type PricingMutation } from './pricing-mutation.js';

/** Rounding, price models, periods. */
export const PRICE_MUTATIONS: readonly PricingMutation[] = [
  mutation(['round half to even', '6.2'], 'money/money.ts', [
    'settled(value).toDecimalPlaces(minorDigitsOf(currency), Decimal.ROUND_HALF_UP)',
    'settled(value).toDecimalPlaces(minorDigitsOf(currency), Decimal.ROUND_HALF_EVEN)',
  ]),
  mutation(['round down', '6.2'], 'money/money.ts', [
    'settled(value).toDecimalPlaces(minorDigitsOf(currency), Decimal.ROUND_HALF_UP)',
    'settled(value).toDecimalPlaces(minorDigitsOf(currency), Decimal.ROUND_DOWN)',
  ]),
  mutation(['round a sum of quotients as it is', '6.1'], 'money/money.ts', [
    'value.toDecimalPlaces(SETTLED_DIGITS, Decimal.ROUND_HALF_UP)',
    'value',
  ]),
  mutation(['drop the remainder of a split', '6.5'], 'money/allocate.ts', [
    'byRest.slice(0, missing)',
    'byRest.slice(0, 0)',
  ]),
  mutation(['ties of a split to the later line', '6.5'], 'money/allocate.ts', [
    'cuts.toSorted(',
    'cuts.toReversed().sort(',
  ]),
  mutation(['equal remainders differ in their last digit', '6.5'], 'money/allocate.ts', [
    'settled(shareOf(item).dividedBy(unit))',
    'shareOf(item).dividedBy(unit)',
  ]),
  mutation(['wallets pay rounded money', '20.3'], 'money/money.ts', [
    'Decimal.ROUND_FLOOR',
    'Decimal.ROUND_HALF_UP',
  ]),
  mutation(['amounts of two currencies are added', '6.2'], 'money/money.ts', [
    'other.currency === this.currency',
    'other.currency.length > 0',
  ]),
  mutation(['a tier ends before its bound', '8.3'], 'rating/rate-tiered-volume.ts', [
    'quantity.lessThanOrEqualTo(tier.upTo)',
    'quantity.lessThan(tier.upTo)',
  ]),
  mutation(['forget the flat amount of a tier', '8.3'], 'rating/tier-step.ts', [
    '.plus(flatAmount)',
    '',
  ]),
  mutation(['a slab tier is as wide as its bound', '8.3'], 'rating/rate-tiered-slab.ts', [
    'tier.upTo - lowerBound',
    'tier.upTo',
  ]),
  mutation(['an exact multiple is one package more', '8.2'], 'rating/rate-package.ts', [
    'quantity.greaterThan(full',
    'quantity.greaterThanOrEqualTo(full',
  ]),
  mutation(['quantity 0 is charged', '8'], 'rating/rate-price.ts', [
    'if (quantity.isZero()) {',
    'if (quantity.isNaN()) {',
  ]),
  mutation(['price the sum of the groups of a bucket', '8.5'], 'rating/window-rule.ts', [
    'usageAmount = usageAmount.plus(charge(usage))',
    'usageAmount = charge(quantity)',
  ]),
  mutation(['a tier of a window forgets those below', '8.5'], 'rating/rate-tiers.ts', [
    'below.plus(flatAmount)',
    'flatAmount',
  ]),
  mutation(['round before a period is scaled', '6.3'], 'invoice/charge/rate-fixed-line.ts', [
    'prorate(amount, proration)',
    'prorate(amount.toDecimalPlaces(2), proration)',
  ]),
  mutation(['a short first period is scaled always', '13.4'], 'periods/own-periods.ts', [
    'fullUnscaled: isFirst ? { startMs, endMs: full.endMs } : full',
    'fullUnscaled: full',
  ]),
  mutation(['boundaries are counted in UTC', '12.2'], 'calendar/billing-boundaries.ts', [
    'return instantOfLocal(moveLocal(localAnchorOf(grid), unit, k * amount), grid.timezone);',
    "return instantOfLocal(moveLocal(localAnchorOf(grid), unit, k * amount), 'UTC');",
  ]),
  mutation(['a repeated local time is its second occurrence', '12.5'], 'calendar/local-time.ts', [
    "disambiguation: 'compatible'",
    "disambiguation: 'later'",
  ]),
  mutation(['a day ends where its midnight is first shown', '7.8'], 'calendar/local-time.ts', [
    'return Temporal.PlainDateTime.compare(shownAgain, local) < 0 ? second : first;',
    'return first;',
  ]),
  mutation(['windows of an hour go on over a clock change', '7.8'], 'calendar/usage-windows.ts', [
    'endMs: Math.min(startMs + slotMs, stretch.endMs)',
    'endMs: startMs + slotMs',
  ]),
  mutation(['listed hours go on over a clock change', '7.8'], 'calendar/usage-windows.ts', [
    'endMs: Math.min(instant + slotMs, stretch.endMs)',
    'endMs: instant + slotMs',
  ]),
];
