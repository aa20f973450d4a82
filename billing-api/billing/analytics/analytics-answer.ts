import { formatInstant } from '../../../contract/instant.js';
import { Decimal, plain } from '../../../contract/decimal.js';
import type { FeatureRow } from '../../declarations/catalog/feature.resource.js';
import type { WindowFigures } from '../../domain/usage/aggregation-spec.js';
import { formatMoney, zeroMoney, type Money } from '../../domain/money/money.js';
import { instantToDto } from '../../records/record-dto.js';
import { expandedMembers } from './analytics-expansions.js';
import type { AnalyticsDto, AnalyticsItemDto, AnalyticsPointDto } from './analytics-dto.js';
import type { Analytics, AnalyticsItem } from './analytics-items.js';

function pointToDto({ window, value, eventCount }: WindowFigures): AnalyticsPointDto {
  return {
    timestamp: formatInstant(window.startMs),
    usage: plain(value),
    subtotal: null,
    discount: null,
    cost: null,
    event_count: eventCount,
    computed_commitment_utilized_amount: null,
    computed_overage_amount: null,
    computed_true_up_amount: null,
  };
}

type CostDto = Pick<AnalyticsItemDto, 'subtotal' | 'total_discount' | 'total_cost'>;

/** Discounts are of invoices; here is nothing taken off. */
function costToDto(cost: Money | null): CostDto {
  if (cost === null) return { subtotal: null, total_discount: null, total_cost: null };
  const amount = formatMoney(cost);
  const none = formatMoney(zeroMoney(cost.currency));
  return { subtotal: amount, total_discount: none, total_cost: amount };
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
    ...costToDto(item.cost),
    currency,
    commitment_info: null,
    window_size: analytics.windowSize,
    points: item.points.map(pointToDto),
    ...expandedMembers(item, analytics),
  };
}

export function analyticsToDto(analytics: Analytics): AnalyticsDto {
  return {
    currency: analytics.currency,
    ...costToDto(analytics.cost),
    data_until: instantToDto(analytics.dataUntil),
    costs_exclude: ['allowances', 'commitments', 'coupons', 'credits', 'taxes'],
    items: analytics.items.map((item) => itemToDto(item, analytics)),
  };
}
