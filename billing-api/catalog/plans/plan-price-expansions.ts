import type { InstantMs } from '../../../contract/instant.js';
import type { Expansions } from '../../records/expand-record.js';
import { invalid, isRefusal, type Refusal } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import { featureToDto, type FeatureDto } from '../features/feature.resource.js';
import { findFeaturesOfMeters } from '../features/features-store.js';
import { meterToDto, type MeterDto } from '../meters/meter.resource.js';
import { findMeters } from '../meters/meters-store.js';
import { priceToDto, type PriceDto, type PriceRow } from '../prices/price.resource.js';
import { findLivePrices } from '../prices/prices-store.js';
import type { PlanRow } from './plan.resource.js';

/** What follows from the live prices of a plan. */
export interface PlanPriceExpansionsDto {
  /** Live prices, oldest first. */
  prices?: PriceDto[];
  /** Meters of the prices. */
  meters?: MeterDto[];
  /** Features of these meters. */
  features?: FeatureDto[];
}

/** Rows by the plan that they belong to. */
export function byPlan<Row extends { readonly entity_id: string }>(
  rows: readonly Row[],
): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.entity_id);
    if (group === undefined) groups.set(row.entity_id, [row]);
    else group.push(row);
  }
  return groups;
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

/** At which instant the prices of plans are live, and how many one answer may need. */
export type PlanPricesQuery = { readonly now: InstantMs; readonly pricesMax: number };

async function findPlanPrices(
  { tx }: ReadUnit,
  plans: readonly PlanRow[],
  { now, pricesMax }: PlanPricesQuery,
): Promise<readonly PriceRow[] | Refusal> {
  const entityIds = plans.map((plan) => plan.id);
  const prices = await findLivePrices(tx, { entityIds, now, rowsMax: pricesMax + 1 });
  if (prices.length <= pricesMax) return prices;
  return invalid({
    limit:
      `the plans of this page have more than ${pricesMax} live prices together: ask for fewer ` +
      'plans, or leave prices, meters and features out of expand',
  });
}

/** The live prices of plans at one instant, read once, with their meters and features. */
export function planPriceExpansions(
  query: PlanPricesQuery,
): Expansions<PlanRow, PlanPriceExpansionsDto> {
  let found: Promise<readonly PriceRow[] | Refusal> | null = null;
  const livePrices = (unit: ReadUnit, plans: readonly PlanRow[]) =>
    (found ??= findPlanPrices(unit, plans, query));

  return {
    prices: async (unit, plans) => {
      const live = await livePrices(unit, plans);
      if (isRefusal(live)) return live;
      const prices = byPlan(live);
      return (plan) => (prices.get(plan.id) ?? []).map(priceToDto);
    },
    meters: async (unit, plans) => {
      const prices = await livePrices(unit, plans);
      if (isRefusal(prices)) return prices;
      const meters = await findMeters(unit.tx, meterIdsOf(prices));
      const pricesOf = byPlan(prices);
      return (plan) =>
        meterIdsOf(pricesOf.get(plan.id) ?? []).flatMap((id) => {
          const meter = meters.get(id);
          return meter === undefined ? [] : [meterToDto(meter)];
        });
    },
    features: async (unit, plans) => {
      const prices = await livePrices(unit, plans);
      if (isRefusal(prices)) return prices;
      const features = await findFeaturesOfMeters(unit.tx, meterIdsOf(prices));
      const pricesOf = byPlan(prices);
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
