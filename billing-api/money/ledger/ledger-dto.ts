import type { Currency, DateTime, DecimalText, PaginationDto } from '../../records/record-dto.js';

/** An account of the ledger. */
export type AccountDto =
  | 'receivable'
  | 'revenue'
  | 'tax'
  | 'discounts'
  | 'payments'
  | 'refunds'
  | 'wallet'
  | 'wallet_funding'
  | 'write_off';

/** What an account holds; a debit is positive. */
export interface AccountBalanceDto {
  account: AccountDto;
  /** Of the account `wallet`; null otherwise. */
  wallet_id: string | null;
  customer_id: string;
  balance: DecimalText;
}

export interface LedgerBalancesDto {
  at: DateTime;
  currency: Currency;
  items: AccountBalanceDto[];
  /** Of all items: always 0. */
  sum: DecimalText;
}

/** @example {"account": "receivable", "limit": 20} */
export interface SearchPostingsBody {
  /**
   * @isInt
   * @minimum 1
   * @maximum 1000
   * @default 50
   */
  limit?: number;
  /**
   * @isInt
   * @minimum 0
   * @maximum 1000000000
   * @default 0
   */
  offset?: number;
  account?: AccountDto;
  customer_id?: string;
  /** Whose movement it is: `invoice`, `payment`, `credit_note` or `wallet_transaction`. */
  entity_type?: string;
  entity_id?: string;
}

/** One side of a movement of money. All postings of a transaction add up to 0. */
export interface PostingDto {
  id: string;
  transaction_id: string;
  /** What happened, such as `invoice.finalized`. */
  kind: string;
  account: AccountDto;
  wallet_id: string | null;
  customer_id: string;
  /** A debit is positive. */
  amount: DecimalText;
  currency: Currency;
  entity_type: string;
  entity_id: string;
  created_at: DateTime;
}

export interface PostingListDto {
  items: PostingDto[];
  pagination: PaginationDto;
}
