import { recordToDto } from '../../records/resource.js';
import type {
  Currency,
  DateTime,
  DecimalText,
  MetadataDto,
  RecordStatusDto,
} from '../../records/record-dto.js';
import { INVOICES, type InvoiceRow } from './invoice.resource.js';

/** An invoice without its parts; one that is previewed is not stored and has no id. */
export interface InvoiceHeaderDto {
  id: string | null;
  tenant_id: string;
  environment_id: string;
  invoice_number: string | null;
  invoice_type: 'SUBSCRIPTION' | 'ONE_OFF' | 'CREDIT';
  invoice_status: 'DRAFT' | 'FINALIZED' | 'VOIDED' | 'SKIPPED';
  payment_status:
    | 'INITIATED'
    | 'PENDING'
    | 'PROCESSING'
    | 'SUCCEEDED'
    | 'OVERPAID'
    | 'FAILED'
    | 'REFUNDED'
    | 'PARTIALLY_REFUNDED'
    | 'VOIDED';
  billing_reason: string;
  billing_period: string | null;
  /** @isInt */
  billing_sequence: number | null;
  customer_id: string;
  subscription_id: string | null;
  subscription_customer_id: string | null;
  currency: Currency;
  description: string | null;
  issue_date: DateTime | null;
  due_date: DateTime | null;
  finalized_at: DateTime | null;
  paid_at: DateTime | null;
  voided_at: DateTime | null;
  /** This and the next are null for a one-off invoice that was given none. */
  period_start: DateTime | null;
  period_end: DateTime | null;
  last_computed_at: DateTime;
  /** Events received before it are included. */
  data_until: DateTime | null;
  subtotal: DecimalText;
  total: DecimalText;
  total_discount: DecimalText;
  total_tax: DecimalText;
  total_prepaid_credits_applied: DecimalText;
  adjustment_amount: DecimalText;
  amount_due: DecimalText;
  amount_paid: DecimalText;
  amount_remaining: DecimalText;
  overpaid_amount: DecimalText;
  refunded_amount: DecimalText;
  /** Its lines were changed by hand, so that no job computes them any more. */
  is_manually_edited: boolean;
  invoice_pdf_url: string | null;
  idempotency_key: string | null;
  recalculated_invoice_id: string | null;
  /** @isInt */
  version: number;
  metadata: MetadataDto;
  status: RecordStatusDto;
  created_at: DateTime | null;
  created_by: string | null;
  updated_at: DateTime | null;
  updated_by: string | null;
}

const COPIES = ['customer', 'subscription'];
const HEADER = {
  ...INVOICES,
  answered: INVOICES.answered.filter(([name]) => !COPIES.includes(name)),
};

/** A stored invoice without its parts and without the copies of its parties. */
export function invoiceHeaderToDto(row: InvoiceRow): InvoiceHeaderDto {
  // The members are those of the header, which the filter hides from the compiler.
  return recordToDto(HEADER, row) as unknown as InvoiceHeaderDto;
}
