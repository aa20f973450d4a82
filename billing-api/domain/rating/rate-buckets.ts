import type { PricedWindow } from './priced-window.js';
import type { BucketUsage } from '../usage/line-usage.js';
import type { PriceModel } from '../price/price-model.js';
import { createCharger } from './create-charger.js';
import { chargeGroups, windowRule } from './window-rule.js';

/** Applies the price to every group of every bucket by itself (docs/domain.md 8.5). */
export function rateBuckets(
  buckets: readonly BucketUsage[],
  price: PriceModel & { readonly id: string },
): readonly PricedWindow[] {
  const rule = windowRule(price, null, null);
  const charge = createCharger(price);
  return buckets.flatMap(({ startMs, endMs, groups }) =>
    groups.map((group) => ({
      startMs,
      endMs,
      group: group.text,
      ...chargeGroups([group], charge),
      rule,
      scale: null,
    })),
  );
}
