import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../contract/instant.js';
import { INVOICES, type InvoiceRow } from '../declarations/invoices/invoice.resource.js';
import {
  WALLET_TRANSACTIONS,
  type WalletTransactionRow,
} from '../declarations/money/wallet-transaction.resource.js';
import { WALLETS } from '../declarations/money/wallet.resource.js';
import { PHASES, type PhaseRow } from '../declarations/subscriptions/phase.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../declarations/subscriptions/subscription.resource.js';
import { postingsOfLoss } from '../domain/ledger/postings.js';
import { postGroups, type NewGroup } from '../money/ledger/post-groups.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../records/conditions.js';
import { lockRecordsForChange } from '../records/find-record.js';
import { announce } from '../records/recorded-change.js';
import type { Unit } from '../records/unit.js';
import { mustGet } from '../../runtime/failure.js';
import { announcePhase, beginPhases } from '../subscriptions/phases-store.js';
import { toldOfSubscription } from '../subscriptions/subscription-events.js';
import { storeDebit } from '../money/wallets/move-credits.js';
import { groupOf, shareOf } from '../money/wallets/wallet-operations.js';
import { isPostponed } from '../money/wallets/wallets-store.js';
import { WAITING_DUE } from '../subscription-life/cancel/end-waiting.js';
import { GRANTS_DUE } from '../money/wallets/apply-grants.js';
import { PAUSES_DUE } from '../subscription-life/pauses/settle-pauses.js';
import { RETRIES_DUE } from '../money/payments/retry-charges.js';
import { announceInvoice } from '../documents/store/announce-invoice.js';
import { dueOf, isWanted, lockDue, type DueQuery } from '../due/due-items.js';
import { dueStep, oneByOne, type DueStep } from '../due/due-step.js';
import { CHILDREN_DUE } from './renew-children.js';
import { EDITED_DUE } from './run-billing.js';

/** Jobs of single records that could not be done with the others. */
const EXPIRE_CREDITS = 'expire-credits';
const TELL_OVERDUE = 'tell-overdue-invoice';
const TELL_RENEWAL = 'tell-renewal';
const BEGIN_PHASE = 'begin-phase';

const idOf = ({ id }: { readonly id: string }): string => id;

const idRow = z.object({ wallet_id: z.string() });

/** Credits that have expired and whose expiry is not postponed, of wallets that are then locked. */
async function lockExpired(unit: Unit, due: DueQuery): Promise<readonly WalletTransactionRow[]> {
  const expired = sql.fragment`FROM (${dueOf(unit, 'credit_expiry')}) AS due
    JOIN wallet_transactions AS credit ON credit.id = due.id AND ${rowIsOfEnvironment('credit')}
    WHERE NOT ${isPostponed(formatInstant(unit.now))}
      AND ${isWanted(EXPIRE_CREDITS, sql.fragment`due.id`, due)}`;
  const wallets = await unit.tx.any(sql.type(idRow)`
    SELECT DISTINCT wallet_id FROM (
      SELECT credit.wallet_id ${expired} ORDER BY due.at, due.id LIMIT ${due.limit}) AS found`);
  if (wallets.length === 0) return [];
  const ids = wallets.map(({ wallet_id: id }) => id);
  await lockRecordsForChange(unit, WALLETS, ids);
  return unit.tx.any(sql.type(WALLET_TRANSACTIONS.row)`
    SELECT credit.* ${expired} AND credit.wallet_id = ANY (${sql.array(ids, 'text')})
    ORDER BY due.at, due.id LIMIT ${due.limit}`);
}

/** Takes what is left of expired credits (docs/domain.md 20.6). */
async function expire(unit: Unit, credits: readonly WalletTransactionRow[]): Promise<void> {
  const wallets = new Map(
    await lockRecordsForChange(
      unit,
      WALLETS,
      credits.map(({ wallet_id: id }) => id),
    ),
  );
  const groups: NewGroup[] = [];
  for (const { id, wallet_id: walletId, credits_available: left } of credits) {
    const wallet = mustGet(wallets, walletId, 'a wallet');
    const moved = await storeDebit(unit, wallet, {
      movement: { credits: left, reason: 'CREDIT_EXPIRED', parentId: id },
      uses: [{ creditId: id, credits: left }],
    });
    wallets.set(walletId, moved.wallet);
    groups.push({ ...groupOf(moved), postings: postingsOfLoss(shareOf(moved)) });
  }
  await postGroups(unit, groups);
}

