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
