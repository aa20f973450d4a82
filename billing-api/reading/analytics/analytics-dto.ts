import type { FeatureDto, ReportingUnitDto } from '../../declarations/catalog/feature.resource.js';
import type {
  AggregationTypeDto,
  MeterDto,
  WindowSizeDto,
} from '../../declarations/catalog/meter.resource.js';
import type { PlanDto } from '../../declarations/catalog/plan.resource.js';
import type { PriceDto } from '../../declarations/catalog/price.resource.js';
import type { AddonDto } from '../../generated/standard/addon-types.js';
import type { DateTime, DecimalText } from '../../records/record-dto.js';
import type {
  CommitmentInfoDto,
  CommitmentTypeDto,
  TimeOfDayDto,
} from '../../declarations/subscriptions/commitment-dto.js';
import type { LineItemDto } from '../../declarations/subscriptions/line-item.resource.js';
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
  /** With the usage of customers who inherit from its subscriptions. @default false */
  include_children?: boolean;
  /** Adds the time buckets of a commitment to every point; needs `window_size`. @default false */
  breakdown_bucket?: boolean;
  /** @maxItems 6 */
  expand?: ('price' | 'meter' | 'feature' | 'subscription_line_item' | 'plan' | 'addon')[];
}

/** What the windows in a time bucket of a commitment used and charge; exact. */
export interface AnalyticsBucketDto {
  bucket_id: string;
  subscription_line_item_id: string;
  price_id: string;
  start: TimeOfDayDto;
  end: TimeOfDayDto;
  commitment_type: CommitmentTypeDto;
  commitment_value: DecimalText;
  total_usage: DecimalText;
  /** At the price of the bucket, before its commitment. */
  base_charge: DecimalText;
  computed_utilized: DecimalText;
  computed_overage: DecimalText;
  computed_true_up: DecimalText;
}

export interface AnalyticsPointDto {
  /** Start of the window. */
  timestamp: DateTime;
  usage: DecimalText;
  /**
   * What the windows of the point charge, exact; null where the price is not charged by window, or
   * costs exclude commitments.
   */
  subtotal: DecimalText | null;
  /** Null: discounts are of lines, not of windows. */
  discount: DecimalText | null;
  /** Null, as the discount. */
  cost: DecimalText | null;
  /** @isInt */
  event_count: number;
  /** This and the next two add up to the subtotal; null where that is. */
  computed_commitment_utilized_amount: DecimalText | null;
  computed_overage_amount: DecimalText | null;
  computed_true_up_amount: DecimalText | null;
  /** Only with `breakdown_bucket`; null where the subtotal is. */
  buckets?: AnalyticsBucketDto[] | null;
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
  /** Events whose value could not be read. @isInt */
  unreadable_count: number;
  /**
   * As invoices charge the line, before discounts, where the range consists of whole billing
   * periods. Else at the line's price, before all that `costs_exclude` names; parts of a line share
   * it by usage. Null where the price knows nothing of this part: the analysis is narrowed by
   * sources or properties, or the price charges each bucket anew.
   */
  subtotal: DecimalText | null;
  total_discount: DecimalText | null;
  total_cost: DecimalText | null;
  currency: string;
  /** Null where the line has no commitment, or costs exclude commitments. */
  commitment_info: CommitmentInfoDto | null;
  window_size: WindowSizeDto | null;
  points: AnalyticsPointDto[];
  /** For each time bucket of the line's commitment; null where costs exclude commitments. */
  bucket_summaries: AnalyticsBucketDto[] | null;
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
  /** What costs leave out and an invoice takes into account. */
  costs_exclude: (
    'allowances' | 'commitments' | 'coupons' | 'credits' | 'subscription_true_ups' | 'taxes'
  )[];
  items: AnalyticsItemDto[];
}
