import { z } from 'zod';
import type { Environment } from '../../contract/environment.js';
import { messageOf } from '../../runtime/failure.js';
import { defineJob, type JobRun } from '../../sql/jobs/job.js';
import { writeAnchor } from '../outward/exports/write-anchor.js';
import { findLedgers, takeAnchor } from '../money/ledger/take-anchor.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

const PROBLEMS_LOGGED = 20;

/** Anchors the ledger of one environment, and writes the anchor to its stores. */
export async function anchorLedger(
  needs: JobNeeds,
  {
    run,
    environment,
  }: {
    readonly run: Pick<JobRun, 'job' | 'runId' | 'environment' | 'now' | 'signal'>;
    readonly environment: Environment;
  },
): Promise<void> {
  const signer = needs.secretBox?.signer;
  if (signer === undefined) return;
  const occasion = occasionOfRun(run, environment);
  const taken = await takeAnchor(needs, occasion, signer);
  if ('problems' in taken) {
    const problems = taken.problems.slice(0, PROBLEMS_LOGGED);
    const told = { ...environment, problems };
    needs.log.error(told, 'the ledger is not as it was anchored: it was altered in the database');
    return;
  }
  const { anchor, isNew } = taken;
  if (anchor === null) return;
  const places = await writeAnchor(needs, occasion, { anchor, signal: run.signal });
  // Whoever keeps the log elsewhere has the anchor with it.
  if (isNew) needs.log.info({ ...environment, anchor, places }, 'the ledger was anchored');
}

/**
 * Every day, signs what the ledger of each environment is, and writes it to the stores to which the
 * environment exports (docs/operations.md 1.8). An environment that fails does not keep the others
 * waiting.
 */
export const ANCHOR_LEDGERS = defineJob({
  name: 'anchor-ledgers',
  schedule: { cron: '40 0 * * *', timeZone: 'UTC' },
  input: z.object({}),
  withLease: async ({ run }, needs: JobNeeds) => {
    if (needs.secretBox === null) return {};
    let failed = 0;
    for (const environment of await findLedgers(needs.database)) {
      run.signal.throwIfAborted();
      await anchorLedger(needs, { run, environment }).catch((error: unknown) => {
        failed += 1;
        needs.log.warn({ ...environment, error: messageOf(error) }, 'a ledger was not anchored');
      });
    }
    if (failed > 0)
      throw new Error(`${failed} ledgers were not anchored, or not written to a store`);
    return {};
  },
});
