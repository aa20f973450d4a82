import type { DateTime, DecimalText, MetadataDto } from '../../records/record-dto.js';
import type { OverrideLineItemBody } from '../../subscriptions/lines/override-lines.js';
import type { InvoiceDto } from '../../documents/answer/invoice-dto.js';
import type { CreditSumsDto } from '../settle/credit-sums-dto.js';

/**
 * @example {"target_plan_id": "plan_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "billing_cadence": "RECURRING",
 *   "billing_cycle": "anniversary", "billing_period": "MONTHLY", "billing_period_count": 1,
 *   "proration_behavior": "create_prorations"}
 */
export interface ChangeSubscriptionBody {
  target_plan_id: string;
  billing_cadence: 'RECURRING' | 'ONETIME';
  /** `anniversary` begins a whole period now; `calendar` one up to the next boundary. */
  billing_cycle: 'anniversary' | 'calendar';
  billing_period: 'MONTHLY' | 'ANNUAL' | 'WEEKLY' | 'DAILY' | 'QUARTERLY' | 'HALF_YEARLY';
  /**
   * @isInt
   * @minimum 1
   * @maximum 1000
   */
  billing_period_count: number;
  /**
   * `create_prorations` credits what is unused of fees that were charged in advance; null and an
   * empty text mean it too.
   */
  proration_behavior: 'create_prorations' | 'none' | '' | null;
  /**
   * `end_of_period`: when the running period ends; until then nothing changes.
   * @default "immediate"
   */
  change_at?: 'immediate' | 'end_of_period';
  /**
   * That of a preview of the last 15 minutes: then exactly what it showed is done, as of its
   * instant, or nothing.
   */
  preview_token?: string;
  /**
   * Recurring fixed lines of the new plan keep the quantities of those of the old one: the only one
   * of each plan, or those with the same name. Otherwise they begin with the quantities of their
   * prices.
   * @default false
   */
  keep_quantities?: boolean;
  /** What lines of the new plan have instead of what its prices say. @maxItems 100 */
  override_line_items?: OverrideLineItemBody[];
  /** Added to the metadata of the subscription. */
  metadata?: MetadataDto;
}

/** What changing the plan inside a period gives back and charges. */
export interface ChangeProrationDto {
  /** What is unused of fees that were charged in advance, without taxes. */
  credit_amount: DecimalText;
  credit_description: string;
  /** What the first invoice of the new plan charges in advance. */
  charge_amount: DecimalText;
  charge_description: string;
  /** The charge less the credit, without taxes. */
  net_amount: DecimalText;
  /** Where the credit goes. */
  credit: CreditSumsDto;
  proration_date: DateTime;
  /** The period of the old plan that the change cuts. */
  current_period_start: DateTime;
  current_period_end: DateTime;
  /** Days of that period, the last one counted as a whole. @isInt */
  days_used: number;
  /** @isInt */
  days_remaining: number;
  currency: string;
}

export interface ChangePreviewLineDto {
  description: string;
  amount: DecimalText;
  quantity: DecimalText;
  /** The amount for one, before rounding to the currency; null for a quantity of 0. */
  unit_price: DecimalText | null;
  period_start: DateTime | null;
  period_end: DateTime | null;
  /** It takes off what was paid for unused time. */
  is_proration: boolean;
}

export interface ChangePreviewInvoiceDto {
  subtotal: DecimalText;
  tax_amount: DecimalText;
  total: DecimalText;
  currency: string;
  due_date: DateTime | null;
  line_items: ChangePreviewLineDto[];
}

export interface ChangedCycleDto {
  period_start: DateTime;
  period_end: DateTime;
  billing_anchor: DateTime;
  billing_cadence: 'RECURRING' | 'ONETIME';
  billing_period: 'MONTHLY' | 'ANNUAL' | 'WEEKLY' | 'DAILY' | 'QUARTERLY' | 'HALF_YEARLY';
  /** @isInt */
  billing_period_count: number;
}

export interface ChangePlanDto {
  id: string;
  name: string;
  lookup_key: string | null;
  description: string | null;
}

/** What a change of plan would do now. Nothing of it is stored. */
export interface ChangePreviewDto {
  subscription_id: string;
  current_plan: ChangePlanDto;
  target_plan: ChangePlanDto;
  change_type: 'upgrade' | 'downgrade' | 'lateral';
  effective_date: DateTime;
  /** What the change does beside what it was asked for. */
  warnings: string[];
  proration_details: ChangeProrationDto;
  /** The invoice on which the credit is set off; null when the change makes none. */
  next_invoice_preview: ChangePreviewInvoiceDto | null;
  new_billing_cycle: ChangedCycleDto;
  /** With it, execute does exactly this, within 15 minutes; null for a change that is to come. */
  preview_token: string | null;
  metadata: MetadataDto;
}

export interface ChangedSubscriptionDto {
  id: string;
  status: 'active' | 'paused' | 'cancelled' | 'incomplete' | 'trialing' | 'draft';
  plan_id: string;
  current_period_start: DateTime;
  current_period_end: DateTime;
  billing_anchor: DateTime;
  created_at: DateTime;
  archived_at: DateTime | null;
}

export interface CreditOfChangeDto {
  wallet_id: string;
  wallet_transaction_id: string;
  amount: DecimalText;
}

/** What a change of plan has done. */
export interface ChangeResultDto {
  is_scheduled: boolean;
  schedule_id: string | null;
  scheduled_at: DateTime | null;
  old_subscription: ChangedSubscriptionDto;
  /** Null while the change is to come. */
  new_subscription: ChangedSubscriptionDto | null;
  change_type: 'upgrade' | 'downgrade' | 'lateral';
  /** The invoice on which the credit is set off; null when the change makes none. */
  invoice: InvoiceDto | null;
  /** Null while the change is to come. */
  proration_applied: ChangeProrationDto | null;
  /** What of the credit went to a wallet. */
  credit_grants: CreditOfChangeDto[];
  effective_date: DateTime;
  metadata: MetadataDto;
}
