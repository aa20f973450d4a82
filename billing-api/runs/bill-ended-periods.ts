import type { JobActor, Occasion, RequestActor } from '../records/occasion.js';
import { isRefusal, type Refusal } from '../records/refusal.js';
import { writeUnit, type ReadUnit, type Unit } from '../records/unit.js';
import {
  computeTasks,
  type BillingDependencies,
  type ComputedTask,
} from '../invoicing/drafts/compute-tasks.js';
import type { InvoiceTask } from '../invoicing/drafts/invoice-task.js';
import { BILL_SUBSCRIPTION, findEndedPeriods } from './due-tasks.js';
import { renewSubscriptions } from '../subscription-life/renew/renew-subscriptions.js';
import { FINALIZATION } from './run-billing.js';

/** Ten years of months; who has more is answered that billing goes on. */
const PERIODS_MAX = 120;

type Billed = { readonly dependencies: BillingDependencies; readonly occasion: Occasion<JobActor> };

/** Computes what is due of one item, and stores it; null when nothing is due. */
async function take<T>(
  { dependencies, occasion }: Billed,
  findDue: (unit: ReadUnit) => Promise<readonly InvoiceTask[]>,
  store: (unit: Unit, computed: readonly ComputedTask[]) => Promise<T>,
): Promise<T | Refusal | null> {
  const { computed } = await computeTasks(dependencies, occasion, findDue);
  if (computed.length === 0) return null;
  return writeUnit(dependencies, occasion, (unit) => store(unit, computed));
}

/** Bills the earliest ended period, as the job would; null when there is none that it can bill. */
async function billEndedPeriod(by: Billed, only: string): Promise<'billed' | Refusal | null> {
  const drafts = await take(
    by,
    (unit) => findEndedPeriods(unit, { limit: 1, only }),
    renewSubscriptions,
  );
  if (drafts === null || isRefusal(drafts)) return drafts;
  for (const { row } of drafts) {
    const due = { limit: 1, only: row.id };
    const done = await take(by, (unit) => FINALIZATION.findDue(unit, due), FINALIZATION.store);
    if (isRefusal(done)) return done;
  }
  return 'billed';
}

/**
 * Bills the periods of a subscription that have ended, and finalizes their invoices where the delay
 * is over, each as the job would do it: null, also where it cannot, and the job must come first.
 * @throws DependencyError when a database fails; periods that were billed by then stay so.
 */
export async function billEndedPeriods(
  dependencies: BillingDependencies,
  { environment, at, actor: { requestId: runId } }: Occasion<RequestActor>,
  subscriptionId: string,
): Promise<Refusal | null> {
  const actor = { kind: 'job', job: BILL_SUBSCRIPTION, runId } as const;
  const by = { dependencies, occasion: { environment, at, actor } };
  for (let period = 0; period < PERIODS_MAX; period += 1) {
    const billed = await billEndedPeriod(by, subscriptionId);
    if (billed !== 'billed') return billed;
  }
  return null;
}
