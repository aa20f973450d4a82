import {
  readPriceBody,
  unitCodesOf,
  type PriceCommand,
} from '../../catalog/prices/price-request.js';
import type { InlinePriceBody } from '../../declarations/catalog/price-bodies.js';
import type { MemberReader } from '../../records/member-rules.js';
import { isRefusal } from '../../records/refusal.js';

/** The price of a line or of a time bucket in a request: the id of one, or one to make. */
export type RequestedPrice = { readonly id: string } | PriceCommand;

type PriceMembers = {
  readonly price_id?: string | undefined;
  readonly price?: InlinePriceBody | undefined;
};

/** Reads `price_id` and `price`, of which exactly one must be there. */
export function readRequestedPrice(
  reader: MemberReader,
  place: string,
  { price_id: id, price }: PriceMembers,
): RequestedPrice {
  if ((id === undefined) === (price === undefined)) {
    reader.note(`${place}.price_id`, 'give either price_id or price');
  }
  // Absent means none: the request is refused above.
  if (price === undefined) return { id: id ?? '' };
  const command = readPriceBody(price);
  if (!isRefusal(command)) return command;
  for (const [member, problem] of Object.entries(command.details ?? {})) {
    reader.note(`${place}.price.${member}`, problem);
  }
  return { id: '' };
}

/** Ids of the prices that are named. */
export function namedPriceIds(prices: readonly RequestedPrice[]): readonly string[] {
  return prices.flatMap((price) => ('id' in price ? [price.id] : []));
}

/** Ids of the meters of the prices that are to be made. */
export function inlineMeterIds(prices: readonly RequestedPrice[]): readonly string[] {
  const ids = prices.map((price) => ('id' in price ? undefined : price.body.meter_id));
  return ids.filter((id) => id !== undefined);
}

/** Codes of the price units of the prices that are to be made. */
export function inlineUnitCodes(prices: readonly RequestedPrice[]): readonly string[] {
  return unitCodesOf(prices.flatMap((price) => ('id' in price ? [] : [price])));
}
