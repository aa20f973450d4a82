import { Decimal, decimalOfCount } from '../../../contract/number/decimal.js';

/**
 * Digits after the point of what Stripe calls the smallest unit, where they are not 2. Some
 * currencies differ from ISO 4217: isk and ugx have none there, but amounts in hundredths here.
 */
const DIGITS: ReadonlyMap<string, number> = new Map([
  ...of('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf', 0),
  ...of('bhd jod kwd omr tnd', 3),
]);

function of(codes: string, digits: number): (readonly [string, number])[] {
  return codes.split(' ').map((code) => [code, digits] as const);
}

const digitsOf = (currency: string): number => DIGITS.get(currency.toLowerCase()) ?? 2;

/** An amount as Stripe takes it; null when it cannot be said there. */
export function unitsOfMoney(amount: Decimal, currency: string): number | null {
  const units = amount.times(decimalOfCount(10).pow(digitsOf(currency)));
  // With three digits, the last one must be 0 there.
  const isWhole = digitsOf(currency) === 3 ? units.modulo(10).isZero() : units.isInteger();
  return isWhole && units.lessThanOrEqualTo(Number.MAX_SAFE_INTEGER) ? units.toNumber() : null;
}

/** With three digits, the last one must be 0 there. */
const STEP_DIGITS_MAX = 2;

/** What Stripe takes of an amount: that rounded down to its steps, such as 10 fils. */
export function chargeableOf(amount: Decimal, currency: string): Decimal {
  const digits = Math.min(digitsOf(currency), STEP_DIGITS_MAX);
  return amount.toDecimalPlaces(digits, Decimal.ROUND_DOWN);
}

/** The amount of money that Stripe says. */
export function moneyOfUnits(units: number, currency: string): Decimal {
  return decimalOfCount(units).dividedBy(decimalOfCount(10).pow(digitsOf(currency)));
}
