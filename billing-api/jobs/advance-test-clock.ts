import { z } from 'zod';
import { assertPresent, DependencyError, messageOf } from '../../runtime/failure.js';
import { defineJob, type JobRun } from '../../sql/jobs/job.js';
import type { InstantMs } from '../../contract/instant.js';
import {
  endAdvance,
  failAdvance,
  findAdvance,
  stepClock,
  type Advance,
} from '../runs/step-clock.js';
import { takeWaiting } from '../money/gateway-payments/take-by-gateway.js';
import { ADVANCE_CLOCK } from '../platform/test-clocks/test-clock-operations.js';
import { lookForLateUsage } from '../invoicing/late-usage/look-for-late-usage.js';
import { invoiceAllThresholds } from './invoice-thresholds.js';
import { billEnvironment } from './bill-environment.js';
import type { JobNeeds } from './job-needs.js';

/** More runs at one instant mean that something never ends. */
const RUNS_MAX = 1000;
/** Of one run of the job, which then goes on in another. */
const INSTANTS_OF_RUN = 20;

/** The environment of the run, whose clock moves while it runs. */
function occasionAt(run: JobRun, at?: InstantMs) {
  const environment = assertPresent(run.environment, 'the environment of the job');
  const actor = { kind: 'job', job: run.job, runId: run.runId } as const;
  return { environment, actor, at };
}

/** Does everything that is due at one instant, what has reached a threshold by then first. */
async function billAt(run: JobRun, needs: JobNeeds, at: InstantMs): Promise<void> {
  const { signal, progressed } = run;
  const doing = { occasion: occasionAt(run, at), signal, progressed, needs };
  await invoiceAllThresholds(doing);
  for (let count = 0; count < RUNS_MAX; count += 1) {
    run.signal.throwIfAborted();
    if (await billEnvironment(doing)) continue;
    if (!(await takeWaiting(needs, doing.occasion))) return;
  }
  throw new Error('what is due at one instant does not come to an end');
}

/**
 * Goes from due instant to due instant, each time doing what is due there.
 * @returns whether there is more to go.
 */
async function goOn(run: JobRun, needs: JobNeeds, advance: Advance): Promise<boolean> {
  const occasion = occasionAt(run);
  // What came late by now is on the invoices that the advance makes.
  const { environment } = occasion;
  await lookForLateUsage(needs, { occasionOf: () => occasion, environment });
  // What a run that was killed had left at the instant at which it stood.
  await billAt(run, needs, advance.now);
  let doneAt = advance.now;
  for (let count = 0; count < INSTANTS_OF_RUN; count += 1) {
    run.signal.throwIfAborted();
    const at = await stepClock(needs, occasion, advance);
    if (at === null) {
      // Everything that is due there is done, if that was the last instant of all.
      if (doneAt < advance.to) await billAt(run, needs, advance.to);
      await endAdvance(needs, occasion, advance);
      return false;
    }
    await billAt(run, needs, at);
    doneAt = at;
    await run.progressed();
  }
  return true;
}

/** Advances a test clock, as a request has begun it (docs/domain.md 32.4). */
export const ADVANCE_TEST_CLOCK = defineJob({
  name: ADVANCE_CLOCK.name,
  input: z.object({ clockId: z.string() }),
  key: ADVANCE_CLOCK.keyOf,
  onceWhileWaiting: ADVANCE_CLOCK.onceWhileWaiting,
  withLease: async ({ input, run }, needs: JobNeeds) => {
    const advance = await findAdvance(needs, occasionAt(run), input.clockId);
    // The clock was removed, or has come to its end.
    if (advance === null) return {};
    try {
      return { hasMore: await goOn(run, needs, advance) };
    } catch (error) {
      // A database that fails is no reason to give up: the job is tried again.
      if (run.signal.aborted || error instanceof DependencyError) throw error;
      await failAdvance(needs, occasionAt(run), { advance, reason: messageOf(error) });
    }
    return {};
  },
});
