import type {
  Currency,
  DateTime,
  DecimalText,
  MetadataDto,
  ListDto,
  RecordStatusDto,
} from '../../records/record-dto.js';
import type { AppliedTaxDto, CouponApplicationDto } from './adjustment-dto.js';
import type { ExplanationDto } from './explanation-dto.js';
import type { CustomerDto } from '../../declarations/customers/customer.resource.js';
import type { InvoiceHeaderDto } from '../../declarations/invoices/invoice-header-dto.js';
import type { CommitmentInfoDto } from '../../declarations/subscriptions/commitment-dto.js';
import type { SubscriptionDto } from '../../declarations/subscriptions/subscription.resource.js';

/**
 * @example {"subscription_id": "subs_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "group_by": ["source",
 *   "properties.region"]}
 */
export interface PreviewInvoiceBody {
  subscription_id: string;
  /** The current period when absent. */
  period_start?: DateTime;
  period_end?: DateTime;
  /** @default false */
  hide_zero_charges_line_items?: boolean;
  /**
   * `source` fills usage_analytics; `feature_id` and `properties.<name>` fill usage_breakdown.
   * @maxItems 10
   */
  group_by?: string[];
  /**
   * Adds to every line an explanation of its amount.
   * @default false
   */
  explain?: boolean;
  /**
   * Windows of a line that its explanation shows.
   * @isInt
   * @minimum 1
   * @maximum 1000
   * @default 100
   */
  windows_limit?: number;
  /**
   * @isInt
   * @minimum 0
   * @maximum 1000000000
   * @default 0
   */
  windows_offset?: number;
}

/** An invoice that is not stored. */
export interface PreviewDto extends InvoiceDto {
  /** What it could not take into account; empty where there is nothing. */
  warnings: string[];
}

export interface UsageAnalyticsDto {
  source: string;
  usage: DecimalText;
  /** Share of the line's amount; the shares add up to it. */
  cost: DecimalText;
  /** Of the line's usage, with at most two digits after the point. */
  percentage: DecimalText;
  /** @isInt */
  event_count: number;
}

export interface UsageBreakdownDto {
  usage: DecimalText;
  cost: DecimalText;
  percentage: DecimalText;
  /** @isInt */
  event_count: number;
  /** Grouping name to the text of this row. */
  grouped_by: { [name: string]: string };
}

export interface InvoiceLineItemDto {
  id: string | null;
  invoice_id: string | null;
  tenant_id: string;
  environment_id: string;
  customer_id: string;
  subscription_id: string | null;
  subscription_line_item_id: string | null;
  entity_type: string;
  entity_id: string;
  price_id: string | null;
  price_type: string;
  price_unit: string | null;
  price_unit_id: string | null;
  price_unit_amount: DecimalText | null;
  meter_id: string | null;
  meter_display_name: string | null;
  plan_display_name: string | null;
  display_name: string;
  currency: Currency;
  quantity: DecimalText;
  amount: DecimalText;
  adjusted_entitlement_quantity: DecimalText | null;
  /** This and the next are null for a line of a one-off invoice that was given none. */
  period_start: DateTime | null;
  period_end: DateTime | null;
  invoice_level_discount: DecimalText;
  line_item_discount: DecimalText;
  prepaid_credits_applied: DecimalText;
  commitment_info: CommitmentInfoDto | null;
  usage_analytics: UsageAnalyticsDto[];
  usage_breakdown: UsageBreakdownDto[];
  /** Only with `explain`. */
  explanation?: ExplanationDto;
  metadata: MetadataDto;
  status: RecordStatusDto;
  created_at: DateTime | null;
  created_by: string | null;
  updated_at: DateTime | null;
  updated_by: string | null;
}

/** An invoice; one that is previewed is not stored and has no id. */
export interface InvoiceDto extends InvoiceHeaderDto {
  customer?: CustomerDto | null;
  subscription?: SubscriptionDto | null;
  line_items: InvoiceLineItemDto[];
  coupon_applications: CouponApplicationDto[];
  taxes: AppliedTaxDto[];
}

/** An invoice, and what was done with it. */
export interface ToldInvoiceDto extends InvoiceDto {
  message: string;
}

export interface InvoiceListDto extends ListDto<InvoiceDto> {}
