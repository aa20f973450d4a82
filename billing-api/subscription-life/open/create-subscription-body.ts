import type { LateUsageRulesDto } from '../../declarations/platform/late-usage-rules.js';
import type { CreditGrantOfSubscriptionBody } from '../../declarations/credit-grants/credit-grant.resource.js';
import type { BillingCadence } from '../../domain/calendar/billing-grid.js';
import type { PriceBillingPeriod } from '../../domain/price/price-cadence.js';
import type { Currency, DateTime, DecimalText, MetadataDto } from '../../records/record-dto.js';
import type { TaxRateOverrideBody } from '../../declarations/taxes/tax-override-body.js';
import type {
  LineItemCommitmentsBody,
  SubscriptionCommitmentBody,
} from '../../declarations/subscriptions/commitment-dto.js';
import type { OverrideLineItemBody } from '../../subscriptions/lines/override-lines.js';
import type { AddedLineItemBody } from '../../subscriptions/lines/added-lines.js';
import type { LineItemCouponsBody } from './adjustments.js';
import type { PhaseOfSubscriptionBody } from './phases.js';
import type { AddonOfSubscriptionBody } from './addons.js';
import type { OverrideEntitlementBody } from './entitlements.js';
import type { InheritanceBody } from './inheritance-request.js';

export type PaymentTermsDto = '15 NET' | '30 NET' | '45 NET' | '60 NET' | '75 NET' | '90 NET';

/**
 * @example {"customer_id": "cust_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "plan_id":
 *   "plan_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "currency": "usd", "billing_period": "MONTHLY",
 *   "billing_cycle": "calendar", "start_date": "2026-01-01T00:00:00Z"}
 */
export interface CreateSubscriptionBody extends SubscriptionCommitmentBody {
  /** Either this or `external_customer_id`. */
  customer_id?: string;
  /** @maxLength 255 */
  external_customer_id?: string;
  plan_id: string;
  currency: Currency;
  billing_period: PriceBillingPeriod;
  /**
   * @isInt
   * @minimum 1
   * @maximum 1000
   */
  billing_period_count?: number;
  /** @default "RECURRING" */
  billing_cadence?: BillingCadence;
  /** @default "anniversary" */
  billing_cycle?: 'anniversary' | 'calendar';
  billing_anchor?: DateTime;
  /** Now when absent. */
  start_date?: DateTime;
  end_date?: DateTime;
  /** The customer's time zone when absent, else UTC. */
  customer_timezone?: string;
  /** A draft is not charged, and makes no invoice, until it is activated. */
  subscription_status?: 'draft';
  collection_method?: 'charge_automatically' | 'send_invoice';
  /**
   * Other than `default_active`: it is incomplete until its first invoice is paid.
   * `allow_incomplete` and `error_if_incomplete` go with charge_automatically,
   * `default_incomplete` with send_invoice.
   */
  payment_behavior?:
    'allow_incomplete' | 'default_incomplete' | 'error_if_incomplete' | 'default_active';
  payment_terms?: PaymentTermsDto;
  /** @default "none" */
  proration_behavior?: 'create_prorations' | 'none';
  /**
   * In place of the trials of the plan's prices; 0 for no trial.
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
  /** Usage that costs so much is invoiced before the period ends; with no commitment beside it. */
  auto_invoice_threshold?: DecimalText;
  late_usage?: LateUsageRulesDto;
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
  /** @maxItems 100 */
  addons?: AddonOfSubscriptionBody[];
  /**
   * Parts of its life with prices and coupons of their own; not of a draft.
   * @maxItems 100
   */
  phases?: PhaseOfSubscriptionBody[];
  /**
   * Codes of coupons on its invoices as a whole.
   * @maxItems 100
   */
  coupons?: string[];
  /** Codes of coupons on single lines, by the price that names the line. */
  line_item_coupons?: LineItemCouponsBody;
  /**
   * Credits of its own, beside those of its plan and addons.
   * @maxItems 100
   */
  credit_grants?: CreditGrantOfSubscriptionBody[];
  /**
   * Tax rates of the subscription, in place of those of its customer and of the tenant.
   * @maxItems 100
   */
  tax_rate_overrides?: TaxRateOverrideBody[];
  inheritance?: InheritanceBody;
}
