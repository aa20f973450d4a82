import type { JobActor, Occasion, RequestActor } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { writeUnit, type ReadUnit, type Unit } from '../../records/unit.js';
import { EndedPeriod } from '../../subscriptions/ended-period.js';
import {
  computeTasks,
  type BillingDependencies,
  type ComputedTask,
} from '../stored/compute-tasks.js';
import type { InvoiceTask } from '../stored/invoice-task.js';
import { BILL_SUBSCRIPTION, findEndedPeriods } from './due-tasks.js';
import { renewSubscriptions } from './renew-subscriptions.js';
import { FINALIZATION } from './run-billing.js';

/** Ten years of months; who has more is answered that billing goes on. */
const PERIODS_MAX = 120;

type Billed = { readonly dependencies: BillingDependencies; readonly occasion: Occasion<JobActor> };

/** Computes what is due of one item, and stores it; null when nothing is due. */
async function take<T>(
  { dependencies, occasion }: Billed,
  findDue: (unit: ReadUnit) => Promise<readonly InvoiceTask[]>,
  store: (unit: Unit, computed: readonly ComputedTask[]) => Promise<T | Refusal>,
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
 * Carries out an operation on a subscription. When it is refused because a period has ended that
 * the job has not billed yet, as after a start in the past, the periods that have ended are billed
 * first and their invoices finalized where their delay is over, each as the job would do it; then
 * the operation is tried once more.
 * @throws DependencyError when a database fails; periods that were billed by then stay so.
 */
export async function billEndedFirst<D extends BillingDependencies, W, T>(
  operation: (dependencies: D, occasion: Occasion, wanted: W) => Promise<T | Refusal>,
  ...[dependencies, occasion, wanted]: [D, Occasion<RequestActor>, W]
): Promise<T | Refusal> {
  const result = await operation(dependencies, occasion, wanted);
  if (!(result instanceof EndedPeriod)) return result;
  const { environment, at, actor } = occasion;
  const job = { kind: 'job', job: BILL_SUBSCRIPTION, runId: actor.requestId } as const;
  const by = { dependencies, occasion: { environment, at, actor: job } };
  for (let period = 0; period < PERIODS_MAX; period += 1) {
    const billed = await billEndedPeriod(by, result.subscriptionId);
    if (isRefusal(billed)) return billed;
    if (billed === null) return operation(dependencies, occasion, wanted);
  }
  return result;
}
