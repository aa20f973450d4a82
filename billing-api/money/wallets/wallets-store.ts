import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { ONE, ZERO } from '../../../contract/number/decimal.js';
import { noRows } from '../../../sql/columns.js';
import {
  WALLET_TRANSACTIONS,
  type WalletTransactionRow,
} from '../../declarations/money/wallet-transaction.resource.js';
import {
  WALLETS,
  walletToDto,
  type NewWallet,
  type WalletRow,
} from '../../declarations/money/wallet.resource.js';
import type { CreditUse } from '../../domain/wallet/consumption.js';
import { isOfEnvironment, rowIsOfEnvironment, rowIsIn } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { announce } from '../../records/recorded-change.js';
import { Refusal, reworded } from '../../records/refusal.js';
import type { StatementUnit, Unit } from '../../records/unit.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

/** What a new wallet has where nothing else is said. */
export const NEW_WALLET = {
  name: null,
  description: null,
  wallet_type: 'PRE_PAID',
  wallet_status: 'active',
  credit_balance: ZERO,
  conversion_rate: ONE,
  topup_conversion_rate: ONE,
  config: { allowed_price_types: ['ALL'] },
  auto_topup: null,
  alert_settings: null,
  alert_state: 'ok',
  version: 1,
} as const satisfies Partial<NewWallet>;

/** A customer has one active wallet of a kind (docs/domain.md 20.1). */
function takenRefusal({ wallet_type: type, currency }: NewWallet): Refusal {
  const kind = `active ${type} wallet in ${currency} with these rates and allowed_price_types`;
  const problem = `the customer has an ${kind}: top that one up, or terminate it first`;
  return new Refusal('already_exists', problem, { wallet_type: 'is taken' });
}

/** Stores a wallet, and tells of it. */
export async function storeWallet(unit: Unit, wallet: NewWallet): Promise<WalletRow> {
  const row = await reworded(
    () => createRecord(unit, WALLETS, wallet),
    (refusal) => (refusal.code === 'already_exists' ? takenRefusal(wallet) : refusal),
  );
  announce(unit, WALLETS, {
    id: row.id,
    name: 'wallet.created',
    told: walletToDto(row),
  });
  return row;
}

/**
 * The wallet that money goes back to: the oldest active one of the currency that is worth what it
 * cost and may pay everything; opened when there is none (docs/domain.md 20.1). Locked.
 */
export async function lockRefundWallet(
  unit: Unit,
  owner: { readonly customerId: string; readonly currency: string },
): Promise<WalletRow> {
  const { customerId, currency } = owner;
  return findOrStore(unit, {
    find: () =>
      unit.tx.maybeOne(sql.type(WALLETS.row)`
        SELECT * FROM wallets
        WHERE customer_id = ${customerId} AND currency = ${currency} AND wallet_type = 'PRE_PAID'
          AND wallet_status = 'active' AND conversion_rate = 1
          AND config -> 'allowed_price_types' ? 'ALL' AND ${isOfEnvironment}
        ORDER BY created_at, id LIMIT 1 FOR NO KEY UPDATE`),
    wallet: { ...NEW_WALLET, customer_id: customerId, currency },
  });
}

