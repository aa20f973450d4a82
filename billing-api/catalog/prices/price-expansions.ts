import { refersTo, type Expansions } from '../../records/expand-record.js';
import type { ListDto } from '../../records/record-dto.js';
import { ADDONS, addonToDto } from '../../declarations/catalog/addon.resource.js';
import type { AddonDto } from '../../generated/standard/addon-types.js';
import type { GroupDto } from '../../declarations/catalog/group.resource.js';
import { expandGroup } from '../groups/groups-store.js';
import { METERS, meterToDto, type MeterDto } from '../../declarations/catalog/meter.resource.js';
import { PLANS, planToDto, type PlanDto } from '../../declarations/catalog/plan.resource.js';
import { PRICE_UNITS } from '../../declarations/catalog/price-unit.resource.js';
import type { PriceUnitDto } from '../../generated/standard/price-unit-types.js';
import { recordToDto } from '../../records/resource.js';
import type { PriceDto, PriceRow } from '../../declarations/catalog/price.resource.js';

/** What a price refers to; in lists only when expanded. */
export interface PriceExpansionsDto {
  meter?: MeterDto | null;
  group?: GroupDto | null;
  pricing_unit?: PriceUnitDto | null;
  plan?: PlanDto | null;
  addon?: AddonDto | null;
}

export interface ExpandedPriceDto extends PriceDto, PriceExpansionsDto {}

export interface PriceListDto extends ListDto<ExpandedPriceDto> {}

export interface PricesDto {
  items: ExpandedPriceDto[];
}

export const PRICE_EXPANSIONS: Expansions<PriceRow, PriceExpansionsDto> = {
  meter: refersTo('meter_id', METERS, meterToDto),
  group: expandGroup,
  pricing_unit: refersTo('price_unit_id', PRICE_UNITS, (row) => recordToDto(PRICE_UNITS, row)),
  plan: refersTo('entity_id', PLANS, planToDto),
  addon: refersTo('entity_id', ADDONS, addonToDto),
};
