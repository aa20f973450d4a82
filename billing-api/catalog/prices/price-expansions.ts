import { refersTo, type Expansions } from '../../records/expand-record.js';
import type { PaginationDto } from '../../records/record-dto.js';
import { ADDONS, addonToDto, type AddonDto } from '../addons/addon.resource.js';
import type { GroupDto } from '../groups/group.resource.js';
import { expandGroup } from '../groups/groups-store.js';
import { METERS, meterToDto, type MeterDto } from '../meters/meter.resource.js';
import { PLANS, planToDto, type PlanDto } from '../plans/plan.resource.js';
import {
  PRICE_UNITS,
  priceUnitToDto,
  type PriceUnitDto,
} from '../price-units/price-unit.resource.js';
import type { PriceDto, PriceRow } from './price.resource.js';

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

export const PRICE_EXPANSIONS: Expansions<PriceRow, PriceExpansionsDto> = {
  meter: refersTo('meter_id', METERS, meterToDto),
  group: expandGroup,
  pricing_unit: refersTo('price_unit_id', PRICE_UNITS, priceUnitToDto),
  plan: refersTo('entity_id', PLANS, planToDto),
  addon: refersTo('entity_id', ADDONS, addonToDto),
};
