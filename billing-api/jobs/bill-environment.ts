import { z } from 'zod';
import { DependencyError, messageOf } from '../../runtime/failure.js';
import { enqueue } from '../../sql/jobs/enqueue.js';
import { defineJob } from '../../sql/jobs/job.js';
import { WAITING_DUE } from '../subscription-life/cancel/end-waiting.js';
import { GRANTS_DUE } from '../money/wallets/apply-grants.js';
import { PAUSES_DUE } from '../subscription-life/pauses/settle-pauses.js';
import { RETRIES_DUE } from '../money/payments/retry-charges.js';
import type { DueKind } from '../due/due-items.js';
import type { DueStep } from '../due/due-step.js';
import { BILL_SUBSCRIPTION, FINALIZE_INVOICE } from '../runs/due-tasks.js';
import { CHILDREN_DUE } from '../runs/renew-children.js';
import {
  EDITED_DUE,
  FINALIZATION,
  findDue,
  RENEWAL,
  takeTurn,
  type BillingTurn,
} from '../runs/run-billing.js';
import { EXPIRIES_DUE, NOTICES_DUE, OVERDUES_DUE, PHASES_DUE } from '../runs/settle-due.js';
import { runSchedules } from '../subscription-life/schedules/run-schedules.js';
import type { InvoiceTask } from '../invoicing/drafts/invoice-task.js';
import { mustWrite, type Unit } from '../records/unit.js';
import { cancelOverdueSubscriptions } from './cancel-overdue.js';
import { doingOf, settleStep, topUpLowWallets, type Doing } from './due-steps.js';
import type { JobNeeds } from './job-needs.js';

/** Invoices of one transaction: their usage is read in one statement. */
const BATCH = 100;
/** Then other environments have their turn. */
const TURNS = 50;
/** Overtaken so often in a row, it lets others finish first. */
const OVERTAKEN_MAX = 5;

/** One kind of due thing, and the job that cares for a single one that fails. */
type Kind = BillingTurn & {
  readonly idOf: (task: InvoiceTask) => string;
  readonly setAside: (unit: Unit, id: string) => Promise<void>;
};

const RENEWALS: Kind = {
  ...RENEWAL,
  idOf: ({ subscriptionId }) => subscriptionId,
  setAside: (unit, subscriptionId) => enqueue(unit, BILL_ONE, { input: { subscriptionId } }),
};

const FINALIZATIONS: Kind = {
  ...FINALIZATION,
  idOf: ({ invoiceId, subscriptionId }) => invoiceId ?? subscriptionId,
  setAside: (unit, invoiceId) => enqueue(unit, FINALIZE_ONE, { input: { invoiceId } }),
};

/** Does one item until it is not due any more. @throws when it cannot be done, with the reason. */
async function doAlone(turn: BillingTurn, only: string, { occasion, signal, needs }: Doing) {
  for (;;) {
    signal.throwIfAborted();
    const due = { limit: 1, only };
    const { done, refused } = await takeTurn(needs, occasion, { ...turn, due });
    const [first] = refused;
    if (first !== undefined) throw new Error(first.refusal.message);
    if (done === 0) return {};
  }
}

/**
 * Bills one subscription that the run of its environment could not bill, period by period. It is
 * tried again, and parked with its reason after the last try; meanwhile all others go on.
 */
export const BILL_ONE = defineJob({
  name: BILL_SUBSCRIPTION,
  input: z.object({ subscriptionId: z.string() }),
  key: ({ subscriptionId }) => subscriptionId,
  onceWhileWaiting: true,
  withLease: ({ input, run }, needs: JobNeeds) =>
    doAlone(RENEWAL, input.subscriptionId, doingOf(run, needs)),
});

/** As `BILL_ONE`, finalizes one draft. */
export const FINALIZE_ONE = defineJob({
  name: FINALIZE_INVOICE,
  input: z.object({ invoiceId: z.string() }),
  key: ({ invoiceId }) => invoiceId,
  onceWhileWaiting: true,
  withLease: ({ input, run }, needs: JobNeeds) =>
    doAlone(FINALIZATION, input.invoiceId, doingOf(run, needs)),
});

async function setKindAside(kind: Kind, ids: readonly string[], { occasion, needs }: Doing) {
  if (ids.length === 0) return;
  await mustWrite(needs, occasion, async (unit) => {
    for (const id of ids) await kind.setAside(unit, id);
  });
}

/** Does a batch that failed as a whole item by item, so that only what fails alone is set aside. */
async function takeSingly(kind: Kind, doing: Doing): Promise<boolean> {
  const { occasion, signal, needs } = doing;
  const due = { limit: BATCH, only: null };
  const tasks = await findDue(needs, occasion, { ...kind, due });
  for (const task of tasks) {
    signal.throwIfAborted();
    const only = kind.idOf(task);
    try {
      await takeTurn(needs, occasion, { ...kind, due: { limit: 1, only } });
    } catch (error) {
      if (error instanceof DependencyError) throw error;
      needs.log.error({ id: only, error: messageOf(error) }, 'an invoice could not be computed');
      await setKindAside(kind, [only], doing);
    }
  }
  return tasks.length > 0;
}

