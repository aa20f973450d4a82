import { plain, type Decimal } from '../../../contract/number/decimal.js';
import type { PriceType } from '../../domain/price/price-cadence.js';
import type { MemberReader } from '../../records/member-rules.js';
import { invalid, type Refusal } from '../../records/refusal.js';

/**
 * The quantity that a request gives for a line; null where it gives none or 0, which mean the
 * price's own default.
 */
export function lineQuantity(
  quantity: Decimal | null,
  price: { readonly type: PriceType },
): string | null | Refusal {
  if (quantity === null || quantity.isZero()) return null;
  return price.type === 'USAGE'
    ? invalid({ quantity: 'leave it out: the quantity of a usage line is what was used' })
    : plain(quantity);
}

/** Reads the quantity of a line. */
export function readQuantity(
  reader: MemberReader,
  place: string,
  text: string | undefined,
): Decimal | null {
  const quantity = reader.decimal(`${place}.quantity`, text);
  if (quantity?.lessThan(0) === true) reader.note(`${place}.quantity`, 'must be 0 or more');
  return quantity;
}
