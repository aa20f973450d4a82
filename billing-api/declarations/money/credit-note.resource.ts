import { CREDIT_NOTE } from '../../domain/lifecycle/invoice-lifecycle.js';
import {
  instant,
  integer,
  money,
  nullable,
  oneOf,
  raisedByChange,
  text,
} from '../../records/columns.js';
import type {
  Currency,
  DateTime,
  DecimalText,
  MetadataDto,
  ListDto,
  RecordDto,
  RecordStatusDto,
} from '../../records/record-dto.js';
import {
  defineResource,
  recordToDto,
  type NewRecord,
  type RecordOf,
} from '../../records/resource.js';
import type { CustomerDto } from '../customers/customer.resource.js';
import type { InvoiceHeaderDto } from '../invoices/invoice-header-dto.js';
import type { SubscriptionDto } from '../subscriptions/subscription.resource.js';

export const CREDIT_NOTE_REASONS = [
  'DUPLICATE',
  'FRAUDULENT',
  'ORDER_CHANGE',
  'UNSATISFACTORY',
  'SERVICE_ISSUE',
  'BILLING_ERROR',
  'SUBSCRIPTION_CANCELLATION',
] as const;
export type CreditNoteReason = (typeof CREDIT_NOTE_REASONS)[number];

/** The reason of a note that the service writes for time that is not used (docs/domain.md 23.1). */
export const UNUSED_TIME = 'UNUSED_TIME' as const;

export const CREDIT_NOTES = defineResource({
  name: 'credit note',
  idPrefix: 'cn',
  table: 'credit_notes',
  columns: {
    credit_note_number: text,
    credit_note_status: oneOf(CREDIT_NOTE.states),
    credit_note_type: oneOf(['ADJUSTMENT', 'REFUND']),
    refund_status: nullable(oneOf(['INITIATED', 'SUCCEEDED', 'VOIDED'])),
    reason: nullable(oneOf([...CREDIT_NOTE_REASONS, UNUSED_TIME])),
    memo: nullable(text),
    currency: text,
    total_amount: money('currency'),
    customer_id: text,
    invoice_id: text,
    subscription_id: nullable(text),
    idempotency_key: nullable(text),
    /** The movement by which a wallet got what unused time had cost; null for other notes. */
    wallet_transaction_id: nullable(text),
    finalized_at: nullable(instant),
    voided_at: nullable(instant),
    version: raisedByChange(integer),
  },
  unique: {
    credit_notes_number: 'credit_note_number',
    credit_notes_idempotency: 'idempotency_key',
  },
  removal: null,
  lifecycle: { column: 'credit_note_status', of: CREDIT_NOTE },
});
export type CreditNoteRow = RecordOf<typeof CREDIT_NOTES>;
export type NewCreditNote = NewRecord<(typeof CREDIT_NOTES)['columns']>;

/** What a credit note takes off one line of its invoice. */
export const CREDIT_NOTE_LINES = defineResource({
  name: 'credit note line',
  idPrefix: 'cn_line',
  table: 'credit_note_lines',
  columns: {
    credit_note_id: text,
    invoice_line_item_id: text,
    position: integer,
    display_name: text,
    amount: money('currency'),
    /** Of unused time: what it is of, and the amount without and of taxes; else null. */
    subscription_line_item_id: nullable(text),
    net_amount: nullable(money('currency')),
    tax_amount: nullable(money('currency')),
    period_start: nullable(instant),
    period_end: nullable(instant),
    currency: text,
  },
  removal: null,
  isAudited: false,
});
export type CreditNoteLineRow = RecordOf<typeof CREDIT_NOTE_LINES>;

/** What a credit note takes off one line of its invoice. */
export interface CreditNoteLineDto {
  id: string;
  credit_note_id: string;
  invoice_line_item_id: string;
  display_name: string;
  amount: DecimalText;
  /** The amount without taxes, for a reason of UNUSED_TIME; else null. */
  net_amount: DecimalText | null;
  /** Its share of the taxes of the invoice, for a reason of UNUSED_TIME; else null. */
  tax_amount: DecimalText | null;
  /** The time that is given back, for a reason of UNUSED_TIME; else null. */
  period_start: DateTime | null;
  period_end: DateTime | null;
  /** What was charged in advance and is not used, for a reason of UNUSED_TIME; else null. */
  subscription_line_item_id: string | null;
  currency: Currency;
  metadata: MetadataDto;
  status: RecordStatusDto;
}

