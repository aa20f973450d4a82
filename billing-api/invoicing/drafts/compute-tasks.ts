import { assertPresent } from '../../../runtime/failure.js';
import type { IdSource } from '../../../runtime/ids.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';
import { computeInvoices, type ComputedInvoice } from '../compute/compute-invoice.js';
import { findInvoiceQueries, type StoredQuery } from './find-invoice-queries.js';
import type { InvoiceTask } from './invoice-task.js';

/** What computing and storing invoices needs. */
export type BillingDependencies = UsageReadDependencies & { readonly createId: IdSource };

/** An invoice that was computed to be stored. */
export type ComputedTask = ComputedInvoice<StoredQuery>;

/** A task that cannot be computed as its records are. */
export type RefusedTask = { readonly task: InvoiceTask; readonly refusal: Refusal };

/** What became of tasks. */
export type ComputedTasks = {
  readonly computed: readonly ComputedTask[];
  readonly refused: readonly RefusedTask[];
};

/**
 * Computes the invoices of tasks, each of another subscription, from one snapshot in which they are
 * found too. Nothing is stored.
 * @throws DependencyError when a database fails.
 */
export async function computeTasks(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  findTasks: (unit: ReadUnit) => Promise<readonly InvoiceTask[]>,
): Promise<ComputedTasks> {
  let tasks: readonly InvoiceTask[] = [];
  const invoices = computeInvoices(dependencies, occasion, async (unit) => {
    tasks = await findTasks(unit);
    return tasks.length === 0 ? [] : findInvoiceQueries(unit, tasks);
  });
  const computed: ComputedTask[] = [];
  const refused: RefusedTask[] = [];
  let place = 0;
  for await (const invoice of invoices) {
    if (!isRefusal(invoice)) computed.push(invoice);
    else refused.push({ task: assertPresent(tasks[place], 'a task'), refusal: invoice });
    place += 1;
  }
  return { computed, refused };
}
