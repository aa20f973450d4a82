import type { PlanRow } from './plans-store.js';
import {
  recordToDto,
  type MetadataDto,
  type PaginationDto,
  type RecordDto,
  type SearchBody,
} from '../../records/record-dto.js';
import type { EntitlementDto } from '../../entitlements/entitlement-dto.js';
import type { CreditGrantDto } from '../../records/later-dto.js';
import type { FeatureDto } from '../features/feature-dto.js';
import type { MeterDto } from '../meters/meter-dto.js';
import type { PriceDto } from '../prices/price-dto.js';

/** @example {"name": "Pro", "lookup_key": "pro", "description": "For growing teams"} */
export interface CreatePlanBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
  /** @maxLength 10000 */
  description?: string;
  /** @minLength 1 @maxLength 255 */
  lookup_key?: string;
  /**
   * @isInt
   * @minimum -2147483648
   * @maximum 2147483647
   */
  display_order?: number;
  metadata?: MetadataDto;
}

/** In lists, `prices`, `entitlements`, `credit_grants`, `meters`, `features` only when expanded. */
export interface PlanDto extends RecordDto {
  name: string;
  description: string | null;
  lookup_key: string | null;
  /** @isInt */
  display_order: number | null;
  /** Live prices, oldest first. */
  prices?: PriceDto[];
  entitlements?: EntitlementDto[];
  credit_grants?: CreditGrantDto[];
  /** Meters of the prices. */
  meters?: MeterDto[];
  /** Features of these meters. */
  features?: FeatureDto[];
}

export interface PlanListDto {
  items: PlanDto[];
  pagination: PaginationDto;
}

export interface SearchPlansBody extends SearchBody {
  /** @maxItems 1000 */
  plan_ids?: string[];
  /** @maxItems 1000 */
  lookup_keys?: string[];
  /** In any case. */
  name_contains?: string;
}

export type PlanExpansions = Pick<
  PlanDto,
  'prices' | 'entitlements' | 'credit_grants' | 'meters' | 'features'
>;

export function planToDto(row: PlanRow, expansions: PlanExpansions): PlanDto {
  return {
    ...recordToDto(row),
    name: row.name,
    description: row.description,
    lookup_key: row.lookup_key,
    display_order: row.display_order,
    ...expansions,
  };
}
