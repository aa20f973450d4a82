import { plain, type Decimal } from '../../../contract/number/decimal.js';

/**
 * A price's amount as people read it (docs/domain.md 8): the narrow symbol directly before the
 * amount, or the upper-case code and a space where the currency has none. The amount is a rate and
 * keeps its own digits: `$0.0025`.
 */
export function displayAmount(amount: Decimal, currency: string): string {
  const code = currency.toUpperCase();
  const symbol = narrowSymbolOf(code);
  return symbol === code ? `${code} ${plain(amount)}` : `${symbol}${plain(amount)}`;
}

function narrowSymbolOf(code: string): string {
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: code,
    currencyDisplay: 'narrowSymbol',
  });
  return format.formatToParts(0).find((part) => part.type === 'currency')?.value ?? code;
}
