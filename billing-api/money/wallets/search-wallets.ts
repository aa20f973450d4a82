import { findCustomerByExternalId } from '../../customers/customers-store.js';
import {
  WALLET_TRANSACTIONS,
  type TransactionReason,
  type WalletTransactionRow,
} from '../../declarations/money/wallet-transaction.resource.js';
import {
  WALLETS,
  type WalletStatus,
  type WalletType,
} from '../../declarations/money/wallet.resource.js';
import {
  isAbove,
  isBefore,
  isEqual,
  isNotBefore,
  isOneOf,
  isOneOfAsked,
} from '../../records/conditions.js';
import { readRecord } from '../../records/find-record.js';
import { listRequestFrom, type ListQuery } from '../../records/list-request.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import type { Currency, DateTime, DecimalText, SearchBody } from '../../records/record-dto.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { searchExpanded, searchRecords, type Page } from '../../records/search-records.js';
import { readUnit, type ReadDependencies } from '../../records/unit.js';
import { WALLET_EXPANSIONS, type ExpandedWallet } from './wallet-expansions.js';

/** @example {"external_customer_id": "acme", "wallet_status": "active"} */
export interface SearchWalletsBody extends SearchBody {
  /** @maxItems 1000 */
  wallet_ids?: string[];
  /** @maxItems 1000 */
  customer_ids?: string[];
  external_customer_id?: string;
  currency?: Currency;
  wallet_type?: WalletType;
  wallet_status?: WalletStatus;
}

/** The filters of a list of wallet transactions. */
export interface TransactionFilters {
  type?: 'credit' | 'debit';
  transaction_status?: 'pending' | 'completed' | 'failed';
  transaction_reason?: TransactionReason;
  credits_available_gt?: DecimalText;
  expiry_date_before?: DateTime;
  expiry_date_after?: DateTime;
}

/** The query of a list of the transactions of one wallet. */
export interface ListTransactionsQuery extends ListQuery, TransactionFilters {}

/** @example {"transaction_reason": "PURCHASED_CREDIT_DIRECT", "limit": 20} */
export interface SearchTransactionsBody extends SearchBody, TransactionFilters {
  wallet_id?: string;
  customer_id?: string;
}

/** POST /wallets/search. */
export async function searchWallets(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchWalletsBody,
): Promise<Page<ExpandedWallet> | Refusal> {
  return readUnit(dependencies, occasion, async (unit) => {
    const { external_customer_id: externalId } = body;
    const customer =
      externalId === undefined ? null : await findCustomerByExternalId(unit.tx, externalId);
    const conditions = [
      ...isOneOfAsked('id', body.wallet_ids),
      ...isOneOfAsked('customer_id', body.customer_ids),
      // An external id that no published customer has finds nothing.
      ...(externalId === undefined
        ? []
        : isOneOf<'customer_id'>('customer_id', customer === null ? [] : [customer.id])),
      ...isEqual('currency', body.currency),
      ...isEqual('wallet_type', body.wallet_type),
      ...isEqual('wallet_status', body.wallet_status),
    ];
    const search = { request: body, conditions, expansions: WALLET_EXPANSIONS };
    return searchExpanded(unit, WALLETS, search);
  });
}

type Conditions = ReturnType<typeof isEqual<keyof WalletTransactionRow & string>>;

function conditionsOf(filters: TransactionFilters): Conditions | Refusal {
  const reader = new MemberReader();
  const left = reader.decimal('credits_available_gt', filters.credits_available_gt);
  const before = reader.instant('expiry_date_before', filters.expiry_date_before);
  const after = reader.instant('expiry_date_after', filters.expiry_date_after);
  return (
    reader.refusal() ?? [
      ...isEqual('type', filters.type),
      ...isEqual('transaction_status', filters.transaction_status),
      ...isEqual('transaction_reason', filters.transaction_reason),
      ...isAbove('credits_available', left),
      ...isBefore('expiry_date', before),
      ...isNotBefore('expiry_date', after),
    ]
  );
}

/** POST /wallets/transactions/search. */
export async function searchTransactions(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchTransactionsBody,
): Promise<Page<WalletTransactionRow> | Refusal> {
  const filters = conditionsOf(body);
  if (isRefusal(filters)) return filters;
  const { wallet_id: walletId, customer_id: customerId } = body;
  const named = [...isEqual('wallet_id', walletId), ...isEqual('customer_id', customerId)];
  const conditions = [...named, ...filters];
  return readUnit(dependencies, occasion, (unit) =>
    searchRecords(unit, WALLET_TRANSACTIONS, { request: body, conditions }),
  );
}

/** GET /wallets/{id}/transactions. */
export async function listTransactions(
  dependencies: ReadDependencies,
  occasion: Occasion,
  { id, query }: { readonly id: string; readonly query: ListTransactionsQuery },
): Promise<Page<WalletTransactionRow> | Refusal> {
  const filters = conditionsOf(query);
  if (isRefusal(filters)) return filters;
  const conditions = [...isEqual('wallet_id', id), ...filters];
  return readUnit(dependencies, occasion, async (unit) => {
    await readRecord(unit, WALLETS, id);
    const request = listRequestFrom(query);
    return searchRecords(unit, WALLET_TRANSACTIONS, { request, conditions });
  });
}
