import { formatInstant } from '../../../contract/instant.js';
import { Decimal, plain } from '../../../contract/number/decimal.js';
import { mustGet } from '../../../runtime/failure.js';
import type { FeatureRow } from '../../declarations/catalog/feature.resource.js';
import { formatMoney, zeroMoney, type Money } from '../../domain/money/money.js';
import { instantToDto } from '../../records/record-dto.js';
import type { CommitmentInfoDto } from '../../declarations/subscriptions/commitment-dto.js';
import { commitmentInfoToDto } from '../../documents/answer/invoice-line-answer.js';
import { expandedMembers } from './analytics-expansions.js';
import type { AnalyticsDto, AnalyticsItemDto, AnalyticsPointDto } from './analytics-dto.js';
import { sumOfDiscounts, type Analytics, type AnalyticsItem } from './analytics-items.js';
import { bucketsOf, costOfPoint, windowsIn } from './window-costs.js';

/** The points of an item, with what its windows charge where that is known. */
function pointsToDto(item: AnalyticsItem, { isBrokenDown, related }: Analytics) {
  const windows = item.invoiced === null ? null : item.invoiced.windows;
  const { row } = item.line;
  const price = mustGet(related.prices, row.price_id, 'the price of a line');
  return item.points.map(({ window, value, eventCount }): AnalyticsPointDto => {
    const own = windowsIn(windows, window);
    const buckets = own === null ? null : bucketsOf(own, { row, price });
    return {
      timestamp: formatInstant(window.startMs),
      usage: plain(value),
      ...costOfPoint(own),
      discount: null,
      cost: null,
      event_count: eventCount,
      ...(isBrokenDown ? { buckets } : {}),
    };
  });
}

type CostDto = Pick<AnalyticsItemDto, 'subtotal' | 'total_discount' | 'total_cost'>;

function costToDto(subtotal: Money | null, discount: Money | null): CostDto {
  if (subtotal === null) return { subtotal: null, total_discount: null, total_cost: null };
  // Absent means zero: where no invoice says it, nothing is taken off.
  const off = discount ?? zeroMoney(subtotal.currency);
  return {
    subtotal: formatMoney(subtotal),
    total_discount: formatMoney(off),
    total_cost: formatMoney(subtotal.minus(off)),
  };
}

type Units = Pick<
  AnalyticsItemDto,
  'unit' | 'unit_plural' | 'reporting_unit' | 'total_usage' | 'total_usage_display'
>;

function usageInUnits(feature: FeatureRow | null, usage: Decimal): Units {
  const unit = feature?.reporting_unit ?? null;
  const shown = unit === null ? usage : usage.times(new Decimal(String(unit.conversion_rate)));
  return {
    unit: feature?.unit_singular ?? null,
    unit_plural: feature?.unit_plural ?? null,
    reporting_unit: unit,
    total_usage: plain(usage),
    total_usage_display: plain(shown),
  };
}

function commitmentInfoOf({ invoiced }: AnalyticsItem): CommitmentInfoDto | null {
  const info = invoiced?.commitment ?? null;
  return info === null ? null : commitmentInfoToDto(info);
}

function bucketSummariesOf({ line, invoiced }: AnalyticsItem, { related }: Analytics) {
  if (invoiced === null) return null;
  const { row } = line;
  const price = mustGet(related.prices, row.price_id, 'the price of a line');
  // Absent means none: nothing of the line was priced by windows.
  return bucketsOf(invoiced.windows ?? [], { row, price });
}

function itemToDto(item: AnalyticsItem, analytics: Analytics): AnalyticsItemDto {
  const { line, meter, total } = item;
  const { row, lineItem, feature } = line;
  const { currency } = lineItem.price;
  return {
    feature_id: feature?.id ?? null,
    name: feature?.name ?? row.display_name,
    meter_id: meter.meterId,
    price_id: row.price_id,
    sub_line_item_id: row.id,
    subscription_id: row.subscription_id,
    plan_id: row.entity_type === 'plan' ? row.entity_id : null,
    addon_id: row.entity_type === 'addon' ? row.entity_id : null,
    event_name: meter.eventName,
    source: item.source,
    sources: [...item.sources],
    properties: item.properties === null ? null : { ...item.properties },
    group: null,
    ...usageInUnits(feature, total.value),
    aggregation_type: meter.aggregation.type,
    event_count: total.eventCount,
    unreadable_count: total.unreadableCount,
    ...costToDto(item.cost, item.invoiced?.discount ?? null),
    currency,
    commitment_info: commitmentInfoOf(item),
    window_size: analytics.windowSize,
    points: pointsToDto(item, analytics),
    bucket_summaries: bucketSummariesOf(item, analytics),
    ...expandedMembers(item, analytics),
  };
}

/** What costs leave out and an invoice takes into account. */
function excludedOf({ invoiced }: Analytics): AnalyticsDto['costs_exclude'] {
  if (invoiced === null) return ['allowances', 'commitments', 'coupons', 'credits', 'taxes'];
  return invoiced.hasTrueUp ? ['credits', 'subscription_true_ups', 'taxes'] : ['credits', 'taxes'];
}

export function analyticsToDto(analytics: Analytics): AnalyticsDto {
  const { currency, cost, items } = analytics;
  return {
    currency,
    ...costToDto(cost, currency === null ? null : sumOfDiscounts(items, currency)),
    data_until: instantToDto(analytics.dataUntil),
    costs_exclude: excludedOf(analytics),
    items: items.map((item) => itemToDto(item, analytics)),
  };
}
