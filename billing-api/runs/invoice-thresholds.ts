import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../contract/instant.js';
import { assertPresent, DependencyError, messageOf, mustGet } from '../../runtime/failure.js';
import { instantColumn } from '../../sql/columns.js';
import { SUBSCRIPTIONS } from '../declarations/subscriptions/subscription.resource.js';
import { splitLastRow } from '../domain/periods/ledger-rows.js';
import { lastRecorded, type PeriodLedger } from '../domain/periods/period-ledger.js';
import { findInvoiceConfig } from '../platform/settings/invoice-config.js';
import { updateRecords } from '../records/change-records.js';
import { isOfEnvironment } from '../records/conditions.js';
import type { JobActor, Occasion } from '../records/occasion.js';
import { mustRead, mustWrite, type ReadUnit, type Unit } from '../records/unit.js';
import { insertPeriods, replaceLastPeriod } from '../subscriptions/periods/periods-store.js';
import { withoutWaits } from '../invoicing/finalize/awaited-meters.js';
import { asComputed, finalizeDrafts } from '../invoicing/finalize/finalize-drafts.js';
import {
  computeTasks,
  type BillingDependencies,
  type ComputedTask,
} from '../invoicing/drafts/compute-tasks.js';
import { storeDrafts } from '../invoicing/drafts/draft-invoices.js';
import type { InvoiceTask } from '../invoicing/drafts/invoice-task.js';
import { holdUnchanged } from '../invoicing/drafts/revisions.js';
import { isWanted, type DueQuery } from '../due/due-items.js';

/** Subscriptions of one round: their usage is read in one statement. */
const PAGE = 100;

const subscriptionRow = z.object({ id: z.string(), current_period_start: instantColumn });

/** The job of a single one, which the looks at a whole environment leave out. */
export const INVOICE_THRESHOLD = 'invoice-threshold';

/** Which subscriptions are looked at. */
type Asked = Pick<DueQuery, 'only'> & {
  /** Those behind it; null for the first page. */
  readonly after: string | null;
};

/** What subscriptions with a threshold have used until now, one page of them. */
async function findRunning(
  { tx, now }: ReadUnit,
  { after, only }: Asked,
): Promise<readonly InvoiceTask[]> {
  const at = sql.fragment`${formatInstant(now)}::timestamptz`;
  const due = { limit: PAGE, only };
  const rows = await tx.any(sql.type(subscriptionRow)`
    SELECT id, current_period_start FROM subscriptions
    WHERE status = 'published' AND subscription_status = 'active'
      AND auto_invoice_threshold IS NOT NULL
      AND current_period_start < ${at} AND current_period_end > ${at}
      AND (${after}::text IS NULL OR id > ${after}) AND ${isOfEnvironment}
      AND ${isWanted(INVOICE_THRESHOLD, sql.fragment`subscriptions.id`, due)}
    ORDER BY id LIMIT ${PAGE}`);
  return rows.map((row) => ({
    subscriptionId: row.id,
    period: { startMs: row.current_period_start, endMs: now },
    reason: 'AUTO_INVOICE_THRESHOLD',
    invoiceId: null,
  }));
}

/** Whether what was used since the last invoice has reached the threshold. */
function isReached({ query, invoice }: ComputedTask): boolean {
  const { auto_invoice_threshold: threshold } = query.loaded.subscription;
  return threshold !== null && invoice.totals.subtotal.value.greaterThanOrEqualTo(threshold);
}

/** Splits the running period of each of these subscriptions where its invoice ends. */
async function splitPeriods(
  unit: Unit,
  ledgers: readonly { readonly id: string; readonly ledger: PeriodLedger; readonly atMs: number }[],
): Promise<void> {
  for (const { id, ledger, atMs } of ledgers) {
    const split = splitLastRow(ledger, atMs);
    const closed = assertPresent(split.periods.at(-2), 'the closed part of a period');
    await replaceLastPeriod(unit, { subscriptionId: id, period: closed });
    await insertPeriods(unit, [{ subscriptionId: id, period: lastRecorded(split) }]);
  }
}

