import { sql } from 'slonik';
import { z } from 'zod';
import { DAY_MS, formatInstant } from '../../../contract/instant.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import {
  WALLET_TRANSACTIONS,
  type WalletTransactionRow,
} from '../../declarations/money/wallet-transaction.resource.js';
import { WALLETS } from '../../declarations/money/wallet.resource.js';
import type { PhaseRow } from '../../declarations/subscriptions/phase.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { postingsOfLoss } from '../../domain/ledger/postings.js';
import { postGroups, type NewGroup } from '../../ledger/post-groups.js';
import { isOfEnvironment, rowIsOfEnvironment, rowIsIn } from '../../records/conditions.js';
import { lockRecordsForChange } from '../../records/find-record.js';
import { announce } from '../../records/recorded-change.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { mustGet } from '../../../runtime/failure.js';
import { announcePhase, takeBegunPhases } from '../../subscriptions/phases-store.js';
import { toldOfSubscription } from '../../subscriptions/subscription-events.js';
import { storeDebit } from '../../wallets/move-credits.js';
import { groupOf, shareOf } from '../../wallets/wallet-operations.js';
import { isPostponed } from '../../wallets/wallets-store.js';
import { WAITING_DUE } from '../cancel/end-waiting.js';
import { GRANTS_DUE } from '../grants/apply-grants.js';
import { PAUSES_DUE } from '../pauses/settle-pauses.js';
import { RETRIES_DUE } from '../payments/retry-charges.js';
import { announceInvoice } from '../stored/announce-invoice.js';
import { isRenewalUntold, isWanted, type DueQuery } from '../due/due-items.js';
import { dueStep, oneByOne, type DueStep } from '../due/due-step.js';
import { CHILDREN_DUE } from './renew-children.js';
import { EDITED_DUE } from './run-billing.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

/** Jobs of single records that could not be done with the others. */
const EXPIRE_CREDITS = 'expire-credits';
const TELL_OVERDUE = 'tell-overdue-invoice';
const TELL_RENEWAL = 'tell-renewal';
const BEGIN_PHASE = 'begin-phase';

const idRow = z.object({ wallet_id: z.string() });

/** Credits that have expired and whose expiry is not postponed, of wallets that are then locked. */
async function lockExpired(unit: Unit, due: DueQuery): Promise<readonly WalletTransactionRow[]> {
  const at = formatInstant(unit.now);
  const expired = sql.fragment`credit.type = 'credit' AND credit.transaction_status = 'completed'
      AND credit.credits_available > 0 AND credit.expiry_date <= ${at}::timestamptz
      AND NOT ${isPostponed(at)} AND ${isWanted(EXPIRE_CREDITS, sql.fragment`credit.id`, due)}`;
  const wallets = await unit.tx.any(sql.type(idRow)`
    SELECT DISTINCT wallet_id FROM (
      SELECT credit.wallet_id FROM wallet_transactions AS credit
      WHERE ${expired} AND ${rowIsOfEnvironment('credit')} ORDER BY credit.expiry_date, credit.id LIMIT ${due.limit}) AS found`);
  const ids = wallets.map(({ wallet_id: id }) => id);
  await lockRecordsForChange(unit, WALLETS, ids);
  return unit.tx.any(sql.type(WALLET_TRANSACTIONS.row)`
    SELECT * FROM wallet_transactions AS credit
    WHERE credit.wallet_id = ANY (${sql.array(ids, 'text')}) AND ${expired}
      AND ${rowIsOfEnvironment('credit')}
    ORDER BY credit.expiry_date, credit.id LIMIT ${due.limit}`);
}

/** Takes what is left of expired credits (docs/domain.md 20.6). */
async function expire(
  unit: Unit,
  credits: readonly WalletTransactionRow[],
): Promise<Refusal | null> {
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
  return null;
}

