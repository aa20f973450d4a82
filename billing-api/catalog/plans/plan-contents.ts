import type { PlanRow } from './plans-store.js';
import type { PlanContents, PlanExpandable } from './read-plans.js';
import { ENTITLEMENT_PLAIN, entitlementToDto } from '../../entitlements/entitlement-dto.js';
import { featureToDto } from '../features/feature-dto.js';
import { meterToDto } from '../meters/meter-dto.js';
import type { PlanExpansions } from './plan-dto.js';
import { PRICE_PLAIN, priceToDto } from '../prices/price-dto.js';

/** The expanded members of one plan, out of the contents of several. */
export function planContentsToDto(
  plan: PlanRow,
  contents: PlanContents,
  expand: ReadonlySet<PlanExpandable> | 'all',
): PlanExpansions {
  const has = (name: PlanExpandable): boolean => expand === 'all' || expand.has(name);
  const prices = contents.prices.filter((price) => price.entity_id === plan.id);
  const entitlements = contents.entitlements
    .filter((row) => row.entity_id === plan.id)
    .map((row) => entitlementToDto(row, ENTITLEMENT_PLAIN));
  const meterIds = new Set(prices.flatMap((price) => price.meter_id ?? []));
  const meters = [...meterIds].flatMap((id) => contents.meters.get(id) ?? []);
  const features = contents.features.filter((feature) => meterIds.has(feature.meter_id ?? ''));
  return {
    ...(has('prices') ? { prices: prices.map((price) => priceToDto(price, PRICE_PLAIN)) } : {}),
    ...(has('entitlements') ? { entitlements } : {}),
    ...(has('credit_grants') ? { credit_grants: [] } : {}),
    ...(has('meters') ? { meters: meters.map(meterToDto) } : {}),
    ...(has('features') ? { features: features.map((row) => featureToDto(row, {})) } : {}),
  };
}
