import { INVOICE } from '../domain/lifecycle/invoice-lifecycle.js';
import { sql, type FragmentSqlToken } from 'slonik';
import { DependencyError, messageOf } from '../../runtime/failure.js';
import { INVOICES } from '../declarations/invoices/invoice.resource.js';
import { isOfEnvironment, rowIsIn } from '../records/conditions.js';
import type { JobActor, Occasion, RequestActor } from '../records/occasion.js';
import { isRefusal, type Refusal } from '../records/refusal.js';
import { mustRead, type ReadUnit, writeUnit } from '../records/unit.js';
import { subscriptionsOfKeys } from '../subscriptions/subscriptions-of-keys.js';
import { storeRecomputed } from '../invoicing/invoices/recompute-invoice.js';
import { computeTasks, type BillingDependencies } from '../invoicing/drafts/compute-tasks.js';
import { replaceComputations } from '../invoicing/drafts/hold-drafts.js';
import type { InvoiceTask } from '../invoicing/drafts/invoice-task.js';
import { taskOfInvoice } from '../invoicing/drafts/task-of-invoice.js';

/** Drafts of one round: their usage is read in one statement. */
const PAGE = 100;

/** A draft of each of these subscriptions: those with a second one have it in the next round. */
type Page = { readonly tasks: readonly InvoiceTask[]; readonly last: string | null };

/** Which drafts, in the order of their ids. */
type Which = {
  readonly after: string | null;
  /** A condition on invoices. */
  readonly among: FragmentSqlToken;
  /** Absent: as many as are computed together. */
  readonly limit?: number;
};

const ALL = sql.fragment`true`;

/** Drafts that charge a subscription, by itself or as a grouped child. */
function chargesOnly(only: string): FragmentSqlToken {
  return sql.fragment`id IN (SELECT id FROM invoices WHERE subscription_id = ${only} AND ${isOfEnvironment}
    UNION SELECT invoice_id FROM invoice_line_items
    WHERE subscription_id = ${only} AND ${isOfEnvironment})`;
}

async function findDrafts({ tx }: ReadUnit, { after, among, limit = PAGE }: Which): Promise<Page> {
  const rows = await tx.any(sql.type(INVOICES.row)`
    SELECT * FROM invoices
    WHERE ${rowIsIn(['invoice_status'], INVOICE, 'draft')} AND invoice_type = 'SUBSCRIPTION' AND NOT is_manually_edited
      AND (${after}::text IS NULL OR id > ${after}) AND ${among} AND ${isOfEnvironment}
    ORDER BY id LIMIT ${limit}`);
  const subscriptions = new Set<string | null>();
  const repeated = rows.findIndex(({ subscription_id: id }) => {
    return subscriptions.has(id) || !subscriptions.add(id);
  });
  const taken = repeated < 0 ? rows : rows.slice(0, repeated);
  const isMore = repeated >= 0 || rows.length === limit;
  return { tasks: taken.map(taskOfInvoice), last: isMore ? (taken.at(-1)?.id ?? null) : null };
}

/** Computes one page of drafts again. @returns the last that was looked at; null at the end. */
async function recomputePage(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  which: Which,
): Promise<string | null | Refusal> {
  let last: string | null = null;
  const { computed } = await computeTasks(dependencies, occasion, async (unit) => {
    const page = await findDrafts(unit, which);
    last = page.last;
    return page.tasks;
  });
  if (computed.length === 0) return last;
  const done = await writeUnit(dependencies, occasion, async (unit) => {
    const drafts = await replaceComputations(unit, computed, INVOICE.groups.draft);
    return storeRecomputed(unit, drafts);
  });
  return isRefusal(done) ? done : last;
}

/** A draft that could not be computed again, with the reason. */
export type FailedDraft = { readonly id: string | null; readonly error: string };

/** Computes a page that failed as a whole one by one, so that only those stay that fail alone. */
async function recomputeSingly(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  { after: from, among }: Which,
): Promise<{ readonly last: string | null; readonly failed: readonly FailedDraft[] }> {
  const failed: FailedDraft[] = [];
  let after = from;
  for (let count = 0; count < PAGE; count += 1) {
    const which = { after, among, limit: 1 };
    const page = await mustRead(dependencies, occasion, (unit) => findDrafts(unit, which));
    const id = page.tasks[0]?.invoiceId ?? null;
    try {
      const done = await recomputePage(dependencies, occasion, which);
      if (isRefusal(done)) failed.push({ id, error: done.message });
    } catch (error) {
      if (error instanceof DependencyError) throw error;
      failed.push({ id, error: messageOf(error) });
    }
    if (page.last === null) return { last: null, failed };
    after = page.last;
  }
  return { last: after, failed };
}

/**
 * Computes drafts again, so that they show what has come in since (docs/domain.md 32). Those that
 * others have changed meanwhile, or that cannot be computed, stay as they are. One page: begins
 * after the draft `after`. All of them, or those of a condition.
 * @returns the last draft that was looked at, null when there are no more; and those that could not
 *   be stored, which have not held up the others.
 * @throws DependencyError when a database fails.
 */
export async function recomputeDrafts(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  { after, among = ALL }: Pick<Which, 'after'> & Partial<Which>,
): Promise<{ readonly last: string | null; readonly failed: readonly FailedDraft[] }> {
  try {
    const last = await recomputePage(dependencies, occasion, { after, among });
    if (!isRefusal(last)) return { last, failed: [] };
  } catch (error) {
    if (error instanceof DependencyError) throw error;
  }
  return recomputeSingly(dependencies, occasion, { after, among });
}

/**
 * Computes the drafts again that count usage of these customers. @returns those that could not be.
 * @throws DependencyError when a database fails.
 */
export async function recomputeDraftsOfCustomers(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  customerKeys: readonly string[],
): Promise<readonly FailedDraft[]> {
  const among = sql.fragment`subscription_id IN (${subscriptionsOfKeys(customerKeys)})`;
  const failed: FailedDraft[] = [];
  let after: string | null = null;
  do {
    const page = await recomputeDrafts(dependencies, occasion, { after, among });
    failed.push(...page.failed);
    after = page.last;
  } while (after !== null);
  return failed;
}

/**
 * Computes the drafts that charge a subscription again, after its lines were changed: an invoice
 * that follows leaves out what they charge (docs/domain.md 27). What cannot be stored now is left
 * to the job.
 * @throws DependencyError when a database fails.
 */
export async function recomputeDraftsOf(
  dependencies: BillingDependencies,
  { environment, at, actor: { requestId: runId } }: Occasion<RequestActor>,
  subscriptionId: string,
): Promise<void> {
  const actor = { kind: 'job', job: 'recompute-drafts', runId } as const;
  let after: string | null = null;
  do {
    const which = { after, among: chargesOnly(subscriptionId) };
    const last = await recomputePage(dependencies, { environment, at, actor }, which);
    after = isRefusal(last) ? null : last;
  } while (after !== null);
}
