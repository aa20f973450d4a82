import { Decimal, plain } from '../../../contract/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { formatMoney } from '../../domain/money.js';
import type { FeatureRow } from '../../catalog/features/feature.resource.js';
import type { WindowFigures } from '../../domain/usage/aggregation-spec.js';
import type { AnalyticsItem } from './analytics-items.js';
import type { Analytics } from './read-analytics.js';
import { instantToDto, type DateTime, type DecimalText } from '../../records/record-dto.js';
import {
  featureToDto,
  type FeatureDto,
  type ReportingUnitDto,
} from '../../catalog/features/feature.resource.js';
import type { CommitmentInfoDto } from '../../subscriptions/commitment-dto.js';
import type { AddonDto } from '../../records/later-dto.js';
import {
  meterToDto,
  type AggregationTypeDto,
  type MeterDto,
  type WindowSizeDto,
} from '../../catalog/meters/meter.resource.js';
import { planToDto, type PlanDto } from '../../catalog/plans/plan.resource.js';
import { PRICE_PLAIN, priceToDto, type PriceDto } from '../../catalog/prices/price-dto.js';
import { lineItemToDto } from '../../subscriptions/subscription-answer.js';
import type { LineItemDto } from '../../subscriptions/subscription-dto.js';
import type { PropertyFiltersBody, UsageGroupDto } from '../../usage/usage-dto.js';

/**
 * @example {"external_customer_id": "acme", "start_time": "2026-01-01T00:00:00Z",
 *   "end_time": "2026-02-01T00:00:00Z", "group_by": ["source"], "window_size": "DAY",
 *   "expand": ["price", "feature"]}
 */
export interface AnalyticsBody {
  /** @maxLength 255 */
  external_customer_id: string;
  /** Only meters of these features. @maxItems 100 */
  feature_ids?: string[];
  /** Only events of these sources. @maxItems 1000 */
  sources?: string[];
  /** Seven days before the end when absent. */
  start_time?: DateTime;
  /** Now when absent. */
  end_time?: DateTime;
  /** `source`, `feature_id` (which every item has anyway), `properties.<name>`. @maxItems 10 */
  group_by?: string[];
  /** Fills `points`, in the subscription's time zone; never finer than the meter's buckets. */
  window_size?: WindowSizeDto;
  property_filters?: PropertyFiltersBody;
  /** Not available yet. @default false */
  include_children?: boolean;
  /** Not available yet. @default false */
  breakdown_bucket?: boolean;
  /** @maxItems 6 */
  expand?: ('price' | 'meter' | 'feature' | 'subscription_line_item' | 'plan' | 'addon')[];
}

export interface AnalyticsPointDto {
  /** Start of the window. */
  timestamp: DateTime;
  usage: DecimalText;
  /** Null: a price is not charged by window. */
  subtotal: DecimalText | null;
  /** Null, as the subtotal. */
  discount: DecimalText | null;
  /** Null, as the subtotal. */
  cost: DecimalText | null;
  /** @isInt */
  event_count: number;
  /** Null until commitments are priced. */
  computed_commitment_utilized_amount: DecimalText | null;
  /** Null until commitments are priced. */
  computed_overage_amount: DecimalText | null;
  /** Null until commitments are priced. */
  computed_true_up_amount: DecimalText | null;
}

export interface AnalyticsItemDto {
  feature_id: string | null;
  /** Of the feature, else of the line item. */
  name: string;
  meter_id: string;
  price_id: string;
  sub_line_item_id: string;
  subscription_id: string;
  plan_id: string | null;
  addon_id: string | null;
  event_name: string;
  /** Null unless grouped by source. */
  source: string | null;
  /** Sources that the usage came from. */
  sources: string[];
  /** Property to text; null unless grouped by properties. */
  properties: UsageGroupDto | null;
  /** Null: a record of its own that does not exist yet. */
  group: UsageGroupDto | null;
  unit: string | null;
  unit_plural: string | null;
  reporting_unit: ReportingUnitDto | null;
  aggregation_type: AggregationTypeDto;
  total_usage: DecimalText;
  /** The usage in the feature's reporting unit. */
  total_usage_display: DecimalText;
  /** @isInt */
  event_count: number;
  /** Events whose value was taken as 0. @isInt */
  unreadable_count: number;
  /**
   * At the line's price, before entitlements, commitments and discounts; parts of a line share it
   * by usage. Null where the price knows nothing of this part: the analysis is narrowed by sources
   * or properties, or the price charges each bucket anew.
   */
  subtotal: DecimalText | null;
  total_discount: DecimalText | null;
  total_cost: DecimalText | null;
  currency: string;
  /** Null until commitments are priced. */
  commitment_info: CommitmentInfoDto | null;
  window_size: WindowSizeDto | null;
  points: AnalyticsPointDto[];
  price?: PriceDto;
  meter?: MeterDto | null;
  feature?: FeatureDto | null;
  subscription_line_item?: LineItemDto;
  plan?: PlanDto | null;
  addon?: AddonDto | null;
}

export interface AnalyticsDto {
  /** Null when the items have several, or there are none. */
  currency: string | null;
  /** Σ of the items; null when one is unknown or there are several currencies. */
  subtotal: DecimalText | null;
  total_discount: DecimalText | null;
  total_cost: DecimalText | null;
  /** Events received before it are included; null while nothing is known to be complete. */
  data_until: DateTime | null;
  items: AnalyticsItemDto[];
}

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

type Money = Pick<AnalyticsItemDto, 'subtotal' | 'total_discount' | 'total_cost'>;

/** There are no discounts yet: they come with coupons. */
function moneyToDto(cost: Decimal | null, currency: string | null): Money {
  if (cost === null || currency === null) {
    return { subtotal: null, total_discount: null, total_cost: null };
  }
  const [amount, zero] = [cost, cost.times(0)].map((money) => formatMoney(money, currency));
  return { subtotal: amount ?? null, total_discount: zero ?? null, total_cost: amount ?? null };
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

type Expanded = Pick<
  AnalyticsItemDto,
  'price' | 'meter' | 'feature' | 'subscription_line_item' | 'plan' | 'addon'
>;

function expandedOf({ line }: AnalyticsItem, analytics: Analytics): Expanded {
  const { surroundings, metering } = analytics;
  const price = surroundings.prices.get(line.row.price_id);
  const meter = metering.meters.get(line.row.meter_id ?? '');
  const plan = surroundings.plans.get(line.subscription.plan_id);
  const all: Expanded = {
    ...(price === undefined ? {} : { price: priceToDto(price, PRICE_PLAIN) }),
    meter: meter === undefined ? null : meterToDto(meter),
    feature: line.feature === null ? null : featureToDto(line.feature),
    subscription_line_item: lineItemToDto(line.row, surroundings),
    plan: plan === undefined ? null : planToDto(plan),
    addon: null,
  };
  const names: ReadonlySet<string> = analytics.expand;
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
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
    ...moneyToDto(item.cost, currency),
    currency,
    commitment_info: null,
    window_size: analytics.windowSize,
    points: item.points.map(pointToDto),
    ...expandedOf(item, analytics),
  };
}

export function analyticsToDto(analytics: Analytics): AnalyticsDto {
  return {
    currency: analytics.currency,
    ...moneyToDto(analytics.cost, analytics.currency),
    data_until: instantToDto(analytics.dataUntil),
    items: analytics.items.map((item) => itemToDto(item, analytics)),
  };
}
