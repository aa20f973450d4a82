import { entitlementToDto, type EntitlementDto } from '../../entitlements/entitlement.resource.js';
import { findEntitlementsOf } from '../../entitlements/entitlements-store.js';
import {
  always,
  expandedToDto,
  type Expanded,
  type Expansions,
} from '../../records/expand-record.js';
import type { PaginationDto } from '../../records/record-dto.js';
import type { CreditGrantDto } from '../../records/unsupported-dto.js';
import {
  byPlan,
  planPriceExpansions,
  type PlanPricesQuery,
  type PlanPriceExpansionsDto,
} from './plan-price-expansions.js';
import { PLANS, type PlanDto, type PlanRow } from './plan.resource.js';

/** What belongs to a plan; in lists only when expanded. */
export interface PlanExpansionsDto extends PlanPriceExpansionsDto {
  entitlements?: EntitlementDto[];
  credit_grants?: CreditGrantDto[];
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

/** What belongs to plans at one instant. */
export function planExpansions(query: PlanPricesQuery): Expansions<PlanRow, PlanExpansionsDto> {
  const { prices, meters, features } = planPriceExpansions(query);
  return {
    prices,
    entitlements: async ({ tx }, plans) => {
      const ids = plans.map((plan) => plan.id);
      const entitlements = byPlan(await findEntitlementsOf(tx, ids));
      return (plan) => (entitlements.get(plan.id) ?? []).map((row) => entitlementToDto(row));
    },
    credit_grants: always([]),
    meters,
    features,
  };
}
