import { mutation, type PricingMutation } from './pricing-mutation.js';

/** Coupons, taxes, prepaid credits, totals. */
export const ADJUSTMENT_MUTATIONS: readonly PricingMutation[] = [
  mutation(
    ['line coupons are computed from what is left', '14.6'],
    'adjustments/apply-coupons.ts',
    [
      'const base = isOfLine ? sumOfMoney(full, currency) : left;',
      'const base = isOfLine ? left : left;',
    ],
  ),
  mutation(['coupons exceed what is left', '14.5'], 'adjustments/apply-coupons.ts', [
    'discount: lesserOf(discountOf(association.coupon, { base, share }), left)',
    'discount: discountOf(association.coupon, { base, share })',
  ]),
  mutation(['invoice coupons come first', '14.7'], 'adjustments/apply-coupons.ts', [
    'Number(left.lineItemId === null) - Number(right.lineItemId === null)',
    'Number(right.lineItemId === null) - Number(left.lineItemId === null)',
  ]),
  mutation(['a coupon of one use is used again', '14.4'], 'adjustments/coupon-cadences.ts', [
    'applicationsMax: () => 1',
    'applicationsMax: () => 2',
  ]),
  mutation(
    ['discounts are taken from lines of 0 or less', '14.5'],
    'adjustments/apply-coupons.ts',
    ['if (!amount.isAboveZero()) return false;', ''],
    // Without this, the split refuses negative weights before a figure is wrong.
    ['leftOf(discounts).value;', 'leftOf(discounts).value.abs();'],
  ),
  mutation(
    ['prepaid credits lower the taxable amount', '13.2'],
    'invoice/pricing/adjust-lines.ts',
    [
      'applyTaxes(taxable, {',
      'applyTaxes(paid.debits.reduce((left, { amount }) => left.minus(amount), taxable), {',
    ],
  ),
  mutation(
    ['discounts do not lower the taxable amount', '13.2'],
    'invoice/pricing/adjust-lines.ts',
    [
      'const taxable = subtotal.minus(totalDiscount);',
      'const taxable = subtotal.minus(totalDiscount.minus(totalDiscount));',
    ],
  ),
  mutation(['taxes of all levels count', '15'], 'adjustments/apply-taxes.ts', [
    'LEVELS.map(of).find((found) => found.length > 0) ?? []',
    'LEVELS.flatMap(of)',
  ]),
  mutation(['a tax rate counts twice', '15'], 'adjustments/apply-taxes.ts', [
    '.filter(({ rate }) => !rates.has(rate.id) && rates.add(rate.id))',
    '.filter(({ rate }) => rates.add(rate.id))',
  ]),
  mutation(
    ['prepaid credits pay fixed lines first', '20.7'],
    'adjustments/apply-prepaid-credits.ts',
    [
      'return [...indexes.filter(isUsage), ...indexes.filter((index) => !isUsage(index))];',
      'return [...indexes.filter((index) => !isUsage(index)), ...indexes.filter(isUsage)];',
    ],
  ),
  mutation(
    ['prepaid credits pay lines of any type', '20.7'],
    'adjustments/apply-prepaid-credits.ts',
    [
      "allowedPriceTypes.includes('ALL') ||",
      "allowedPriceTypes.length > 0 || allowedPriceTypes.includes('ALL') ||",
    ],
  ),
  mutation(['prepaid credits pay discounts', '20.7'], 'adjustments/apply-prepaid-credits.ts', [
    'amount.minus(lineItemDiscount).minus(invoiceLevelDiscount)',
    'amount.plus(lineItemDiscount).minus(lineItemDiscount).minus(invoiceLevelDiscount.minus(invoiceLevelDiscount))',
  ]),
  mutation(['an opening invoice is due after its period', '16'], 'invoice/pricing/due-date.ts', [
    "referencePoint === 'period_start' ? period.startMs : period.endMs",
    "referencePoint === 'period_start' ? period.endMs : period.endMs",
  ]),
];