/** Stores threshold invoices that wait for no meter, and begins the next part of each period. */
async function storeReached(unit: Unit, found: readonly ComputedTask[]): Promise<void> {
  const reached = await withoutWaits(unit, found);
  const held = await holdUnchanged(
    unit,
    reached.map(({ query }) => query),
  );
  const kept = reached.filter(({ query }) => held.has(query.task.subscriptionId));
  if (kept.length === 0) return;
  const drafts = await storeDrafts(
    unit,
    kept.map((computed) => {
      const { subscriptionId } = computed.query.task;
      const subscription = mustGet(held, subscriptionId, 'a held subscription');
      return { computed, finalizeAt: null, held: subscription };
    }),
  );
  await splitPeriods(
    unit,
    kept.map(({ query: { task, loaded } }) => {
      return { id: task.subscriptionId, ledger: loaded.terms, atMs: task.period.endMs };
    }),
  );
  const begun = kept.map(({ query: { task } }) => ({
    row: mustGet(held, task.subscriptionId, 'a held subscription').subscription,
    patch: { current_period_start: task.period.endMs },
  }));
  await updateRecords(unit, SUBSCRIPTIONS, begun);
  await finalizeDrafts(unit, await findInvoiceConfig(unit), drafts.map(asComputed));
}

/** A subscription that could not be invoiced, with the reason. */
export type FailedThreshold = { readonly subscriptionId: string; readonly reason: string };

/** What a look has found, in the order of the subscriptions. */
type Looked = {
  readonly tasks: readonly InvoiceTask[];
  readonly failed: readonly FailedThreshold[];
};

/** Invoices those of a page that have reached their thresholds in one transaction. */
async function takeTogether(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  asked: Asked,
): Promise<Looked> {
  let tasks: readonly InvoiceTask[] = [];
  const { computed, refused } = await computeTasks(dependencies, occasion, async (unit) => {
    tasks = await findRunning(unit, asked);
    return tasks;
  });
  const reached = computed.filter(isReached);
  if (reached.length > 0) {
    await mustWrite(dependencies, occasion, (unit) => storeReached(unit, reached));
  }
  const failed = refused.map(({ task: { subscriptionId }, refusal }) => {
    return { subscriptionId, reason: refusal.message };
  });
  return { tasks, failed };
}

/** Does a page that failed as a whole one by one, so that only those fail that fail alone. */
async function takeSingly(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  asked: Asked,
): Promise<Looked> {
  const tasks = await mustRead(dependencies, occasion, (unit) => findRunning(unit, asked));
  const failed: FailedThreshold[] = [];
  for (const { subscriptionId } of tasks) {
    const alone = { after: null, only: subscriptionId };
    try {
      failed.push(...(await takeTogether(dependencies, occasion, alone)).failed);
    } catch (error) {
      if (error instanceof DependencyError) throw error;
      failed.push({ subscriptionId, reason: messageOf(error) });
    }
  }
  return { tasks, failed };
}

/**
 * Invoices what subscriptions have used where that has reached their threshold (docs/domain.md
 * 30.1). Done twice, it finds the second time that nothing was used since. One page: begins after
 * the subscription `after`.
 * @returns the last subscription that was looked at, null when there are no more; and those that
 *   could not be invoiced, which have not held up the others.
 * @throws DependencyError when a database fails.
 */
export async function invoiceThresholds(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  after: string | null,
): Promise<{ readonly last: string | null; readonly failed: readonly FailedThreshold[] }> {
  const asked = { after, only: null };
  const { tasks, failed } = await takeTogether(dependencies, occasion, asked).catch(
    (error: unknown) => {
      if (error instanceof DependencyError) throw error;
      return takeSingly(dependencies, occasion, asked);
    },
  );
  const last = tasks.length < PAGE ? null : (tasks.at(-1)?.subscriptionId ?? null);
  return { last, failed };
}

/**
 * As `invoiceThresholds`, one subscription that could not be invoiced with the others.
 * @throws when it cannot be invoiced again, with the reason.
 */
export async function invoiceThreshold(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  only: string,
): Promise<void> {
  const { failed } = await takeTogether(dependencies, occasion, { after: null, only });
  const [first] = failed;
  if (first !== undefined) throw new Error(first.reason);
}
