import type { CustomerDto } from '../../declarations/customers/customer.resource.js';
import type { SubscriptionDto } from '../../declarations/subscriptions/subscription.resource.js';
import type { TaxRateDto } from '../../generated/standard/tax-rate-types.js';
import type {
  CommitmentInfo,
  UsageAnalyticsRow,
  UsageBreakdownRow,
} from '../../domain/invoice/invoice.js';
import type { LineTrace } from '../../domain/invoice/line-trace.js';
import { PRICE_TYPES } from '../../domain/price/price-cadence.js';
import type { CouponDto } from '../../generated/standard/coupon-types.js';
import {
  instant,
  integer,
  nullable,
  oneOf,
  recordColumns,
  text,
  type Columns,
} from '../../records/columns.js';
import { figure, kept } from './value-columns.js';

/*
 * What is stored of an invoice, in the tables of its parts. Amounts are those of the currency of
 * the invoice. `position` is the place of a row among those of its invoice, from 0.
 */

const INVOICE_TYPES = ['SUBSCRIPTION', 'ONE_OFF', 'CREDIT'] as const;
const INVOICE_STATUSES = ['DRAFT', 'FINALIZED', 'VOIDED', 'SKIPPED'] as const;
const PAYMENT_STATUSES = [
  'INITIATED',
  'PENDING',
  'PROCESSING',
  'SUCCEEDED',
  'OVERPAID',
  'FAILED',
  'REFUNDED',
  'PARTIALLY_REFUNDED',
  'VOIDED',
] as const;

/** Who made a part of an invoice a record, and when: nobody, as long as it is not stored. */
export const identityColumns = {
  id: nullable(text),
  status: recordColumns.status,
  metadata: recordColumns.metadata,
  created_at: nullable(instant),
  created_by: nullable(text),
  updated_at: nullable(instant),
  updated_by: nullable(text),
} satisfies Columns;

/** What changes while an invoice goes from draft to paid. */
export const stateColumns = {
  invoice_number: nullable(text),
  invoice_status: oneOf(INVOICE_STATUSES),
  payment_status: oneOf(PAYMENT_STATUSES),
  billing_sequence: nullable(integer),
  description: nullable(text),
  issue_date: nullable(instant),
  finalized_at: nullable(instant),
  paid_at: nullable(instant),
  voided_at: nullable(instant),
  invoice_pdf_url: nullable(text),
  idempotency_key: nullable(text),
  recalculated_invoice_id: nullable(text),
  version: integer,
} satisfies Columns;

export const INVOICE_COLUMNS = {
  ...identityColumns,
  tenant_id: text,
  environment_id: text,
  ...stateColumns,
  invoice_type: oneOf(INVOICE_TYPES),
  billing_reason: text,
  billing_period: nullable(text),
  customer_id: text,
  subscription_id: nullable(text),
  subscription_customer_id: nullable(text),
  currency: text,
  due_date: nullable(instant),
  period_start: instant,
  period_end: instant,
  last_computed_at: instant,
  data_until: nullable(instant),
  subtotal: figure,
  total: figure,
  total_discount: figure,
  total_tax: figure,
  total_prepaid_credits_applied: figure,
  adjustment_amount: figure,
  amount_due: figure,
  amount_paid: figure,
  amount_remaining: figure,
  overpaid_amount: figure,
  refunded_amount: figure,
  /** The parties as they were when the invoice was computed. */
  customer: kept<CustomerDto>(),
  subscription: kept<SubscriptionDto | null>(),
} satisfies Columns;

export const LINE_COLUMNS = {
  ...identityColumns,
  position: integer,
  kind: oneOf(['charge', 'overage', 'true_up']),
  subscription_line_item_id: nullable(text),
  entity_type: oneOf(['plan', 'addon', 'subscription']),
  entity_id: text,
  price_id: nullable(text),
  price_type: oneOf(PRICE_TYPES),
  price_unit: nullable(text),
  price_unit_id: nullable(text),
  price_unit_amount: nullable(figure),
  meter_id: nullable(text),
  meter_display_name: nullable(text),
  plan_display_name: nullable(text),
  display_name: text,
  quantity: figure,
  amount: figure,
  adjusted_entitlement_quantity: nullable(figure),
  period_start: instant,
  period_end: instant,
  invoice_level_discount: figure,
  line_item_discount: figure,
  prepaid_credits_applied: figure,
  commitment_info: kept<CommitmentInfo | null>(),
  usage_analytics: kept<readonly UsageAnalyticsRow[]>(),
  usage_breakdown: kept<readonly UsageBreakdownRow[]>(),
  /** The steps that led to the amount (docs/domain.md 13.6). */
  trace: kept<LineTrace>(),
} satisfies Columns;

/** A coupon as it was when it was applied. */
export type CouponSnapshot = Pick<
  CouponDto,
  | 'name'
  | 'coupon_code'
  | 'type'
  | 'cadence'
  | 'amount_off'
  | 'percentage_off'
  | 'currency'
  | 'duration_in_periods'
>;

export const COUPON_APPLICATION_COLUMNS = {
  ...identityColumns,
  position: integer,
  coupon_id: text,
  coupon_association_id: text,
  coupon_snapshot: kept<CouponSnapshot>(),
  invoice_line_item_id: nullable(text),
  subscription_id: text,
  discount_type: oneOf(['fixed', 'percentage']),
  discount_percentage: nullable(figure),
  discounted_amount: figure,
  original_price: figure,
  final_price: figure,
  applied_at: instant,
} satisfies Columns;

export const INVOICE_TAX_COLUMNS = {
  ...identityColumns,
  position: integer,
  entity_type: oneOf(['tenant', 'customer', 'subscription', 'invoice']),
  entity_id: text,
  tax_rate_id: text,
  /** The rate as it was when it was applied. */
  tax_rate: kept<TaxRateDto>(),
  tax_association_id: text,
  taxable_amount: figure,
  tax_amount: figure,
  applied_at: instant,
  idempotency_key: nullable(text),
} satisfies Columns;
