import type { Expansions } from '../../records/expand-record.js';
import type { ListDto } from '../../records/record-dto.js';
import {
  expandEntitlements,
  type EntitlementsOfOwnerDto,
} from '../../entitlements/entitlements-of-owners.js';
import {
  createLivePricesReader,
  expandLivePrices,
  type LivePricesQuery,
} from '../prices/live-prices.js';
import type { PriceDto } from '../../declarations/catalog/price.resource.js';
import type { AddonRow } from '../../declarations/catalog/addon.resource.js';
import type { AddonDto } from '../../generated/standard/addon-types.js';

/** What belongs to an addon; in lists only when expanded. */
export interface AddonExpansionsDto extends EntitlementsOfOwnerDto {
  /** Live prices, oldest first. */
  prices?: PriceDto[] | null;
}

export interface ExpandedAddonDto extends AddonDto, AddonExpansionsDto {}

export interface AddonListDto extends ListDto<ExpandedAddonDto> {}

/** What belongs to addons at one instant. */
export function addonExpansions(query: LivePricesQuery): Expansions<AddonRow, AddonExpansionsDto> {
  const words = { owners: 'addons', expansions: 'prices' };
  return {
    prices: expandLivePrices(createLivePricesReader(query, words)),
    entitlements: expandEntitlements,
  };
}
