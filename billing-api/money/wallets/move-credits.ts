import { plain, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import {
  WALLET_TRANSACTIONS,
  walletTransactionToDto,
  type NewWalletTransaction,
  type PaidLineDto,
  type TransactionReason,
  type WalletTransactionRow,
} from '../../declarations/money/wallet-transaction.resource.js';
import { WALLETS, walletToDto, type WalletRow } from '../../declarations/money/wallet.resource.js';
import { alertState, isRecovery } from '../../domain/wallet/alert-state.js';
import { logAlert } from './log-alert.js';
import { takeCredits, type WalletCredit } from '../../domain/wallet/consumption.js';
import { availableOfNew, moneyOfCredits } from '../../domain/wallet/credits.js';
import type { MetadataDto } from '../../records/record-dto.js';
import { updateRecord } from '../../records/change-record.js';
import { createRecord } from '../../records/create-record.js';
import { announce } from '../../records/recorded-change.js';
import { Refusal, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { findCreditsLeft, lowerCredits } from './wallets-store.js';

/** What a movement of credits says of itself; what is absent is null or empty. */
export type Movement = {
  readonly credits: Decimal;
  readonly reason: TransactionReason;
  readonly reference?: {
    readonly type: 'PAYMENT' | 'EXTERNAL' | 'REQUEST' | 'INVOICE';
    readonly id: string;
  };
  readonly description?: string | null;
  readonly expiryDate?: InstantMs | null;
  readonly priority?: number | null;
  readonly parentId?: string;
  readonly idempotencyKey?: string | null;
  readonly metadata?: MetadataDto;
  readonly linesPaid?: readonly PaidLineDto[];
};

/** What a movement that does not say it has. */
const UNSAID = {
  reference: null,
  description: null,
  expiryDate: null,
  priority: null,
  parentId: null,
  idempotencyKey: null,
  metadata: {},
  linesPaid: [],
} as const;

/** A locked wallet after a movement, and the movement. */
export type Moved = { readonly wallet: WalletRow; readonly transaction: WalletTransactionRow };

function newTransaction(
  wallet: WalletRow,
  type: 'credit' | 'debit',
  movement: Movement,
): NewWalletTransaction {
  const { credits, reason, reference, linesPaid, ...said } = { ...UNSAID, ...movement };
  return {
    metadata: said.metadata,
    wallet_id: wallet.id,
    customer_id: wallet.customer_id,
    type,
    amount: moneyOfCredits(credits, wallet.conversion_rate),
    credit_amount: credits,
    credit_balance_before: null,
    credit_balance_after: null,
    transaction_status: 'pending',
    transaction_reason: reason,
    reference_type: reference?.type ?? null,
    reference_id: reference?.id ?? null,
    description: said.description,
    expiry_date: said.expiryDate,
    credits_available: ZERO,
    priority: said.priority,
    currency: wallet.currency,
    conversion_rate: wallet.conversion_rate,
    topup_conversion_rate: wallet.topup_conversion_rate,
    parent_transaction_id: said.parentId,
    idempotency_key: said.idempotencyKey,
    credits_used: [],
    lines_paid: [...linesPaid],
    version: 1,
  };
}

/** Stores a transaction, and tells of it. */
export async function storeTransaction(
  unit: Unit,
  values: NewWalletTransaction,
): Promise<WalletTransactionRow> {
  const row = await createRecord(unit, WALLET_TRANSACTIONS, values);
  const told = walletTransactionToDto(row);
  announce(unit, { name: 'transaction' }, { id: row.id, name: 'wallet.transaction.created', told });
  return row;
}

/** Credits that arrive when something is paid. */
export function pendingCredit(wallet: WalletRow, movement: Movement): NewWalletTransaction {
  return newTransaction(wallet, 'credit', movement);
}

/** What a credit that is completed now does to its wallet and leaves to be used. */
export function completion(wallet: WalletRow, credits: Decimal) {
  const before = wallet.credit_balance;
  return {
    credit_balance_before: before,
    credit_balance_after: before.plus(credits),
    credits_available: availableOfNew(credits, before),
  };
}

/** Writes the balance of a locked wallet after a movement. */
export async function writeBalance(
  unit: Unit,
  wallet: WalletRow,
  credits: Decimal,
): Promise<WalletRow> {
  const alert_state = alertState(wallet.alert_settings, credits);
  const patch = { credit_balance: credits, alert_state };
  const after = await updateRecord(unit, WALLETS, { row: wallet, patch });
  await tellAlert(unit, wallet, after);
  return after;
}

/** Tells of a balance that has reached another level of its alert (docs/domain.md 31). */
async function tellAlert(unit: Unit, before: WalletRow, after: WalletRow): Promise<void> {
  const { alert_state: state, credit_balance: credits, alert_settings: settings } = after;
  if (state === before.alert_state) return;
  const change = isRecovery(before.alert_state, state) ? 'recovered' : 'dropped';
  const wallet = walletToDto(after);
  return logAlert(unit, {
    entity_type: 'wallet',
    entity_id: after.id,
    alert_type: 'credit_balance',
    alert_status: state,
    event: `wallet.credit_balance.${change}`,
    beside: { wallet },
    alert_info: {
      state,
      current_balance: wallet.balance,
      credit_balance: plain(credits),
      alert_type: 'credit_balance',
      alert_settings: settings,
    },
  });
}

/** Puts credits into a locked wallet; the caller posts where their worth comes from. */
export async function addCredits(
  unit: Unit,
  wallet: WalletRow,
  movement: Movement,
): Promise<Moved> {
  const transaction = await storeTransaction(unit, {
    ...newTransaction(wallet, 'credit', movement),
    ...completion(wallet, movement.credits),
    transaction_status: 'completed',
  });
  const after = wallet.credit_balance.plus(movement.credits);
  const changed = await writeBalance(unit, wallet, after);
  return { wallet: changed, transaction };
}

function creditOf(row: WalletTransactionRow): WalletCredit {
  return {
    id: row.id,
    createdMs: row.created_at,
    available: row.credits_available,
    priority: row.priority,
    expiryMs: row.expiry_date,
  };
}

/** What a locked wallet can pay now. */
export async function usableCredits(
  unit: Unit,
  wallet: Pick<WalletRow, 'id'>,
): Promise<readonly WalletCredit[]> {
  return (await findCreditsLeft(unit, wallet, true)).map(creditOf);
}

/** Reasons for which also expired credits are taken, and a balance may go below 0. */
const TAKES_ALL: ReadonlySet<TransactionReason> = new Set([
  'MANUAL_BALANCE_DEBIT',
  'WALLET_TERMINATION',
]);

/**
 * Takes credits of a locked wallet, in the order of their use (docs/domain.md 20.2); the caller
 * posts what they went to. Refused when there are too few, except for a debit by hand, which may go
 * below 0.
 */
export async function debitCredits(
  unit: Unit,
  wallet: WalletRow,
  movement: Movement,
): Promise<Moved> {
  const { credits, reason } = movement;
  const takesAll = TAKES_ALL.has(reason);
  const left = (await findCreditsLeft(unit, wallet, !takesAll)).map(creditOf);
  const usable = sumOf(left.map(({ available }) => available));
  if (!takesAll && usable.lessThan(credits)) {
    throw new Refused(
      new Refusal(
        'invalid_operation',
        `the wallet has ${plain(usable)} credits that can be used, fewer than ${plain(credits)}`,
      ),
    );
  }
  return storeDebit(unit, wallet, { movement, uses: takeCredits(left, credits) });
}

/**
 * Takes credits of a locked wallet that go back to where they were bought: first what is left of
 * that purchase, then others, and below 0 where they have been used.
 */
export async function debitPurchase(
  unit: Unit,
  wallet: WalletRow,
  movement: Movement & { readonly parentId: string },
): Promise<Moved> {
  const left = (await findCreditsLeft(unit, wallet, false)).map(creditOf);
  const ownFirst = left.map((credit) =>
    credit.id === movement.parentId ? { ...credit, priority: Number.MIN_SAFE_INTEGER } : credit,
  );
  return storeDebit(unit, wallet, { movement, uses: takeCredits(ownFirst, movement.credits) });
}

type Debit = {
  readonly movement: Movement;
  readonly uses: ReturnType<typeof takeCredits>;
};

/** Stores a debit that takes just these credits of a locked wallet. */
export async function storeDebit(
  unit: Unit,
  wallet: WalletRow,
  { movement, uses }: Debit,
): Promise<Moved> {
  const before = wallet.credit_balance;
  const after = before.minus(movement.credits);
  const transaction = await storeTransaction(unit, {
    ...newTransaction(wallet, 'debit', movement),
    transaction_status: 'completed',
    credit_balance_before: before,
    credit_balance_after: after,
    credits_used: uses.map(({ creditId, credits }) => ({
      transaction_id: creditId,
      credits: plain(credits),
    })),
  });
  await lowerCredits(unit, uses);
  const changed = await writeBalance(unit, wallet, after);
  return { wallet: changed, transaction };
}
