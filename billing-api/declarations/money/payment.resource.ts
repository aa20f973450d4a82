import { z } from 'zod';
import { PAYMENT } from '../../domain/lifecycle/money-lifecycle.js';
import {
  instant,
  integer,
  json,
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
} from '../../records/record-dto.js';
import {
  defineResource,
  recordToDto,
  type NewRecord,
  type RecordOf,
} from '../../records/resource.js';

export type PaymentMethod = 'CARD' | 'ACH' | 'OFFLINE' | 'CREDITS' | 'PAYMENT_LINK' | 'UPI';
export type PaymentStatus = (typeof PAYMENT)['states'][number];

const attempt = z.object({
  id: z.string(),
  attempt_number: z.number(),
  payment_status: z.enum(PAYMENT.states),
  error_message: z.string().nullable(),
  created_at: z.string(),
});

const amount = money('currency');

export const PAYMENTS = defineResource({
  name: 'payment',
  idPrefix: 'pay',
  table: 'payments',
  columns: {
    idempotency_key: nullable(text),
    destination_type: oneOf(['INVOICE', 'CUSTOMER']),
    destination_id: text,
    customer_id: text,
    payment_method_type: oneOf(['CARD', 'ACH', 'OFFLINE', 'CREDITS', 'PAYMENT_LINK', 'UPI']),
    payment_method_id: nullable(text),
    payment_gateway: nullable(text),
    gateway_payment_id: nullable(text),
    amount,
    refunded_amount: amount,
    currency: text,
    payment_status: oneOf(PAYMENT.states),
    payment_url: nullable(text),
    invoice_number: nullable(text),
    error_message: nullable(text),
    attempts: json(z.array(attempt)),
    succeeded_at: nullable(instant),
    failed_at: nullable(instant),
    refunded_at: nullable(instant),
    voided_at: nullable(instant),
    version: raisedByChange(integer),
  },
  unique: { payments_idempotency: 'idempotency_key' },
  removal: 'deleted',
  lifecycle: { column: 'payment_status', of: PAYMENT },
});
export type PaymentRow = RecordOf<typeof PAYMENTS>;
export type NewPayment = NewRecord<(typeof PAYMENTS)['columns']>;

/** One try to get the money. */
export interface PaymentAttemptDto {
  id: string;
  /** Not in events. */
  payment_id?: string;
  /** From 1. @isInt */
  attempt_number: number;
  payment_status: PaymentStatus;
  error_message: string | null;
  created_at: DateTime;
}

/** Money of a customer for an invoice, or for none yet. */
export interface PaymentDto extends RecordDto {
  idempotency_key: string | null;
  destination_type: 'INVOICE' | 'CUSTOMER';
  destination_id: string;
  customer_id: string;
  payment_method_type: PaymentMethod;
  payment_method_id: string | null;
  payment_gateway: string | null;
  gateway_payment_id: string | null;
  amount: DecimalText;
  /** Given back of it, beside credit notes. */
  refunded_amount: DecimalText;
  currency: Currency;
  payment_status: PaymentStatus;
  /** Where a payer pays, as long as that is possible. */
  payment_url: string | null;
  invoice_number: string | null;
  error_message: string | null;
  attempts: PaymentAttemptDto[];
  succeeded_at: DateTime | null;
  failed_at: DateTime | null;
  refunded_at: DateTime | null;
  voided_at: DateTime | null;
  /** @isInt */
  version: number;
}

export interface PaymentListDto extends ListDto<PaymentDto> {}

export function paymentToDto(row: PaymentRow): PaymentDto {
  const attempts = row.attempts.map((each) => ({ ...each, payment_id: row.id }));
  return { ...recordToDto(PAYMENTS, row), attempts };
}

/**
 * @example {"destination_type": "INVOICE", "destination_id": "inv_01KAHZ3M4N5P6Q7R8S9T0V1W2X",
 *   "payment_method_type": "OFFLINE", "amount": "122.00", "currency": "usd"}
 */
export interface CreatePaymentBody {
  destination_type: 'INVOICE' | 'CUSTOMER';
  /** The id of a finalized invoice not paid yet, or of a customer, who gets it as credits. */
  destination_id: string;
  payment_method_type: PaymentMethod;
  /** More than 0. */
  amount: DecimalText;
  currency: Currency;
  /**
   * A second request with the same key answers the payment of the first, however late.
   * @minLength 1
   * @maxLength 255
   */
  idempotency_key?: string;
  /** Absent for OFFLINE; of CREDITS the id of the wallet that pays. @maxLength 255 */
  payment_method_id?: string;
  /** Required for PAYMENT_LINK; `stripe` opens a page where it can be paid. @maxLength 255 */
  payment_gateway?: string;
  /** Where the payer goes from the page of a PAYMENT_LINK after the payment. @maxLength 2048 */
  success_url?: string;
  /** Where they go when they leave it without one. @maxLength 2048 */
  cancel_url?: string;
  /**
   * The money is taken at once: an OFFLINE payment has arrived, the page of a PAYMENT_LINK opens.
   * @default false
   */
  process_payment?: boolean;
  /** True is not available yet. @default false */
  save_card_and_make_default?: boolean;
  metadata?: MetadataDto;
}

/**
 * Members that are present are changed.
 * @example {"payment_status": "SUCCEEDED"}
 */
export interface ChangePaymentBody {
  payment_status?: PaymentStatus;
  /** What was given back of it in all; with PARTIALLY_REFUNDED. */
  refunded_amount?: DecimalText;
  /** @maxLength 10000 */
  error_message?: string | null;
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
}
