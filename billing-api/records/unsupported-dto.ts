import type {
  DateTime,
  DecimalText,
  MetadataDto,
  RecordDto,
  RecordStatusDto,
} from './record-dto.js';

/*
 * Resources that cannot be created yet. Other records have members for them, which are null or
 * empty until then. The shapes are those of the specification, so that a client written today keeps
 * working.
 */

export interface CreditGrantDto extends RecordDto {
  name: string;
  cadence: 'ONETIME' | 'RECURRING';
  credits: DecimalText;
  conversion_rate: DecimalText | null;
  topup_conversion_rate: DecimalText | null;
  credit_grant_anchor: DateTime | null;
  start_date: DateTime | null;
  end_date: DateTime | null;
  expiration_type: 'NEVER' | 'DURATION' | 'BILLING_CYCLE';
  /** @isInt */
  expiration_duration: number | null;
  expiration_duration_unit: string | null;
  period: string | null;
  /** @isInt */
  period_count: number | null;
  /** @isInt */
  priority: number | null;
  scope: 'PLAN' | 'ADDON' | 'SUBSCRIPTION';
  plan_id: string | null;
  subscription_id: string | null;
}

export interface AddonDto extends RecordDto {
  name: string;
  description: string | null;
  lookup_key: string;
}

interface AuditedDto {
  id: string;
  metadata: MetadataDto;
  status: RecordStatusDto;
  created_at: DateTime;
  created_by: string | null;
  updated_at: DateTime;
  updated_by: string | null;
}

export interface PauseDto extends AuditedDto {
  subscription_id: string;
  pause_mode: string;
  resume_mode: string;
  pause_status: string;
  pause_start: DateTime;
  pause_end: DateTime | null;
  resumed_at: DateTime | null;
  original_period_start: DateTime;
  original_period_end: DateTime;
  reason: string | null;
}

export interface PhaseDto extends AuditedDto {
  subscription_id: string;
  start_date: DateTime;
  end_date: DateTime | null;
}

export interface CouponAssociationDto extends AuditedDto {
  coupon_id: string;
  subscription_id: string;
  subscription_line_item_id: string | null;
  subscription_phase_id: string | null;
  start_date: DateTime;
  end_date: DateTime | null;
}

export interface CouponApplicationDto {
  id: string;
  coupon_id: string;
  coupon_association_id: string | null;
  coupon_snapshot: { [member: string]: string };
  invoice_id: string;
  invoice_line_item_id: string | null;
  subscription_id: string | null;
  currency: string;
  discount_type: 'fixed' | 'percentage';
  discount_percentage: DecimalText | null;
  discounted_amount: DecimalText;
  original_price: DecimalText;
  final_price: DecimalText;
  applied_at: DateTime;
  metadata: MetadataDto;
  status: RecordStatusDto;
}

export interface AppliedTaxDto extends AuditedDto {
  entity_type: string;
  entity_id: string;
  tax_rate_id: string;
  tax_association_id: string | null;
  taxable_amount: DecimalText;
  tax_amount: DecimalText;
  currency: string;
  applied_at: DateTime;
  idempotency_key: string | null;
}

/** The header of a stored invoice, without its lines. */
export interface StoredInvoiceDto extends RecordDto {
  invoice_number: string | null;
  invoice_type: 'SUBSCRIPTION' | 'ONE_OFF' | 'CREDIT';
  invoice_status: 'DRAFT' | 'FINALIZED' | 'VOIDED' | 'SKIPPED';
  payment_status: string;
  billing_reason: string;
  customer_id: string;
  subscription_id: string | null;
  currency: string;
  period_start: DateTime;
  period_end: DateTime;
  due_date: DateTime | null;
  finalized_at: DateTime | null;
  paid_at: DateTime | null;
  voided_at: DateTime | null;
  subtotal: DecimalText;
  total_discount: DecimalText;
  total_tax: DecimalText;
  total: DecimalText;
  amount_due: DecimalText;
  amount_paid: DecimalText;
  amount_remaining: DecimalText;
}
