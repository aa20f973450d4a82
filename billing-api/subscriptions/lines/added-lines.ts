import type { Decimal } from '../../../contract/number/decimal.js';
import type { DecimalText } from '../../../contract/wire-types.js';
import type { InlinePriceBody } from '../../declarations/catalog/price-bodies.js';
import { isLive, matchingPrices } from '../../domain/price/matching-prices.js';
import type { PriceTerms } from '../../domain/price/price.js';
import { currencyRefusal } from '../../catalog/prices/price-request.js';
import type { MemberReader } from '../../records/member-rules.js';
import type { MetadataDto } from '../../records/record-dto.js';
import { collect, invalid, isRefusal, nestedRefusal, type Refusal } from '../../records/refusal.js';
import {
  inlinePrice,
  namedPrice,
  termsOfPrice,
  type LineContext,
  type LinePrice,
} from './line-price.js';
import { lineQuantity, readQuantity } from './line-quantity.js';
import { NO_COMMITMENT, type NewLine } from './new-line.js';
import { readRequestedPrice, type RequestedPrice } from './requested-price.js';

/** A line that the subscription has in addition to those of its plan. */
export interface AddedLineItemBody {
  /** A price that matches the subscription; either this or `price`. */
  price_id?: string;
  price?: InlinePriceBody;
  /** Of a FIXED line; 0 means the price's default. */
  quantity?: DecimalText;
  /** @minLength 1 @maxLength 255 */
  display_name?: string;
  metadata?: MetadataDto;
}

/** A line that the subscription has beside those of its plan. */
export type AddedLine = {
  /** Where it stands in the request. */
  readonly place: string;
  readonly price: RequestedPrice;
  /** Null and 0 mean the price's own default. */
  readonly quantity: Decimal | null;
  readonly displayName: string | null;
  readonly metadata: MetadataDto;
};

/** Reads `line_items`. */
export function readAddedLines(
  reader: MemberReader,
  bodies: readonly AddedLineItemBody[] = [],
): readonly AddedLine[] {
  return bodies.map((body, index) => {
    const place = `line_items.${index}`;
    return {
      place,
      quantity: readQuantity(reader, place, body.quantity),
      price: readRequestedPrice(reader, place, body),
      displayName: body.display_name ?? null,
      metadata: { ...reader.metadata(body.metadata, `${place}.metadata`) },
    };
  });
}

/** Why a price does not attach to the subscription (docs/domain.md 9.4); null for one that does. */
function attachRefusal(terms: PriceTerms, context: LineContext): Refusal | null {
  const price = { ...terms, id: '', status: 'published' } as const;
  if (matchingPrices([price], context, context.now).length > 0) return null;
  const wrongCurrency = currencyRefusal(terms, context);
  if (wrongCurrency !== null) return wrongCurrency;
  if (!isLive(price, context.now)) return invalid({ end_date: 'must lie in the future' });
  const period = `${context.billingPeriod} × ${context.billingPeriodCount}`;
  return invalid({ billing_period: `must be a whole multiple of the subscription's, ${period}` });
}

function attachedPrice({ price, place }: AddedLine, context: LineContext): LinePrice | Refusal {
  if (!('id' in price)) {
    const made = inlinePrice(price, context, {});
    const refusal = isRefusal(made) ? made : attachRefusal(termsOfPrice(made), context);
    return refusal === null ? made : nestedRefusal(refusal, `${place}.price`);
  }
  const named = namedPrice(price.id, context);
  if (isRefusal(named)) return nestedRefusal(named, place);
  if (attachRefusal(termsOfPrice(named), context) === null) return named;
  const { currency, billingPeriod, billingPeriodCount } = context;
  const wanted = `${currency}, ${billingPeriod} × ${billingPeriodCount}`;
  return invalid({ [`${place}.price_id`]: `must name a live price for ${wanted}` });
}

function newAddedLine(added: AddedLine, context: LineContext): NewLine | Refusal {
  const price = attachedPrice(added, context);
  if (isRefusal(price)) return price;
  const quantity = lineQuantity(added.quantity, termsOfPrice(price));
  if (isRefusal(quantity)) return nestedRefusal(quantity, added.place);
  return {
    entityType: 'subscription',
    addon: null,
    priceId: 'id' in added.price ? added.price.id : null,
    price,
    endMs: null,
    quantity,
    displayName: added.displayName,
    metadata: added.metadata,
    commitment: NO_COMMITMENT,
    timeBuckets: [],
  };
}

/** The additional lines of a request, in its order. */
export function newAddedLines(
  lines: readonly AddedLine[],
  context: LineContext,
): readonly NewLine[] | Refusal {
  return collect({ items: lines, isBulk: false }, (line) => newAddedLine(line, context));
}