/** @returns whether there was something to do. */
async function takeBatch(kind: Kind, doing: Doing): Promise<'none' | 'done' | 'overtaken'> {
  const { occasion, signal, needs } = doing;
  const due = { limit: BATCH, only: null };
  try {
    const result = await takeTurn(needs, occasion, { ...kind, due });
    const { done, overtaken, refused } = result;
    await setKindAside(
      kind,
      refused.map(({ task }) => kind.idOf(task)),
      doing,
    );
    if (done > 0 || refused.length > 0) return 'done';
    return overtaken > 0 ? 'overtaken' : 'none';
  } catch (error) {
    if (error instanceof DependencyError || signal.aborted) throw error;
    return (await takeSingly(kind, doing)) ? 'done' : 'none';
  }
}

/** @returns whether there is more to do. */
async function takeTurns(kind: Kind, doing: Doing): Promise<boolean> {
  let overtaken = 0;
  for (let turn = 0; turn < TURNS; turn += 1) {
    doing.signal.throwIfAborted();
    const outcome = await takeBatch(kind, doing);
    if (outcome === 'none') return false;
    if (outcome === 'done') await doing.progressed();
    overtaken = outcome === 'overtaken' ? overtaken + 1 : 0;
    if (overtaken >= OVERTAKEN_MAX)
      throw new Error('others have changed what was due, again and again');
  }
  return true;
}

/** Begins and ends pauses, and renews grouped children. @returns whether there may be more. */
async function pauseDue(doing: Doing): Promise<boolean> {
  const pauses = await settleStep(PAUSES_DUE, BATCH, doing);
  return (await settleStep(CHILDREN_DUE, BATCH, doing)) === BATCH || pauses > 0;
}

/**
 * Makes changes of plan that waited, begins and ends pauses, and renews: a pause begins in the
 * period that a renewal has begun, and a period that a pause has moved ends later.
 */
async function renewDue(doing: Doing): Promise<boolean> {
  const { occasion, needs } = doing;
  await pauseDue(doing);
  for (let turn = 0; turn < TURNS; turn += 1) {
    const changes = await runSchedules(needs, occasion, BATCH);
    const hasMore = await takeTurns(RENEWALS, doing);
    const hasPauses = await pauseDue(doing);
    if (changes === 0 && !hasPauses) return hasMore;
  }
  return true;
}

/** Finalizes the drafts whose delay is over. */
async function finalizeDue(doing: Doing): Promise<boolean> {
  const hasDrafts = await takeTurns(FINALIZATIONS, doing);
  return (await settleStep(EDITED_DUE, BATCH, doing)) === BATCH || hasDrafts;
}

/** Does what is due of a kind. @returns whether there may be more. */
type DueProcess = (doing: Doing) => Promise<boolean>;

const step =
  (one: DueStep): DueProcess =>
  async (doing) =>
    (await settleStep(one, BATCH, doing)) === BATCH;

/** Who does what is due of each kind, in the order of a run. */
export const DUE_KINDS: Readonly<Record<DueKind, DueProcess>> = {
  pause_begin: renewDue,
  pause_end: renewDue,
  renewal: renewDue,
  waiting_end: step(WAITING_DUE),
  grant: step(GRANTS_DUE),
  draft: finalizeDue,
  credit_expiry: step(EXPIRIES_DUE),
  overdue: step(OVERDUES_DUE),
  payment_retry: step(RETRIES_DUE),
  renewal_notice: step(NOTICES_DUE),
  phase: step(PHASES_DUE),
  cancellation: ({ needs, occasion, signal }) =>
    cancelOverdueSubscriptions(needs, occasion, { limit: BATCH, signal }),
  top_up: (doing) => topUpLowWallets(BATCH, doing),
};

/**
 * Bills an environment as of one instant: does what is due of each kind, up to a hundred in one
 * transaction. It begins again from what is stored, so it may be killed at any point and repeated.
 * @returns whether there is more to do.
 */
export async function billEnvironment(doing: Doing): Promise<boolean> {
  let isMore = false;
  for (const process of new Set(Object.values(DUE_KINDS)))
    isMore = (await process(doing)) || isMore;
  return isMore;
}

/** Bills an environment. Only one run of an environment is under way. */
export const BILL_ENVIRONMENT = defineJob({
  name: 'bill-environment',
  input: z.object({}),
  onceWhileWaiting: true,
  withLease: async ({ run }, needs: JobNeeds) => ({
    hasMore: await billEnvironment(doingOf(run, needs)),
  }),
});
