import { expandedToDto, type Expanded, type Expansions } from '../../records/expand-record.js';
import type { ListDto } from '../../records/record-dto.js';
import {
  expandCreditGrants,
  type CreditGrantsOfPlanDto,
} from '../../credit-grants/credit-grants-of-plans.js';
import {
  expandEntitlements,
  type EntitlementsOfOwnerDto,
} from '../../entitlements/entitlements-of-owners.js';
import type { LivePricesQuery } from '../prices/live-prices.js';
import { planPriceExpansions, type PlanPriceExpansionsDto } from './plan-price-expansions.js';
import { PLANS, type PlanDto, type PlanRow } from '../../declarations/catalog/plan.resource.js';

/** What belongs to a plan; in lists only when expanded. */
export interface PlanExpansionsDto
  extends PlanPriceExpansionsDto, EntitlementsOfOwnerDto, CreditGrantsOfPlanDto {}

export interface ExpandedPlanDto extends PlanDto, PlanExpansionsDto {}

export interface PlanListDto extends ListDto<ExpandedPlanDto> {}

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
export function planExpansions(query: LivePricesQuery): Expansions<PlanRow, PlanExpansionsDto> {
  return {
    ...planPriceExpansions(query),
    entitlements: expandEntitlements,
    credit_grants: expandCreditGrants,
  };
}
