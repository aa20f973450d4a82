import type {
  Currency,
  DateTime,
  DecimalText,
  MetadataDto,
  PaginationDto,
  RecordDto,
  SearchBody,
} from '../records/record-dto.js';
import type {
  CommitmentTimeBucketDto,
  CommitmentTypeDto,
  LineItemCommitmentsBody,
} from './commitment-dto.js';
import type { CustomerDto } from '../customers/customer.resource.js';
import type { InvoiceDto } from '../invoices/invoice-dto.js';
import type {
  CouponAssociationDto,
  CreditGrantDto,
  PauseDto,
  PhaseDto,
} from '../records/later-dto.js';
import type { PlanDto } from '../catalog/plans/plan.resource.js';
import type {
  BillingCadenceDto,
  BillingModelDto,
  InlinePriceBody,
  InvoiceCadenceDto,
  PriceDto,
  PricePeriodDto,
  PriceTypeDto,
  RecurringPeriodDto,
  TierBody,
  TierModeDto,
  TransformQuantityBody,
} from '../catalog/prices/price-dto.js';

export type SubscriptionStatusDto =
  'active' | 'paused' | 'cancelled' | 'incomplete' | 'trialing' | 'draft';
export type SubscriptionTypeDto =
  'standalone' | 'delegated_invoicing' | 'parent' | 'inherited' | 'grouped_invoicing';
export type PaymentTermsDto = '15 NET' | '30 NET' | '45 NET' | '60 NET' | '75 NET' | '90 NET';

/**
 * What a line has instead of what its price says. Anything but a quantity makes a price of the
 * subscription, whose parent is the plan's.
 * @example {"price_id": "price_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "amount": "0.002"}
 */
export interface OverrideLineItemBody {
  /** A price of the plan that matches the subscription. */
  price_id: string;
  /** Of a FIXED line; 0 means the price's default. */
  quantity?: DecimalText;
  billing_model?: BillingModelDto;
  amount?: DecimalText;
  tier_mode?: TierModeDto;
  /** @maxItems 100 */
  tiers?: TierBody[];
  transform_quantity?: TransformQuantityBody;
  /** Price units are not available yet: refused when given. */
  price_unit_amount?: DecimalText;
  /**
   * Price units are not available yet: refused when given.
   * @maxItems 100
   */
  price_unit_tiers?: TierBody[];
}

/** A line of the subscription that its plan does not bring. */
export interface AddedLineItemBody {
  /** A price that matches the subscription; either this or `price`. */
  price_id?: string;
  price?: InlinePriceBody;
  /** Of a FIXED line; 0 means the price's default. */
  quantity?: DecimalText;
  /** @minLength 1 @maxLength 255 */
  display_name?: string;
  metadata?: MetadataDto;
}

/** What is absent stays as the plan has it. */
export interface OverrideEntitlementBody {
  /** A published entitlement of the plan. */
  parent_entitlement_id: string;
  /**
   * @isInt
   * @minimum 0
   * @maximum 9007199254740991
   */
  usage_limit?: number;
  is_enabled?: boolean;
  /** @maxLength 10000 */
  static_value?: string;
}

/** Any value of a member that is not available yet; giving one is refused by name. */
export interface LaterObject {
  [member: string]: unknown;
}

/**
 * @example {"customer_id": "cust_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "plan_id":
 *   "plan_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "currency": "usd", "billing_period": "MONTHLY",
 *   "billing_cycle": "calendar", "start_date": "2026-01-01T00:00:00Z"}
 */
export interface CreateSubscriptionBody {
  /** Either this or `external_customer_id`. */
  customer_id?: string;
  /** @maxLength 255 */
  external_customer_id?: string;
  plan_id: string;
  currency: Currency;
  billing_period: PricePeriodDto;
  /**
   * @isInt
   * @minimum 1
   * @maximum 1000
   */
  billing_period_count?: number;
  /** @default "RECURRING" */
  billing_cadence?: BillingCadenceDto;
  /** @default "anniversary" */
  billing_cycle?: 'anniversary' | 'calendar';
  billing_anchor?: DateTime;
  /** Now when absent. */
  start_date?: DateTime;
  end_date?: DateTime;
  /** The customer's time zone when absent, else UTC. */
  customer_timezone?: string;
  /** `draft` is not available yet. */
  subscription_status?: 'draft';
  collection_method?: 'charge_automatically' | 'send_invoice';
  /** Only `default_active` is available yet. */
  payment_behavior?:
    'allow_incomplete' | 'default_incomplete' | 'error_if_incomplete' | 'default_active';
  payment_terms?: PaymentTermsDto;
  /** @default "none" */
  proration_behavior?: 'create_prorations' | 'none';
  /**
   * Only 0, no trial, is available yet.
   * @isInt
   * @minimum 0
   * @maximum 10000
   */
  trial_period_days?: number;
  /** @maxLength 255 */
  gateway_payment_method_id?: string;
  /** @minLength 1 @maxLength 255 */
  lookup_key?: string;
  metadata?: MetadataDto;
  /** What all usage lines together are committed to; not beside `line_item_commitments`. */
  commitment_amount?: DecimalText;
  /** Multiplies what goes beyond the commitment; 1, which has no effect, or more. */
  overage_factor?: DecimalText;
  /** The billing period when absent, or a whole multiple of it. */
  commitment_duration?: RecurringPeriodDto;
  /** Whether what is missing to the commitment is charged. @default false */
  enable_true_up?: boolean;
  /** Not available yet. */
  auto_invoice_threshold?: DecimalText;
  /** @maxItems 1000 */
  override_line_items?: OverrideLineItemBody[];
  /**
   * What the subscription is entitled to in place of its plan.
   * @maxItems 1000
   */
  override_entitlements?: OverrideEntitlementBody[];
  line_item_commitments?: LineItemCommitmentsBody;
  /**
   * Lines beside those of the plan.
   * @maxItems 1000
   */
  line_items?: AddedLineItemBody[];
  /** Not available yet. */
  addons?: LaterObject[];
  /** Not available yet. */
  phases?: LaterObject[];
  /** Not available yet. */
  coupons?: string[];
  /** Not available yet. */
  line_item_coupons?: LaterObject;
  /** Not available yet. */
  credit_grants?: LaterObject[];
  /** Not available yet. */
  tax_rate_overrides?: LaterObject[];
  /** Not available yet. */
  inheritance?: LaterObject;
}

