import type { Expansions } from '../../records/expand-record.js';
import { featureToDto, type FeatureDto } from '../../declarations/catalog/feature.resource.js';
import { findFeaturesOfMeters } from '../features/features-store.js';
import { meterToDto, type MeterDto } from '../../declarations/catalog/meter.resource.js';
import { findMeters } from '../meters/meters-store.js';
import { byOwner } from '../../owners/by-owner.js';
import {
  createLivePricesReader,
  expandLivePrices,
  type LivePricesQuery,
} from '../prices/live-prices.js';
import type { PriceDto, PriceRow } from '../../declarations/catalog/price.resource.js';
import type { PlanRow } from '../../declarations/catalog/plan.resource.js';

/** What follows from the live prices of a plan. */
export interface PlanPriceExpansionsDto {
  /** Live prices, oldest first. */
  prices?: PriceDto[] | null;
  /** Meters of the prices. */
  meters?: MeterDto[] | null;
  /** Features of these meters. */
  features?: FeatureDto[] | null;
}

/** The meters that prices refer to, once each. */
const meterIdsOf = (prices: readonly PriceRow[]): readonly string[] => [
  ...new Set(prices.flatMap((price) => price.meter_id ?? [])),
];

/**
 * Where the features of each meter stand in a list. Looking through the list once for every plan of
 * an answer would take a thousand plans times all of their features.
 */
function placesByMeter(
  features: readonly { readonly meter_id: string | null }[],
): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [place, { meter_id: id }] of features.entries()) {
    const known = places.get(id ?? '');
    if (known === undefined) places.set(id ?? '', [place]);
    else known.push(place);
  }
  return places;
}

/** The live prices of plans at one instant, read once, with their meters and features. */
export function planPriceExpansions(
  query: LivePricesQuery,
): Expansions<PlanRow, PlanPriceExpansionsDto> {
  const words = { owners: 'plans', expansions: 'prices, meters and features' };
  const livePrices = createLivePricesReader(query, words);
  return {
    prices: expandLivePrices(livePrices),
    meters: async (unit, plans) => {
      const prices = await livePrices(unit, plans);
      const meters = await findMeters(unit.tx, meterIdsOf(prices));
      const pricesOf = byOwner(prices);
      return (plan) =>
        meterIdsOf(pricesOf.get(plan.id) ?? []).flatMap((id) => {
          const meter = meters.get(id);
          return meter === undefined ? [] : [meterToDto(meter)];
        });
    },
    features: async (unit, plans) => {
      const prices = await livePrices(unit, plans);
      const features = await findFeaturesOfMeters(unit.tx, meterIdsOf(prices));
      const pricesOf = byOwner(prices);
      const ofMeter = placesByMeter(features);
      return (plan) =>
        meterIdsOf(pricesOf.get(plan.id) ?? [])
          .flatMap((id) => ofMeter.get(id) ?? [])
          .sort((left, right) => left - right)
          .flatMap((place) => features[place] ?? [])
          .map((feature) => featureToDto(feature));
    },
  };
}