/** Notes of unpaid invoices whose due date has passed that this is told (docs/domain.md 17.5). */
async function takeOverdue(unit: Unit, due: DueQuery): Promise<readonly InvoiceRow[]> {
  const rows = await lockDue(unit, INVOICES, { kind: 'overdue', job: TELL_OVERDUE, due });
  if (rows.length === 0) return [];
  return unit.tx.any(sql.type(INVOICES.row)`
    WITH told AS (
      UPDATE invoices SET overdue_at = ${formatInstant(unit.now)}::timestamptz
      WHERE id = ANY (${sql.array(rows.map(idOf), 'text')}) AND ${isOfEnvironment}
      RETURNING *)
    SELECT * FROM told ORDER BY due_date, id`);
}

async function tellOverdue(unit: Unit, row: InvoiceRow): Promise<void> {
  await announceInvoice(unit, row, 'invoice.payment.overdue');
}

/**
 * Notes of active subscriptions that are renewed within a day that this is told, once per period
 * (docs/domain.md 32.3). A period that a pause has made longer, or a threshold invoice has split,
 * is one.
 */
async function takeNearRenewals(unit: Unit, due: DueQuery): Promise<readonly SubscriptionRow[]> {
  const where = sql.fragment`record.current_period_end > ${formatInstant(unit.now)}::timestamptz`;
  const near = { kind: 'renewal_notice', job: TELL_RENEWAL, due, where } as const;
  const rows = await lockDue(unit, SUBSCRIPTIONS, near);
  if (rows.length === 0) return [];
  return unit.tx.any(sql.type(SUBSCRIPTIONS.row)`
    WITH told AS (
      UPDATE subscriptions SET renewal_noticed_end = current_period_end
      WHERE id = ANY (${sql.array(rows.map(idOf), 'text')}) AND ${isOfEnvironment}
      RETURNING *)
    SELECT * FROM told ORDER BY current_period_end, id`);
}

async function tellRenewal(unit: Unit, row: SubscriptionRow): Promise<void> {
  const told = await toldOfSubscription(unit, row);
  announce(unit, SUBSCRIPTIONS, { id: row.id, name: 'subscription.renewal.due', told });
}

/** Begins the phases whose time has come. */
async function takeBegun(unit: Unit, due: DueQuery): Promise<readonly PhaseRow[]> {
  const rows = await lockDue(unit, PHASES, { kind: 'phase', job: BEGIN_PHASE, due });
  return rows.length === 0 ? [] : beginPhases(unit, rows.map(idOf));
}

function tellPhase(unit: Unit, phase: PhaseRow): Promise<void> {
  announcePhase(unit, phase, 'updated');
  return Promise.resolve();
}

export const EXPIRIES_DUE = dueStep({
  job: EXPIRE_CREDITS,
  find: lockExpired,
  idOf,
  settle: expire,
});
export const OVERDUES_DUE = dueStep({
  job: TELL_OVERDUE,
  find: takeOverdue,
  idOf,
  settle: oneByOne(tellOverdue),
});
export const NOTICES_DUE = dueStep({
  job: TELL_RENEWAL,
  find: takeNearRenewals,
  idOf,
  settle: oneByOne(tellRenewal),
});
export const PHASES_DUE = dueStep({
  job: BEGIN_PHASE,
  find: takeBegun,
  idOf,
  settle: oneByOne(tellPhase),
});

/** All steps of the billing of an environment that are done in one transaction. */
export const DUE_STEPS: readonly DueStep[] = [
  PAUSES_DUE,
  CHILDREN_DUE,
  WAITING_DUE,
  GRANTS_DUE,
  EDITED_DUE,
  EXPIRIES_DUE,
  OVERDUES_DUE,
  RETRIES_DUE,
  NOTICES_DUE,
  PHASES_DUE,
];
