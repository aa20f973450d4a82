import { divide, multiply, zero, type Fraction } from '../usage-oracle/fraction.js';
import { exact, isPositive } from './exact.js';
import { roundMoney } from './money.js';
import type { TaxRate } from './subscription.js';

/** One tax on what discounts leave; nothing when that is not positive (docs/domain.md 13.2). */
export function taxOn(currency: string, taxable: Fraction, rate: TaxRate): Fraction {
  if (!isPositive(taxable)) return zero;
  const tax =
    rate.type === 'fixed'
      ? exact(rate.amount)
      : divide(multiply(taxable, exact(rate.percentage)), exact('100'));
  return roundMoney(currency, tax);
}
