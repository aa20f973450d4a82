import type { InstantMs } from '../../../contract/instant.js';
import { completePrice } from '../../domain/price/complete-price.js';
import type { PriceMatch } from '../../domain/price/matching-prices.js';
import { isPriceRefusal, type PriceRequest } from '../../domain/price/price-request.js';
import type { PriceTerms } from '../../domain/price/price.js';
import type { MeterRow } from '../../catalog/meters/meter.resource.js';
import { priceFromRow } from '../../catalog/prices/price-terms.js';
import type { PriceRow } from '../../catalog/prices/prices-store.js';
import type { NewRow } from '../../records/records.js';
import type { Metadata, PriceCommand } from '../../catalog/prices/price-command.js';
import { invalid, notFound, type Refusal } from '../../records/refusal.js';
import type { TimeBucketWish } from './time-buckets.js';

/** A price that is made for one subscription; `kept` are the columns that decide no money. */
export type NewPrice = { readonly terms: PriceTerms; readonly kept: NewRow };

/** The price of a line or of a time bucket: one that is there, or one that is made with it. */
export type DraftPrice =
  | { readonly kind: 'stored'; readonly row: PriceRow }
  | { readonly kind: 'new'; readonly price: NewPrice };

export type TimeBucketDraft = { readonly wish: TimeBucketWish; readonly price: DraftPrice };

/** A line item of a subscription that is to be created. */
export type LineDraft = {
  readonly entityType: 'plan' | 'subscription';
  /** The price by which a request names the line; null for one that comes with the request. */
  readonly priceId: string | null;
  readonly price: DraftPrice;
  /** In place of the price's own default; null for that. */
  readonly quantity: string | null;
  /** Null for the name of the price. */
  readonly displayName: string | null;
  readonly metadata: Metadata;
  /** Columns of the line item. */
  readonly commitment: NewRow;
  /** Stored on the price of the line, which then is one of this subscription. */
  readonly timeBuckets: readonly TimeBucketDraft[];
};

/** What lines are drafted from: the subscription to be, and the records that the request names. */
export type DraftContext = PriceMatch & {
  readonly now: InstantMs;
  readonly subscriptionId: string;
  readonly prices: ReadonlyMap<string, PriceRow>;
  readonly meters: ReadonlyMap<string, MeterRow>;
};

export const NO_COMMITMENT: NewRow = {
  commitment_type: null,
  commitment_amount: null,
  commitment_quantity: null,
  commitment_duration: null,
  commitment_overage_factor: null,
  commitment_true_up_enabled: false,
  commitment_windowed: false,
};

export function termsOfDraft(price: DraftPrice): PriceTerms {
  return price.kind === 'new' ? price.price.terms : priceFromRow(price.row);
}

/** The price as one of the subscription, whose parent is the root (domain.md 9.5). */
export function ownPrice(price: DraftPrice, subscriptionId: string): NewPrice {
  if (price.kind === 'new') return price.price;
  const { row } = price;
  return {
    terms: { ...priceFromRow(row), entityType: 'SUBSCRIPTION', entityId: subscriptionId },
    kept: keptOf(row),
  };
}

/** What a price of the subscription takes over from the price that it replaces. */
export function keptOf(base: PriceRow): NewRow {
  return {
    display_name: base.display_name,
    description: base.description,
    lookup_key: null,
    parent_price_id: base.parent_price_id ?? base.id,
    metadata: base.metadata,
  };
}

function meterRefusal(meterId: string | null, context: DraftContext): Refusal | null {
  if (meterId === null) return null;
  const meter = context.meters.get(meterId);
  if (meter === undefined) return notFound('meter', meterId);
  return meter.status === 'published' ? null : invalid({ meter_id: 'is not published' });
}

/** A price that comes with the request; `implied` holds where the request says nothing. */
export function inlinePrice(
  command: PriceCommand,
  context: DraftContext,
  implied: Partial<PriceRequest>,
): DraftPrice | Refusal {
  const given = Object.entries(command.request).filter(([, value]) => value !== undefined);
  const request: PriceRequest = { ...implied, ...Object.fromEntries(given) };
  const terms = completePrice(request, {
    nowMs: context.now,
    owner: { entityType: 'SUBSCRIPTION', entityId: context.subscriptionId },
    priceUnit: null,
  });
  if (isPriceRefusal(terms)) return invalid({ [terms.member]: terms.remedy });
  const problem = currencyRefusal(terms, context) ?? meterRefusal(terms.meterId, context);
  return problem ?? { kind: 'new', price: { terms, kept: command.kept } };
}

/** All prices of a subscription have its currency. */
export function currencyRefusal({ currency }: PriceTerms, context: DraftContext): Refusal | null {
  if (currency === context.currency) return null;
  return invalid({ currency: `is ${currency}; the subscription is in ${context.currency}` });
}

/** A price that the request names, which may be of a plan or of an addon. */
export function namedPrice(id: string, context: DraftContext): DraftPrice | Refusal {
  const row = context.prices.get(id);
  if (row === undefined) return notFound('price', id);
  return row.entity_type === 'SUBSCRIPTION'
    ? invalid({ price_id: 'is a price of another subscription' })
    : { kind: 'stored', row };
}