/** An amount that an invoice is lowered by, or that is given back of it. */
export interface CreditNoteDto extends RecordDto {
  credit_note_number: string;
  credit_note_status: 'DRAFT' | 'FINALIZED' | 'VOIDED';
  /** ADJUSTMENT lowers what is to be paid; REFUND gives paid money back to a wallet. */
  credit_note_type: 'ADJUSTMENT' | 'REFUND';
  /** Null for an ADJUSTMENT. */
  refund_status: 'INITIATED' | 'SUCCEEDED' | 'VOIDED' | null;
  /** UNUSED_TIME for what the service gives back of charges in advance. */
  reason: CreditNoteReason | 'UNUSED_TIME' | null;
  memo: string | null;
  currency: Currency;
  total_amount: DecimalText;
  customer_id: string;
  customer?: CustomerDto | null;
  invoice_id: string;
  /** Without its lines in lists. */
  invoice?: InvoiceHeaderDto | null;
  subscription_id: string | null;
  subscription?: SubscriptionDto | null;
  idempotency_key: string | null;
  /** The movement by which a wallet got a REFUND for UNUSED_TIME; else null. */
  wallet_transaction_id: string | null;
  finalized_at: DateTime | null;
  voided_at: DateTime | null;
  /** @isInt */
  version: number;
  line_items: CreditNoteLineDto[];
}

export interface CreditNoteListDto extends ListDto<CreditNoteDto> {}

/** A credit note with its lines, in their order. */
export type CreditNote = {
  readonly row: CreditNoteRow;
  readonly lines: readonly CreditNoteLineRow[];
};

function lineToDto(row: CreditNoteLineRow): CreditNoteLineDto {
  const {
    id,
    credit_note_id,
    invoice_line_item_id,
    display_name,
    amount,
    net_amount,
    tax_amount,
    period_start,
    period_end,
    subscription_line_item_id,
    currency,
    metadata,
    status,
  } = recordToDto(CREDIT_NOTE_LINES, row);
  return {
    id,
    credit_note_id,
    invoice_line_item_id,
    display_name,
    amount,
    net_amount,
    tax_amount,
    period_start,
    period_end,
    subscription_line_item_id,
    currency,
    metadata,
    status,
  };
}

export function creditNoteToDto({ row, lines }: CreditNote): CreditNoteDto {
  return { ...recordToDto(CREDIT_NOTES, row), line_items: lines.map(lineToDto) };
}

export interface CreateCreditNoteLineBody {
  invoice_line_item_id: string;
  /** More than 0, and not more than is left of the line. */
  amount: DecimalText;
  /** That of the line of the invoice when absent. @minLength 1 @maxLength 255 */
  display_name?: string;
  metadata?: MetadataDto;
}

/**
 * @example {"invoice_id": "inv_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "reason": "SERVICE_ISSUE",
 *   "line_items": [{"invoice_line_item_id": "inv_line_01KAHZ3M4N5P6Q7R8S9T0V1W2X",
 *   "amount": "50.00"}]}
 */
export interface CreateCreditNoteBody {
  invoice_id: string;
  /**
   * @minItems 1
   * @maxItems 1000
   */
  line_items: CreateCreditNoteLineBody[];
  /** Made by the service when absent. @minLength 1 @maxLength 100 */
  credit_note_number?: string;
  /**
   * A second request with the same key answers the note of the first, however late.
   * @minLength 1
   * @maxLength 255
   */
  idempotency_key?: string;
  /** @maxLength 10000 */
  memo?: string;
  reason?: CreditNoteReason;
  metadata?: MetadataDto;
  /**
   * Finalizes the note at once.
   * @default true
   */
  process_credit_note?: boolean;
}
