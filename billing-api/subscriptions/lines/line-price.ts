import type { InstantMs } from '../../../contract/instant.js';
import type { MeterRow } from '../../declarations/catalog/meter.resource.js';
import type { PriceUnitsByCode } from '../../catalog/price-units/price-units-store.js';
import {
  checkedTerms,
  refusalOfPrice,
  type PriceCommand,
} from '../../catalog/prices/price-request.js';
import {
  passthroughFromParent,
  priceFromRow,
  type PassthroughColumns,
  type PriceRow,
} from '../../declarations/catalog/price.resource.js';
import { overridePrice } from '../../domain/price/complete-price.js';
import type { PriceMatch } from '../../domain/price/matching-prices.js';
import type { PriceOverrideBody } from '../../domain/price/price-model.js';
import { isPriceRefusal } from '../../domain/price/price-refusal.js';
import type { PriceBody, PriceTerms } from '../../domain/price/price.js';
import { invalid, isRefusal, notFound, type Refusal } from '../../records/refusal.js';

/** A price that is made for one subscription. */
export type NewPrice = { readonly terms: PriceTerms; readonly passthrough: PassthroughColumns };

/** The price of a line or of a time bucket: one that is stored, or one that is made with it. */
export type LinePrice =
  | { readonly kind: 'stored'; readonly row: PriceRow }
  | { readonly kind: 'new'; readonly price: NewPrice };

/** What new lines are made from: the subscription to be, and the records that the request names. */
export type LineContext = PriceMatch & {
  readonly now: InstantMs;
  readonly subscriptionId: string;
  readonly prices: ReadonlyMap<string, PriceRow>;
  readonly meters: ReadonlyMap<string, MeterRow>;
  readonly units: PriceUnitsByCode;
};

export function termsOfPrice(price: LinePrice): PriceTerms {
  return price.kind === 'new' ? price.price.terms : priceFromRow(price.row);
}

/** The subscription as the owner of prices. */
export function ownerOfPrices({ subscriptionId }: Pick<LineContext, 'subscriptionId'>) {
  return { entityType: 'SUBSCRIPTION', entityId: subscriptionId } as const;
}

/**
 * The price of the line as a price of the subscription. Its parent is the root price of the plan
 * (docs/domain.md 9.5).
 */
export function priceOfSubscription(price: LinePrice, context: LineContext): NewPrice {
  if (price.kind === 'new') return price.price;
  return {
    terms: { ...priceFromRow(price.row), ...ownerOfPrices(context) },
    passthrough: passthroughFromParent(price.row),
  };
}

/** A price that comes with the request; `implied` holds where the request says nothing. */
export function inlinePrice(
  command: PriceCommand,
  context: LineContext,
  implied: Partial<PriceBody>,
): LinePrice | Refusal {
  const given = Object.entries(command.body).filter(([, value]) => value !== undefined);
  const body = { ...implied, ...Object.fromEntries(given), currency: command.body.currency };
  const owner = { ...ownerOfPrices(context), currency: context.currency };
  const terms = checkedTerms({ ...command, body }, owner, context);
  if (isRefusal(terms)) return terms;
  return { kind: 'new', price: { terms, passthrough: command.passthrough } };
}

/** A price that the request names: of a plan, of an addon, or of the subscription itself. */
export function namedPrice(id: string, context: LineContext): LinePrice | Refusal {
  const row = context.prices.get(id);
  if (row === undefined) return notFound('price', id);
  return row.entity_type === 'SUBSCRIPTION' && row.entity_id !== context.subscriptionId
    ? invalid({ price_id: 'is a price of another subscription' })
    : { kind: 'stored', row };
}

/** The SUBSCRIPTION price that replaces a plan's price; its parent is the plan's root price. */
export function overridingPrice(
  base: PriceRow,
  model: PriceOverrideBody,
  context: LineContext,
): LinePrice | Refusal {
  const terms = overridePrice(priceFromRow(base), model, ownerOfPrices(context));
  if (isPriceRefusal(terms)) return refusalOfPrice(terms);
  return { kind: 'new', price: { terms, passthrough: passthroughFromParent(base) } };
}
