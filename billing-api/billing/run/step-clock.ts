import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { instantColumn, noRows } from '../../../sql/columns.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { findAutoCancel } from '../../platform/settings/auto-cancel.js';
import { isOfEnvironment, rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import {
  readUnit,
  writeUnit,
  type ReadUnit,
  type Unit,
  type WriteDependencies,
} from '../../records/unit.js';
import { topUpPauses } from '../wallets/auto-top-up.js';
import { isRenewalUntold, isUnpaid } from '../due/due-items.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

/** A clock on its way. */
export type Advance = {
  readonly id: string;
  readonly now: InstantMs;
  readonly to: InstantMs;
};

const advanceRow = z.object({ now: instantColumn, advance_to: instantColumn });

/** The advance of a clock that is under way; null when none is. */
export function findAdvance(
  dependencies: WriteDependencies,
  occasion: Occasion,
  id: string,
): Promise<Advance | null> {
  return readUnit(dependencies, occasion, async ({ tx }) => {
    const row = await tx.maybeOne(sql.type(advanceRow)`
      SELECT now, advance_to FROM test_clocks
      WHERE id = ${id} AND clock_status = 'advancing' AND ${isOfEnvironment}`);
    return row === null ? null : { id, now: row.now, to: row.advance_to };
  });
}

const dueRow = z.object({ at: instantColumn.nullable() });

/** The next instant after the one that the clock shows at which something falls due; or null. */
async function findNextDue(unit: ReadUnit, to: InstantMs): Promise<InstantMs | null> {
  const { tx, now } = unit;
  const { enabled, grace_period_days: days } = await findAutoCancel(unit);
  const grace = sql.fragment`${days} * interval '24 hours' + interval '1 millisecond'`;
  const after = sql.fragment`${formatInstant(now)}::timestamptz`;
  const until = sql.fragment`${formatInstant(to)}::timestamptz`;
  const { at } = await tx.one(sql.type(dueRow)`
    SELECT min(due.at) AS at FROM (
      SELECT min(current_period_end) AS at FROM subscriptions
      WHERE ${rowIsIn(['subscription_status'], SUBSCRIPTION, 'running')} AND status = 'published'
        AND current_period_end > ${after} AND ${isOfEnvironment}
      UNION ALL
      SELECT min(least(end_date, cancel_at)) FROM subscriptions
      WHERE status = 'published' AND subscription_status IN ('draft', 'incomplete')
        AND least(end_date, cancel_at) > ${after} AND ${isOfEnvironment}
      UNION ALL
      SELECT min(current_period_end) - interval '24 hours' FROM subscriptions
      WHERE ${isRenewalUntold} AND current_period_end - interval '24 hours' > ${after}
        AND ${isOfEnvironment}
      UNION ALL
      SELECT min(start_date) FROM subscription_phases
      WHERE begun_at IS NULL AND status = 'published' AND start_date > ${after} AND ${isOfEnvironment}
      UNION ALL
      SELECT min(pause_start) FROM subscription_pauses
      WHERE pause_status = 'scheduled' AND pause_start > ${after} AND ${isOfEnvironment}
      UNION ALL
      SELECT min(ends_at) FROM subscription_pauses
      WHERE pause_status = 'active' AND ends_at > ${after} AND ${isOfEnvironment}
      UNION ALL
      SELECT min(finalize_at) FROM invoices
      WHERE ${rowIsIn(['invoice_status'], INVOICE, 'draft')} AND finalize_at > ${after} AND ${isOfEnvironment}
      UNION ALL
      SELECT min(due_date) + interval '1 millisecond' FROM invoices
      WHERE ${rowIsIn(['invoice_status'], INVOICE, 'claimed')} AND amount_remaining > 0 AND overdue_at IS NULL
        AND due_date >= ${after} AND ${isOfEnvironment}
      UNION ALL
      SELECT min(next_attempt_at) FROM invoices
      WHERE ${rowIsIn(['invoice_status'], INVOICE, 'claimed')} AND payment_status = 'FAILED'
        AND next_attempt_at > ${after} AND ${isOfEnvironment}
      UNION ALL
      SELECT min(invoice.due_date) + ${grace} FROM invoices AS invoice
      JOIN subscriptions AS subscription ON subscription.id = invoice.subscription_id
        AND ${rowIsOfEnvironment('subscription')}
      WHERE ${enabled} AND ${isUnpaid}
        AND invoice.due_date + ${grace} > ${after} AND ${rowIsOfEnvironment('invoice')}
      UNION ALL
      SELECT min(coalesce(next_application_at, credit_grant_anchor, start_date)) FROM credit_grants
      WHERE scope = 'SUBSCRIPTION' AND NOT has_ended AND status = 'published'
        AND coalesce(next_application_at, credit_grant_anchor, start_date) > ${after}
        AND ${isOfEnvironment}
      UNION ALL
      SELECT min(expiry_date) FROM wallet_transactions
      WHERE type = 'credit' AND transaction_status = 'completed' AND credits_available > 0
        AND expiry_date > ${after} AND ${isOfEnvironment}
      UNION ALL
      SELECT min(pause.at) FROM (${topUpPauses}) AS pause WHERE pause.at > ${after}
    ) AS due WHERE due.at <= ${until}`);
  return at;
}

async function write(
  dependencies: WriteDependencies,
  occasion: Occasion<JobActor>,
  work: (unit: Unit) => Promise<InstantMs | null>,
): Promise<InstantMs | null> {
  const done: InstantMs | null | Refusal = await writeUnit(dependencies, occasion, work);
  if (isRefusal(done)) throw new Error(done.message);
  return done;
}

/**
 * Turns a clock to the next instant at which something falls due, and answers it; null when nothing
 * does before its end, or the clock is gone.
 */
export function stepClock(
  dependencies: WriteDependencies,
  occasion: Occasion<JobActor>,
  { id, to }: Advance,
): Promise<InstantMs | null> {
  return write(dependencies, occasion, async (unit) => {
    const at = await findNextDue(unit, to);
    if (at === null) return null;
    const { rowCount } = await unit.tx.query(sql.type(noRows)`
      UPDATE test_clocks SET now = ${formatInstant(at)}::timestamptz
      WHERE id = ${id} AND clock_status = 'advancing' AND ${isOfEnvironment}`);
    return rowCount === 1 ? at : null;
  });
}

/** Turns a clock to where its advance leads: nothing more is due before. */
export async function endAdvance(
  dependencies: WriteDependencies,
  occasion: Occasion<JobActor>,
  { id, to }: Advance,
): Promise<void> {
  await write(dependencies, occasion, async ({ tx }) => {
    await tx.query(sql.type(noRows)`
      UPDATE test_clocks SET now = ${formatInstant(to)}::timestamptz, clock_status = 'ready',
        advance_to = NULL
      WHERE id = ${id} AND clock_status = 'advancing' AND ${isOfEnvironment}`);
    return null;
  });
}

/** Leaves a clock where its advance could not go on, with the reason. */
export async function failAdvance(
  dependencies: WriteDependencies,
  occasion: Occasion<JobActor>,
  { advance, reason }: { readonly advance: Advance; readonly reason: string },
): Promise<void> {
  await write(dependencies, occasion, async ({ tx }) => {
    await tx.query(sql.type(noRows)`
      UPDATE test_clocks SET clock_status = 'failed', failure_reason = ${reason.slice(0, 1000)},
        advance_to = NULL
      WHERE id = ${advance.id} AND ${isOfEnvironment}`);
    return null;
  });
}
