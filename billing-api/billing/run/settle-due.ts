import { sql } from 'slonik';
import { z } from 'zod';
import { DAY_MS, formatInstant } from '../../../contract/instant.js';
import { INVOICES } from '../../declarations/invoices/invoice.resource.js';
import {
  WALLET_TRANSACTIONS,
  type WalletTransactionRow,
} from '../../declarations/money/wallet-transaction.resource.js';
import { WALLETS } from '../../declarations/money/wallet.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { postingsOfLoss } from '../../domain/ledger/postings.js';
import { postGroups, type NewGroup } from '../../ledger/post-groups.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../../records/conditions.js';
import { lockRecordsForChange } from '../../records/find-record.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { announce } from '../../records/recorded-change.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { writeUnit, type Unit } from '../../records/unit.js';
import { mustGet } from '../../../runtime/failure.js';
import { beginPhases } from '../../subscriptions/phases-store.js';
import { toldOfSubscription } from '../../subscriptions/subscription-events.js';
import { storeDebit } from '../../wallets/move-credits.js';
import { groupOf, shareOf } from '../../wallets/wallet-operations.js';
import { isPostponed } from '../../wallets/wallets-store.js';
import { applyDueGrants } from '../grants/apply-grants.js';
import { settlePauses } from '../pauses/settle-pauses.js';
import { retryCharges } from '../payments/retry-charges.js';
import { announceInvoice } from '../stored/announce-invoice.js';
import type { BillingDependencies } from '../stored/compute-tasks.js';
import { isRenewalUntold } from './due-items.js';
import { renewGroupedChildren } from './renew-children.js';

const idRow = z.object({ wallet_id: z.string() });

/** Credits that have expired and whose expiry is not postponed, of wallets that are then locked. */
async function lockExpired(unit: Unit, limit: number): Promise<readonly WalletTransactionRow[]> {
  const at = formatInstant(unit.now);
  const expired = sql.fragment`credit.type = 'credit' AND credit.transaction_status = 'completed'
      AND credit.credits_available > 0 AND credit.expiry_date <= ${at}::timestamptz
      AND NOT ${isPostponed(at)}`;
  const wallets = await unit.tx.any(sql.type(idRow)`
    SELECT DISTINCT wallet_id FROM (
      SELECT credit.wallet_id FROM wallet_transactions AS credit
      WHERE ${expired} AND ${rowIsOfEnvironment('credit')} ORDER BY credit.expiry_date, credit.id LIMIT ${limit}) AS found`);
  const ids = wallets.map(({ wallet_id: id }) => id);
  await lockRecordsForChange(unit, WALLETS, ids);
  return unit.tx.any(sql.type(WALLET_TRANSACTIONS.row)`
    SELECT * FROM wallet_transactions AS credit
    WHERE credit.wallet_id = ANY (${sql.array(ids, 'text')}) AND ${expired}
      AND ${rowIsOfEnvironment('credit')}
    ORDER BY credit.expiry_date, credit.id LIMIT ${limit}`);
}

/** Takes what is left of expired credits (docs/domain.md 20.6). */
async function expireCredits(unit: Unit, limit: number): Promise<number | Refusal> {
  const credits = await lockExpired(unit, limit);
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
    if (isRefusal(moved)) return moved;
    wallets.set(walletId, moved.wallet);
    groups.push({ ...groupOf(moved), postings: postingsOfLoss(shareOf(moved)) });
  }
  await postGroups(unit, groups);
  return credits.length;
}

/** Tells once of each unpaid invoice whose due date has passed (docs/domain.md 17.5). */
async function announceOverdue(unit: Unit, limit: number): Promise<number> {
  const at = formatInstant(unit.now);
  const rows = await unit.tx.any(sql.type(INVOICES.row)`
    WITH told AS (
      UPDATE invoices SET overdue_at = ${at}::timestamptz
      WHERE id IN (
          SELECT id FROM invoices
          WHERE invoice_status = 'FINALIZED' AND amount_remaining > 0 AND overdue_at IS NULL
            AND due_date < ${at}::timestamptz AND ${isOfEnvironment}
          ORDER BY due_date, id LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED)
        AND ${isOfEnvironment}
      RETURNING *)
    SELECT * FROM told ORDER BY due_date, id`);
  for (const row of rows) await announceInvoice(unit, row, 'invoice.payment.overdue');
  return rows.length;
}

type Settling = (unit: Unit, limit: number) => Promise<number | Refusal>;

async function settle(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  { work, limit }: { readonly work: Settling; readonly limit: number },
): Promise<boolean> {
  const done = await writeUnit(dependencies, occasion, (unit) => work(unit, limit));
  // The job has no one whom a refusal could be told: it fails and is tried again.
  if (isRefusal(done)) throw new Error(done.message);
  return done === limit;
}

/**
 * Tells of each active subscription that is renewed within a day, once per period (docs/domain.md
 * 32.3). A period that a pause has made longer, or a threshold invoice has split, is one.
 */
async function announceRenewals(unit: Unit, limit: number): Promise<number> {
  const until = formatInstant(unit.now + DAY_MS);
  const rows = await unit.tx.any(sql.type(SUBSCRIPTIONS.row)`
    WITH told AS (
      UPDATE subscriptions SET renewal_noticed_end = current_period_end
      WHERE id IN (
          SELECT id FROM subscriptions
          WHERE ${isRenewalUntold} AND current_period_end <= ${until}::timestamptz
            AND current_period_end > ${formatInstant(unit.now)}::timestamptz AND ${isOfEnvironment}
          ORDER BY current_period_end, id LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED)
        AND ${isOfEnvironment}
      RETURNING *)
    SELECT * FROM told ORDER BY current_period_end, id`);
  for (const row of rows) {
    const told = await toldOfSubscription(unit, row);
    announce(unit, SUBSCRIPTIONS, { id: row.id, name: 'subscription.renewal.due', told });
  }
  return rows.length;
}

/**
 * Gives the credits of grants that are due.
 * @returns whether there may be more. @throws DependencyError when a database fails.
 */
export function grantCredits(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  limit: number,
): Promise<boolean> {
  return settle(dependencies, occasion, { work: applyDueGrants, limit });
}

/**
 * Begins and ends the pauses of subscriptions that are due, and renews grouped children whose
 * periods end inside one of their parent; otherwise as `grantCredits`.
 */
export async function pauseDue(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  limit: number,
): Promise<boolean> {
  let isMore = false;
  const work: Settling = async (unit) => {
    const done = await settlePauses(unit, limit);
    isMore = done !== 0;
    return done;
  };
  await settle(dependencies, occasion, { work, limit });
  const hasEnded = await settle(dependencies, occasion, { work: renewGroupedChildren, limit });
  return isMore || hasEnded;
}

/**
 * Takes expired credits, tries declined charges again, and tells of overdue invoices, of renewals
 * that are near and of phases that have begun; otherwise as `grantCredits`.
 */
export async function settleDue(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  limit: number,
): Promise<boolean> {
  const hasExpired = await settle(dependencies, occasion, { work: expireCredits, limit });
  const hasOverdue = await settle(dependencies, occasion, { work: announceOverdue, limit });
  const hasRetries = await settle(dependencies, occasion, { work: retryCharges, limit });
  const hasRenewals = await settle(dependencies, occasion, { work: announceRenewals, limit });
  const hasPhases = await settle(dependencies, occasion, { work: beginPhases, limit });
  return hasExpired || hasOverdue || hasRetries || hasRenewals || hasPhases;
}
