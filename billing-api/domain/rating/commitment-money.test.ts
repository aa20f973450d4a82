import { expect, it } from 'vitest';
import { ONE, decimalOf, plain } from '../../../contract/number/decimal.js';
import { USAGE_PRICE } from '../../testing/invoice-samples.js';
import type { PriceModel } from '../price/price-model.js';
import { commitmentMoney } from './commitment-money.js';

const money = (type: 'amount' | 'quantity', value: string, change: Partial<PriceModel>): string => {
  const terms = { type, value: decimalOf(value), overageFactor: ONE, isTrueUpEnabled: false };
  return plain(commitmentMoney(terms, { ...USAGE_PRICE, ...change }));
};

it('a quantity of 10000 at 0.02 is 200 of money (11.3)', () => {
  expect(money('quantity', '10000', { amount: decimalOf('0.02') })).toBe('200');
});

it('an amount is what it says, whatever the price', () => {
  expect(money('amount', '500', { amount: decimalOf('0.02') })).toBe('500');
});

it('a quantity goes through tiers and packages', () => {
  const transformQuantity = { divideBy: 100, round: 'up' as const };
  const packages = { billingModel: 'PACKAGE' as const, amount: decimalOf('5'), transformQuantity };
  expect(money('quantity', '250', packages)).toBe('15');
  const tiers = [
    { upTo: 100, unitAmount: decimalOf('0.10'), flatAmount: null },
    { upTo: null, unitAmount: decimalOf('0.05'), flatAmount: decimalOf('2') },
  ];
  const slab = { billingModel: 'TIERED' as const, tierMode: 'SLAB' as const, tiers };
  expect(money('quantity', '120', slab)).toBe('13');
});
