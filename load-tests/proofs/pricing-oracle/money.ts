import { multiply, toText, type Fraction } from '../usage-oracle/fraction.js';
import { exact, roundTo } from './exact.js';

const WITHOUT_DIGITS = 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf';
const MINOR_DIGITS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(WITHOUT_DIGITS.split(' ').map((currency) => [currency, 0])),
  ...Object.fromEntries('bhd iqd jod kwd lyd omr tnd'.split(' ').map((each) => [each, 3])),
  clf: 4,
  uyw: 4,
};

/** Fraction digits of the smallest unit of a currency (docs/domain.md 6.2). */
export function minorDigitsOf(currency: string): number {
  return MINOR_DIGITS[currency] ?? 2;
}

/** `Round(x)` of docs/domain.md 6.2. */
export function roundMoney(currency: string, value: Fraction): Fraction {
  return roundTo(minorDigitsOf(currency), value);
}

/**
 * With exactly the minor digits of the currency (docs/domain.md 6.6).
 * @throws RangeError when the value is finer than that: nothing is rounded unseen.
 */
export function moneyText(currency: string, value: Fraction): string {
  const digits = minorDigitsOf(currency);
  if (multiply(value, exact(`1e${digits}`)).denominator !== 1n) {
    throw new RangeError('finer than the smallest unit');
  }
  const [before = '', after = ''] = toText(value).split('.');
  return digits === 0 ? before : `${before}.${after.padEnd(digits, '0')}`;
}
