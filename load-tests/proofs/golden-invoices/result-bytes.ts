import { encodeValue } from '../../../billing-api/domain/invoice/snapshot/encode-value.js';
import type { InvoiceResult } from '../../../billing-api/domain/invoice/invoice.js';
import { Money } from '../../../billing-api/domain/money/money.js';

/**
 * The value with every amount of money as its decimal: kept invoices name the currency once and not
 * with each amount.
 */
function withPlainAmounts(value: unknown): unknown {
  if (value instanceof Money) return value.value;
  if (Array.isArray(value)) return value.map(withPlainAmounts);
  if (typeof value !== 'object' || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withPlainAmounts(member)]),
  );
}

/** Every byte of a computed invoice: lines, totals and traces. */
export function resultBytes(result: InvoiceResult): string {
  return JSON.stringify(encodeValue(withPlainAmounts(result)));
}