/** Locks the active PRE_PAID wallets of these customers, in the order of their ids. */
export async function lockPrepaidWallets(
  { tx }: StatementUnit,
  customerIds: readonly string[],
): Promise<void> {
  if (customerIds.length === 0) return;
  await tx.query(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM wallets
    WHERE customer_id = ANY (${sql.array([...new Set(customerIds)], 'text')})
      AND wallet_type = 'PRE_PAID' AND wallet_status = 'active' AND ${isOfEnvironment}
    ORDER BY id FOR NO KEY UPDATE`);
}

/** What a lock answers, which says nothing. */
const locked = z.object({ lock: z.literal('') });

/** How a wallet is found, and what it is when there is none. */
type FoundOrNew = {
  readonly find: () => Promise<WalletRow | null>;
  readonly wallet: NewWallet;
};

/**
 * The wallet that is found, or a new one. Two who both find none wait for each other, so that the
 * second finds what the first has opened.
 */
export async function findOrStore(unit: Unit, { find, wallet }: FoundOrNew): Promise<WalletRow> {
  const found = await find();
  if (found !== null) return found;
  const lock = `minutebook:wallets:${wallet.customer_id}`;
  await unit.tx.query(sql.type(locked)`
    SELECT pg_advisory_xact_lock(hashtextextended(${lock}, 0)) AS lock`);
  return (await find()) ?? storeWallet(unit, wallet);
}

/** Customers whose wallets may pay, by the type of wallet. */
export type Payers = Readonly<Record<WalletRow['wallet_type'], readonly string[]>>;

/**
 * The active wallets of these customers with credits in them, oldest first, locked in one order,
 * the PRE_PAID ones first: two that pay at once never wait for each other.
 */
export async function lockWalletsOf(
  { tx }: StatementUnit,
  { PRE_PAID: prepaid, POST_PAID: postpaid }: Payers,
): Promise<readonly WalletRow[]> {
  const all = [...new Set([...prepaid, ...postpaid])];
  if (all.length === 0) return [];
  const rows = await tx.any(sql.type(WALLETS.row)`
    SELECT * FROM wallets
    WHERE customer_id = ANY (${sql.array(all, 'text')})
      AND customer_id = ANY (CASE wallet_type WHEN 'PRE_PAID' THEN ${sql.array([...prepaid], 'text')}
        ELSE ${sql.array([...postpaid], 'text')} END)
      AND wallet_status = 'active' AND credit_balance > 0 AND ${isOfEnvironment}
    ORDER BY wallet_type DESC, id FOR NO KEY UPDATE`);
  return [...rows].sort((left, right) => left.created_at - right.created_at);
}

/** As `lockWalletsOf`, of one type. */
export function lockPayingWallets(
  unit: StatementUnit,
  customerIds: readonly string[],
  type: WalletRow['wallet_type'],
): Promise<readonly WalletRow[]> {
  const none = { PRE_PAID: [], POST_PAID: [] };
  return lockWalletsOf(unit, { ...none, [type]: customerIds });
}

/**
 * The credits of a locked wallet of which something is left. Expired ones that are still there
 * count when `isUsable` is false, or while the bill of their time is not paid: then their expiry is
 * postponed (docs/domain.md 20.6).
 */
export async function findCreditsLeft(
  { tx, now }: Unit,
  { id }: Pick<WalletRow, 'id'>,
  isUsable: boolean,
): Promise<readonly WalletTransactionRow[]> {
  const at = formatInstant(now);
  return tx.any(sql.type(WALLET_TRANSACTIONS.row)`
    SELECT * FROM wallet_transactions AS credit
    WHERE credit.wallet_id = ${id} AND credit.type = 'credit'
      AND credit.transaction_status = 'completed' AND credit.credits_available > 0
      AND ${rowIsOfEnvironment('credit')}
      AND (NOT ${isUsable}::bool OR credit.expiry_date IS NULL
        OR credit.expiry_date > ${at}::timestamptz
        OR ${isPostponed(at)})
    ORDER BY credit.created_at, credit.id`);
}

/** Whether the expiry of the row `credit` waits for a bill. */
export function isPostponed(at: string) {
  return sql.fragment`(EXISTS (
      SELECT FROM invoices AS invoice
      WHERE invoice.customer_id = credit.customer_id AND ${rowIsOfEnvironment('invoice')}
        AND invoice.period_start <= credit.expiry_date AND invoice.period_end >= credit.expiry_date
        AND (${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'draft')}
          OR (${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'claimed')} AND invoice.amount_remaining > 0)))
    OR EXISTS (
      SELECT FROM subscriptions AS subscription
      WHERE ((subscription.customer_id = credit.customer_id
            AND subscription.invoicing_customer_id IS NULL)
          OR subscription.invoicing_customer_id = credit.customer_id)
        AND ${rowIsOfEnvironment('subscription')}
        AND subscription.subscription_status = 'active' AND subscription.status = 'published'
        AND subscription.current_period_end <= ${at}::timestamptz))`;
}

/** Lowers what is left of credits by what a debit took of them. */
export async function lowerCredits({ tx }: Unit, uses: readonly CreditUse[]): Promise<void> {
  if (uses.length === 0) return;
  const rows = uses.map(({ creditId, credits }) => ({
    id: creditId,
    used: credits.toFixed(),
  }));
  await tx.query(sql.type(noRows)`
    UPDATE wallet_transactions AS credit
    SET credits_available = credit.credits_available - given.used
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS given (id text, used numeric)
    WHERE credit.id = given.id AND ${rowIsOfEnvironment('credit')}`);
}

/** The credit or debit of a wallet that was made with this key; null when there is none. */
export async function findByKey(
  { tx }: StatementUnit,
  wallet: Pick<WalletRow, 'id'>,
  {
    type,
    key,
  }: {
    readonly type: WalletTransactionRow['type'];
    readonly key: string | null;
  },
): Promise<WalletTransactionRow | null> {
  if (key === null) return null;
  return tx.maybeOne(sql.type(WALLET_TRANSACTIONS.row)`
    SELECT * FROM wallet_transactions
    WHERE wallet_id = ${wallet.id} AND type = ${type} AND idempotency_key = ${key}
      AND ${isOfEnvironment}`);
}
