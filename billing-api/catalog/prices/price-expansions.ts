import { always, type Expanded, type Expansions, refersTo } from '../../records/expand-record.js';
import type { AddonDto } from '../../records/unsupported-dto.js';
import type { PaginationDto } from '../../records/record-dto.js';
import type { GroupDto } from '../features/feature.resource.js';
import { METERS, meterToDto, type MeterDto } from '../meters/meter.resource.js';
import { PLANS, planToDto, type PlanDto } from '../plans/plan.resource.js';
import {
  PRICE_UNITS,
  priceUnitToDto,
  type PriceUnitDto,
} from '../price-units/price-unit.resource.js';
import { priceToDto, type PriceDto, type PriceRow } from './price.resource.js';

/** What a price refers to; in lists only when expanded. */
export interface PriceExpansionsDto {
  meter?: MeterDto | null;
  group?: GroupDto | null;
  pricing_unit?: PriceUnitDto | null;
  plan?: PlanDto | null;
  addon?: AddonDto | null;
}

export interface ExpandedPriceDto extends PriceDto, PriceExpansionsDto {}

export interface PriceListDto {
  items: ExpandedPriceDto[];
  pagination: PaginationDto;
}

export interface PricesDto {
  items: ExpandedPriceDto[];
}

export type ExpandedPrice = Expanded<PriceRow, PriceExpansionsDto>;

/** Groups, addons and price units cannot exist yet. */
export const PRICE_EXPANSIONS: Expansions<PriceRow, PriceExpansionsDto> = {
  meter: refersTo('meter_id', METERS, meterToDto),
  group: always(null),
  pricing_unit: refersTo('price_unit_id', PRICE_UNITS, priceUnitToDto),
  plan: refersTo('entity_id', PLANS, planToDto),
  addon: always(null),
};

export function expandedPriceToDto({ row, expansions }: ExpandedPrice): ExpandedPriceDto {
  return { ...priceToDto(row), ...expansions };
}
