import { z } from 'zod';
import { WALLET_TRANSACTION } from '../../domain/lifecycle/money-lifecycle.js';
import {
  instant,
  integer,
  json,
  nullable,
  oneOf,
  raisedByChange,
  hidden,
  text,
} from '../../records/columns.js';
import type {
  Currency,
  DateTime,
  DecimalText,
  ListDto,
  RecordDto,
} from '../../records/record-dto.js';
import {
  defineResource,
  recordToDto,
  type NewRecord,
  type RecordOf,
} from '../../records/resource.js';
import { figure } from '../invoices/value-columns.js';

/** Why credits come or go (docs/domain.md 2.3). */
export const TRANSACTION_REASONS = [
  'INVOICE_PAYMENT',
  'FREE_CREDIT_GRANT',
  'SUBSCRIPTION_CREDIT_GRANT',
  'PURCHASED_CREDIT_INVOICED',
  'PURCHASED_CREDIT_DIRECT',
  'PURCHASED_CREDIT_BONUS',
  'CREDIT_NOTE',
  'CREDIT_EXPIRED',
  'WALLET_TERMINATION',
  'MANUAL_BALANCE_DEBIT',
  'CREDIT_ADJUSTMENT',
  'INVOICE_VOID_REFUND',
] as const;
export type TransactionReason = (typeof TRANSACTION_REASONS)[number];

/** What a debit took of a credit. */
export interface CreditUseDto {
  transaction_id: string;
  credits: DecimalText;
}

/** What a debit paid of a line of an invoice. */
export interface PaidLineDto {
  invoice_line_item_id: string;
  amount: DecimalText;
}

export const WALLET_TRANSACTIONS = defineResource({
  name: 'wallet transaction',
  idPrefix: 'wtxn',
  table: 'wallet_transactions',
  columns: {
    wallet_id: text,
    customer_id: text,
    type: oneOf(['credit', 'debit']),
    amount: figure,
    credit_amount: figure,
    credit_balance_before: nullable(figure),
    credit_balance_after: nullable(figure),
    transaction_status: oneOf(WALLET_TRANSACTION.states),
    transaction_reason: oneOf(TRANSACTION_REASONS),
    reference_type: nullable(oneOf(['PAYMENT', 'EXTERNAL', 'REQUEST', 'INVOICE'])),
    reference_id: nullable(text),
    description: nullable(text),
    expiry_date: nullable(instant),
    credits_available: figure,
    priority: nullable(integer),
    currency: text,
    conversion_rate: figure,
    topup_conversion_rate: figure,
    parent_transaction_id: nullable(text),
    idempotency_key: nullable(text),
    credits_used: json(z.array(z.object({ transaction_id: z.string(), credits: z.string() }))),
    lines_paid: json(z.array(z.object({ invoice_line_item_id: z.string(), amount: z.string() }))),
    version: raisedByChange(hidden(integer)),
  },
  unique: { wallet_transactions_idempotency: 'idempotency_key' },
  removal: null,
  lifecycle: { column: 'transaction_status', of: WALLET_TRANSACTION },
});
export type WalletTransactionRow = RecordOf<typeof WALLET_TRANSACTIONS>;
export type NewWalletTransaction = NewRecord<(typeof WALLET_TRANSACTIONS)['columns']>;

/** Credits that came into a wallet, or left it. */
export interface WalletTransactionDto extends RecordDto {
  wallet_id: string;
  customer_id: string;
  type: 'credit' | 'debit';
  /** `credit_amount` in money. */
  amount: DecimalText;
  credit_amount: DecimalText;
  /** Null while it is pending, as the next one. */
  credit_balance_before: DecimalText | null;
  credit_balance_after: DecimalText | null;
  transaction_status: 'pending' | 'completed' | 'failed';
  transaction_reason: TransactionReason;
  reference_type: 'PAYMENT' | 'EXTERNAL' | 'REQUEST' | 'INVOICE' | null;
  reference_id: string | null;
  description: string | null;
  expiry_date: DateTime | null;
  /** What is left of a credit; 0 for a debit. */
  credits_available: DecimalText;
  /** The lowest is used first. @isInt */
  priority: number | null;
  currency: Currency;
  conversion_rate: DecimalText;
  topup_conversion_rate: DecimalText;
  parent_transaction_id: string | null;
  idempotency_key: string | null;
  /** Which credits a debit took, in the order of their use. */
  credits_used: CreditUseDto[];
  /** Which lines of an invoice a debit paid. */
  lines_paid: PaidLineDto[];
}

export interface WalletTransactionListDto extends ListDto<WalletTransactionDto> {}

export function walletTransactionToDto(row: WalletTransactionRow): WalletTransactionDto {
  return recordToDto(WALLET_TRANSACTIONS, row);
}