/** Notes of unpaid invoices whose due date has passed that this is told (docs/domain.md 17.5). */
function takeOverdue({ tx, now }: Unit, due: DueQuery): Promise<readonly InvoiceRow[]> {
  const at = formatInstant(now);
  return tx.any(sql.type(INVOICES.row)`
    WITH told AS (
      UPDATE invoices SET overdue_at = ${at}::timestamptz
      WHERE id IN (
          SELECT id FROM invoices
          WHERE ${rowIsIn(['invoice_status'], INVOICE, 'claimed')} AND amount_remaining > 0 AND overdue_at IS NULL
            AND due_date < ${at}::timestamptz AND ${isOfEnvironment}
            AND ${isWanted(TELL_OVERDUE, sql.fragment`invoices.id`, due)}
          ORDER BY due_date, id LIMIT ${due.limit} FOR NO KEY UPDATE SKIP LOCKED)
        AND ${isOfEnvironment}
      RETURNING *)
    SELECT * FROM told ORDER BY due_date, id`);
}

async function tellOverdue(unit: Unit, row: InvoiceRow): Promise<null> {
  await announceInvoice(unit, row, 'invoice.payment.overdue');
  return null;
}

/**
 * Notes of active subscriptions that are renewed within a day that this is told, once per period
 * (docs/domain.md 32.3). A period that a pause has made longer, or a threshold invoice has split,
 * is one.
 */
function takeNearRenewals({ tx, now }: Unit, due: DueQuery): Promise<readonly SubscriptionRow[]> {
  const until = formatInstant(now + DAY_MS);
  return tx.any(sql.type(SUBSCRIPTIONS.row)`
    WITH told AS (
      UPDATE subscriptions SET renewal_noticed_end = current_period_end
      WHERE id IN (
          SELECT id FROM subscriptions
          WHERE ${isRenewalUntold} AND current_period_end <= ${until}::timestamptz
            AND current_period_end > ${formatInstant(now)}::timestamptz AND ${isOfEnvironment}
            AND ${isWanted(TELL_RENEWAL, sql.fragment`subscriptions.id`, due)}
          ORDER BY current_period_end, id LIMIT ${due.limit} FOR NO KEY UPDATE SKIP LOCKED)
        AND ${isOfEnvironment}
      RETURNING *)
    SELECT * FROM told ORDER BY current_period_end, id`);
}

async function tellRenewal(unit: Unit, row: SubscriptionRow): Promise<null> {
  const told = await toldOfSubscription(unit, row);
  announce(unit, SUBSCRIPTIONS, { id: row.id, name: 'subscription.renewal.due', told });
  return null;
}

const idOf = ({ id }: { readonly id: string }): string => id;

/** What is taken and told when its time has come, in this order. */
export const MONEY_DUE = [
  dueStep({ ...{ job: EXPIRE_CREDITS, find: lockExpired, idOf }, settle: expire }),
  dueStep({ ...{ job: TELL_OVERDUE, find: takeOverdue, idOf }, settle: oneByOne(tellOverdue) }),
  RETRIES_DUE,
  dueStep({
    ...{ job: TELL_RENEWAL, find: takeNearRenewals, idOf },
    settle: oneByOne(tellRenewal),
  }),
  dueStep({
    ...{ job: BEGIN_PHASE, idOf },
    find: (unit, due) => {
      const wanted = isWanted(BEGIN_PHASE, sql.fragment`phase.id`, due);
      return takeBegunPhases(unit, { limit: due.limit, isWanted: wanted });
    },
    settle: oneByOne((unit, phase: PhaseRow) => {
      announcePhase(unit, phase, 'updated');
      return Promise.resolve(null);
    }),
  }),
] as const;

/** All steps of the billing of an environment that are done in one transaction. */
export const DUE_STEPS: readonly DueStep[] = [
  ...[PAUSES_DUE, CHILDREN_DUE, WAITING_DUE, GRANTS_DUE, EDITED_DUE],
  ...MONEY_DUE,
];
