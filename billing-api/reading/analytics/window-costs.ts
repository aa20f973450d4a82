import { plain, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import { groupBy } from '../../../runtime/group-by.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { PricedWindow } from '../../domain/rating/priced-window.js';
import { windowCharge } from '../../domain/rating/window-charge.js';
import type { AnalyticsBucketDto, AnalyticsPointDto } from './analytics-dto.js';

function sumOf(
  windows: readonly PricedWindow[],
  figure: (window: PricedWindow) => Decimal,
): Decimal {
  return windows.reduce((sum, window) => sum.plus(figure(window)), ZERO);
}

/** What priced windows charge beside each other, before discounts; exact. */
type CostOfPoint = Pick<
  AnalyticsPointDto,
  | 'subtotal'
  | 'computed_commitment_utilized_amount'
  | 'computed_overage_amount'
  | 'computed_true_up_amount'
>;

/** What the windows of a point charge; null members where the line is not priced by windows. */
export function costOfPoint(windows: readonly PricedWindow[] | null): CostOfPoint {
  const textOf = (figure: (window: PricedWindow) => Decimal): string | null =>
    windows === null ? null : plain(sumOf(windows, figure));
  return {
    subtotal: textOf((window) => windowCharge(window).charge),
    computed_commitment_utilized_amount: textOf((window) => windowCharge(window).utilized),
    computed_overage_amount: textOf((window) => windowCharge(window).overage),
    computed_true_up_amount: textOf((window) => windowCharge(window).trueUp),
  };
}

/** The windows of a point. */
export function windowsIn(
  windows: readonly PricedWindow[] | null,
  { startMs, endMs }: Interval,
): readonly PricedWindow[] | null {
  return windows?.filter((window) => window.startMs >= startMs && window.startMs < endMs) ?? null;
}

/** What each time bucket of a price charges for some windows (docs/domain.md 11.5). */
export function bucketsOf(
  windows: readonly PricedWindow[],
  { row, price }: { readonly row: LineItemRow; readonly price: PriceRow },
): AnalyticsBucketDto[] {
  const byBucket = groupBy(windows, ({ rule }) => rule.bucketId);
  const { commitment_time_buckets: buckets } = price;
  if (buckets === null) return [];
  return buckets.map((bucket) => {
    // Absent means none: no window lies in the time bucket.
    const own = byBucket.get(bucket.id) ?? [];
    return {
      bucket_id: bucket.id,
      subscription_line_item_id: row.id,
      price_id: bucket.price_id,
      start: bucket.start,
      end: bucket.end,
      commitment_type: bucket.commitment_type,
      commitment_value: bucket.commitment_value,
      total_usage: plain(sumOf(own, ({ quantity }) => quantity)),
      base_charge: plain(sumOf(own, ({ usageAmount }) => usageAmount)),
      computed_utilized: plain(sumOf(own, (window) => windowCharge(window).utilized)),
      computed_overage: plain(sumOf(own, (window) => windowCharge(window).overage)),
      computed_true_up: plain(sumOf(own, (window) => windowCharge(window).trueUp)),
    };
  });
}