export interface LineItemDto extends RecordDto {
  subscription_id: string;
  subscription_phase_id: string | null;
  customer_id: string;
  entity_type: 'plan' | 'addon' | 'subscription';
  entity_id: string;
  addon_association_id: string | null;
  price_id: string;
  price: PriceDto | null;
  price_type: PriceTypeDto;
  price_unit: string | null;
  price_unit_id: string | null;
  meter_id: string | null;
  meter_display_name: string | null;
  plan_display_name: string | null;
  display_name: string;
  currency: Currency;
  quantity: DecimalText;
  billing_period: PricePeriodDto;
  /** @isInt */
  billing_period_count: number;
  invoice_cadence: InvoiceCadenceDto;
  start_date: DateTime;
  end_date: DateTime | null;
  commitment_type: CommitmentTypeDto | null;
  commitment_amount: DecimalText | null;
  commitment_quantity: DecimalText | null;
  commitment_duration: RecurringPeriodDto | null;
  commitment_overage_factor: DecimalText | null;
  commitment_true_up_enabled: boolean;
  commitment_windowed: boolean;
  commitment_time_buckets: CommitmentTimeBucketDto[];
}

/** In lists, `line_items` come with `with_line_items`, `customer` and `plan` when expanded. */
export interface SubscriptionDto extends RecordDto {
  customer_id: string;
  customer?: CustomerDto | null;
  invoicing_customer_id: string | null;
  plan_id: string;
  plan?: PlanDto | null;
  parent_subscription_id: string | null;
  lookup_key: string | null;
  /** @isInt */
  version: number;
  subscription_status: SubscriptionStatusDto;
  subscription_type: SubscriptionTypeDto;
  currency: Currency;
  billing_cadence: BillingCadenceDto;
  billing_cycle: 'anniversary' | 'calendar';
  billing_period: RecurringPeriodDto;
  /** @isInt */
  billing_period_count: number;
  billing_anchor: DateTime;
  current_period_start: DateTime;
  current_period_end: DateTime;
  start_date: DateTime;
  end_date: DateTime | null;
  customer_timezone: string;
  collection_method: string;
  payment_behavior: string;
  payment_terms: string | null;
  gateway_payment_method_id: string | null;
  auto_invoice_threshold: DecimalText | null;
  proration_behavior: 'create_prorations' | 'none';
  /** @isInt */
  synced_price_sequence: number;
  /** The plan has prices that are newer than the ones this subscription has taken over. */
  plan_prices_out_of_sync: boolean;
  cancel_at: DateTime | null;
  cancel_at_period_end: boolean;
  cancelled_at: DateTime | null;
  trial_start: DateTime | null;
  trial_end: DateTime | null;
  commitment_amount: DecimalText | null;
  commitment_duration: RecurringPeriodDto | null;
  overage_factor: DecimalText | null;
  enable_true_up: boolean;
  pause_status: 'none' | 'active' | 'scheduled' | 'completed' | 'cancelled';
  active_pause_id: string | null;
  pauses?: PauseDto[];
  line_items?: LineItemDto[];
  phases?: PhaseDto[];
  coupon_associations?: CouponAssociationDto[];
  credit_grants?: CreditGrantDto[];
  latest_invoice?: InvoiceDto | null;
}

export interface SubscriptionListDto {
  items: SubscriptionDto[];
  pagination: PaginationDto;
}

export interface SearchSubscriptionsBody extends SearchBody {
  /** Started, not ended and not a draft at this instant. */
  active_at?: DateTime;
  /** @maxItems 2 */
  billing_cadence?: BillingCadenceDto[];
  /** @maxItems 7 */
  billing_period?: PricePeriodDto[];
  customer_id?: string;
  /** @maxItems 1000 */
  customer_ids?: string[];
  external_customer_id?: string;
  /** @maxItems 1000 */
  invoicing_customer_ids?: string[];
  /** @maxItems 1000 */
  parent_subscription_ids?: string[];
  plan_id?: string;
  /** @maxItems 1000 */
  subscription_ids?: string[];
  /** @maxItems 6 */
  subscription_status?: SubscriptionStatusDto[];
  /** @maxItems 5 */
  subscription_type?: SubscriptionTypeDto[];
  /** Current period ends at or before, or cancelled at or before this instant. */
  effective_date_for_update?: DateTime;
  /** Has a trial that ends at or before this instant. */
  trial_end_due_lte?: DateTime;
  /** @default false */
  with_line_items?: boolean;
}
