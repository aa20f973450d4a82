import { divide, multiply, zero, type Fraction } from '../usage-oracle/fraction.js';
import { exact, isPositive } from './exact.js';
import { roundMoney } from './money.js';
import type { TaxRate } from './subscription.js';

/** The most specific one first; those of a tenant need auto_apply (docs/domain.md 15). */
const LEVELS: readonly TaxRate['level'][] = ['subscription', 'customer', 'tenant'];

/**
 * Those of the invoice and of the most specific level that has any, in their order; a rate counts
 * once, and only while it is active (docs/domain.md 15).
 */
export function taxesThatApply(taxes: readonly TaxRate[]): readonly TaxRate[] {
  const requested = taxes.filter(({ level, isAutoApplied }) => level !== 'tenant' || isAutoApplied);
  const inherited = LEVELS.find((each) => requested.some(({ level }) => level === each));
  const counted = requested
    .filter(({ level }) => level === 'invoice' || level === inherited)
    .filter(({ isActive }) => isActive);
  return counted.filter(
    ({ rateId }, index) => counted.findIndex((other) => other.rateId === rateId) === index,
  );
}

/** One tax on what discounts leave; nothing when that is not positive (docs/domain.md 13.2). */
export function taxOn(currency: string, taxable: Fraction, rate: TaxRate): Fraction {
  if (!isPositive(taxable)) return zero;
  const tax =
    rate.type === 'fixed'
      ? exact(rate.amount)
      : divide(multiply(taxable, exact(rate.percentage)), exact('100'));
  return roundMoney(currency, tax);
}
