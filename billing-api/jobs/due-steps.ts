import { z } from 'zod';
import { DependencyError, messageOf, mustGet } from '../../runtime/failure.js';
import { enqueue } from '../../sql/jobs/enqueue.js';
import { defineJob, type Job, type JobRun } from '../../sql/jobs/job.js';
import { takeStep, type DueStep } from '../due/due-step.js';
import { DUE_STEPS } from '../runs/settle-due.js';
import { findToppedUp, TOP_UP_WALLET, topUpIfLow } from '../invoicing/prepaid/auto-top-up.js';
import type { WalletRow } from '../declarations/money/wallet.resource.js';
import type { JobActor, Occasion } from '../records/occasion.js';
import { mustWrite } from '../records/unit.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

/** Where and as of when something due is done, with what, and how it is told to stop. */
export type Doing = {
  readonly occasion: Occasion<JobActor>;
  readonly signal: AbortSignal;
  readonly progressed: JobRun['progressed'];
  readonly needs: JobNeeds;
};

export function doingOf(run: JobRun, needs: JobNeeds): Doing {
  const { signal, progressed } = run;
  return { occasion: occasionOfRun(run), signal, progressed, needs };
}

const input = z.object({ id: z.string() });

/**
 * The job that does something alone which failed with the others. It is tried again, and parked
 * with its reason after the last try; meanwhile all others go on.
 */
export function jobOfOne(name: string, doOne: (id: string, doing: Doing) => Promise<void>) {
  return defineJob({
    name,
    input,
    onceWhileWaiting: true,
    key: ({ id }) => id,
    withLease: async ({ input: { id }, run }, needs: JobNeeds) => {
      await doOne(id, doingOf(run, needs));
      return {};
    },
  });
}

type JobOfOne = ReturnType<typeof jobOfOne>;

/** Leaves what failed alone to a job of its own, and says so in the log. */
export async function setAside(
  job: JobOfOne,
  { id, error }: { readonly id: string; readonly error: unknown },
  { occasion, needs }: Doing,
): Promise<void> {
  needs.log.error(
    { id, job: job.name, error: messageOf(error) },
    'something due could not be done',
  );
  await mustWrite(needs, occasion, (unit) => enqueue(unit, job, { input: { id } }));
}

/** Whether an error holds up everything else as well, so that the whole run is tried again. */
export function isGeneral(error: unknown, { signal }: Doing): boolean {
  return error instanceof DependencyError || signal.aborted;
}

/** What was thrown, as an error. */
const failureOf = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(messageOf(thrown));

/** Does one record of a step until it is not due any more. @throws when it cannot be done. */
async function doAlone(step: DueStep, only: string, { occasion, signal, needs }: Doing) {
  for (;;) {
    signal.throwIfAborted();
    const { seen, error } = await takeStep(needs, occasion, { step, due: { limit: 1, only } });
    if (error !== null) throw failureOf(error);
    if (seen.length === 0 || !step.isRepeated) return;
  }
}

const JOBS = new Map(
  DUE_STEPS.map((step) => [step, jobOfOne(step.job, (id, doing) => doAlone(step, id, doing))]),
);

/** Does records that failed together one by one, so that only what fails alone is set aside. */
async function takeSingly(step: DueStep, ids: readonly string[], doing: Doing): Promise<void> {
  const job = mustGet(JOBS, step, 'the job of a step');
  for (const only of ids) {
    doing.signal.throwIfAborted();
    const due = { limit: 1, only };
    const { error } = await takeStep(doing.needs, doing.occasion, { step, due });
    if (error === null) continue;
    if (isGeneral(error, doing)) throw failureOf(error);
    await setAside(job, { id: only, error }, doing);
  }
}

/**
 * Does what is due of a step, at most so many. What cannot be done is set aside for a job of its
 * own, and the others go on.
 * @returns how many there were. @throws DependencyError when a database fails.
 */
export async function settleStep(step: DueStep, limit: number, doing: Doing): Promise<number> {
  let count = 0;
  for (;;) {
    doing.signal.throwIfAborted();
    const due = { limit: limit - count, only: null };
    const { seen, error } = await takeStep(doing.needs, doing.occasion, { step, due });
    if (error !== null && (isGeneral(error, doing) || seen.length === 0)) throw failureOf(error);
    if (error !== null) await takeSingly(step, seen, doing);
    count += seen.length;
    if (!step.isRepeated || seen.length === 0 || count >= limit) return count;
  }
}

/** Tops up one wallet that could not be topped up with the others. */
export const TOP_UP_ONE = jobOfOne(TOP_UP_WALLET, async (only, { needs, occasion }) => {
  const [wallet] = await findToppedUp(needs, occasion, { limit: 1, only, after: null });
  if (wallet !== undefined) await topUpIfLow(needs, occasion, wallet);
});

/** @returns whether it was topped up; false as well where it is set aside. */
async function topUpOrSetAside(wallet: WalletRow, doing: Doing): Promise<boolean> {
  try {
    return await topUpIfLow(doing.needs, doing.occasion, wallet);
  } catch (error) {
    if (isGeneral(error, doing)) throw error;
    await setAside(TOP_UP_ONE, { id: wallet.id, error }, doing);
    return false;
  }
}

/**
 * Tops up the wallets of an environment that have run low, page by page; each is looked at once.
 * @returns whether there was one, which may still be low.
 * @throws DependencyError when a database fails.
 */
export async function topUpLowWallets(limit: number, doing: Doing): Promise<boolean> {
  let isMore = false;
  let after: string | null = null;
  do {
    const due = { limit, only: null, after };
    const wallets = await findToppedUp(doing.needs, doing.occasion, due);
    for (const wallet of wallets) {
      doing.signal.throwIfAborted();
      if (!(await topUpOrSetAside(wallet, doing))) continue;
      isMore = true;
      await doing.progressed();
    }
    after = wallets.length < limit ? null : (wallets.at(-1)?.id ?? null);
  } while (after !== null);
  return isMore;
}

/** The jobs of single records that the run of their environment could not do. */
export const DUE_STEP_JOBS: readonly Job<JobNeeds>[] = [...JOBS.values(), TOP_UP_ONE];
