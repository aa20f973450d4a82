import { Decimal } from '../../../contract/number/decimal.js';

/** Minor digits that are not 2 (docs/domain.md 6.2). */
const MINOR_DIGITS: ReadonlyMap<string, number> = new Map([
  ...currencies('bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf', 0),
  ...currencies('bhd iqd jod kwd lyd omr tnd', 3),
  ...currencies('clf uyw', 4),
]);

function currencies(codes: string, digits: number): (readonly [string, number])[] {
  return codes.split(' ').map((code) => [code, digits] as const);
}

/** Digits after the point of an amount of a currency (docs/domain.md 6.2); the code in any case. */
export function minorDigitsOf(currency: string): number {
  return MINOR_DIGITS.get(currency.toLowerCase()) ?? 2;
}

/** The smallest amount of a currency. */
export function minorUnitOf(currency: string): Decimal {
  return new Decimal(10).pow(-minorDigitsOf(currency));
}
