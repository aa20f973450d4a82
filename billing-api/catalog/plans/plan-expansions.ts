import type { InstantMs } from '../../../contract/instant.js';
import { entitlementToDto, type EntitlementDto } from '../../entitlements/entitlement.resource.js';
import { findEntitlementsOf } from '../../entitlements/entitlements-store.js';
import {
  always,
  expandedToDto,
  type Expanded,
  type Expansions,
} from '../../records/expand-record.js';
import type { CreditGrantDto } from '../../records/unsupported-dto.js';
import type { PaginationDto } from '../../records/record-dto.js';
import type { ReadUnit } from '../../records/unit.js';
import { featureToDto, type FeatureDto } from '../features/feature.resource.js';
import { findFeaturesOfMeters } from '../features/features-store.js';
import { meterToDto, type MeterDto } from '../meters/meter.resource.js';
import { findMeters } from '../meters/meters-store.js';
import { priceToDto, type PriceDto, type PriceRow } from '../prices/price.resource.js';
import { findLivePrices } from '../prices/prices-store.js';
import { PLANS, type PlanDto, type PlanRow } from './plan.resource.js';

/** What belongs to a plan; in lists only when expanded. */
export interface PlanExpansionsDto {
  /** Live prices, oldest first. */
  prices?: PriceDto[];
  entitlements?: EntitlementDto[];
  credit_grants?: CreditGrantDto[];
  /** Meters of the prices. */
  meters?: MeterDto[];
  /** Features of these meters. */
  features?: FeatureDto[];
}

export interface ExpandedPlanDto extends PlanDto, PlanExpansionsDto {}

export interface PlanListDto {
  items: ExpandedPlanDto[];
  pagination: PaginationDto;
}

export type ExpandedPlan = Expanded<PlanRow, PlanExpansionsDto>;

export function expandedPlanToDto(plan: ExpandedPlan): ExpandedPlanDto {
  return expandedToDto(PLANS, plan);
}

/** Nothing belongs to a new plan yet. */
export function newPlan(row: PlanRow): ExpandedPlan {
  const expansions = { prices: [], entitlements: [], credit_grants: [], meters: [], features: [] };
  return { row, expansions };
}

/** Rows by the plan that they belong to. */
function byPlan<Row extends { readonly entity_id: string }>(
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

const idsOf = (plans: readonly PlanRow[]): readonly string[] => plans.map((plan) => plan.id);

/** The meters that prices refer to, once each. */
const meterIdsOf = (prices: readonly PriceRow[]): readonly string[] => [
  ...new Set(prices.flatMap((price) => price.meter_id ?? [])),
];

/** What belongs to plans at one instant; the live prices, which three members need, once. */
export function planExpansions(now: InstantMs): Expansions<PlanRow, PlanExpansionsDto> {
  let found: Promise<readonly PriceRow[]> | null = null;
  const livePrices = ({ tx }: ReadUnit, plans: readonly PlanRow[]) =>
    (found ??= findLivePrices(tx, { entityIds: idsOf(plans), now }));

  return {
    prices: async (unit, plans) => {
      const prices = byPlan(await livePrices(unit, plans));
      return (plan) => (prices.get(plan.id) ?? []).map(priceToDto);
    },
    entitlements: async ({ tx }, plans) => {
      const entitlements = byPlan(await findEntitlementsOf(tx, idsOf(plans)));
      return (plan) => (entitlements.get(plan.id) ?? []).map((row) => entitlementToDto(row));
    },
    credit_grants: always([]),
    meters: async (unit, plans) => {
      const prices = await livePrices(unit, plans);
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
      const features = await findFeaturesOfMeters(unit.tx, meterIdsOf(prices));
      const pricesOf = byPlan(prices);
      return (plan) => {
        const meterIds = new Set(meterIdsOf(pricesOf.get(plan.id) ?? []));
        const own = features.filter((feature) => meterIds.has(feature.meter_id ?? ''));
        return own.map((feature) => featureToDto(feature));
      };
    },
  };
}
