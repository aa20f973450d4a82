import { z } from 'zod';
import { MINUTE_MS } from '../../contract/instant.js';
import { enqueue } from '../../sql/jobs/enqueue.js';
import { defineJob } from '../../sql/jobs/job.js';
import type { Schedule } from '../../sql/jobs/schedule.js';
import { evaluateSpend } from '../alerts/evaluate-spend.js';
import { evaluateWallets } from '../alerts/evaluate-wallets.js';
import { findEnvironmentsWith, type EnvironmentWork } from '../runs/environments-due.js';
import { recomputeDrafts } from '../runs/recompute-drafts.js';
import type { JobActor, Occasion } from '../records/occasion.js';
import { mustWrite } from '../records/unit.js';
import { invoiceThresholdPage } from './invoice-thresholds.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

/** Work on all records of a kind in an environment, page by page. */
type PagedWork = {
  readonly name: string;
  readonly work: EnvironmentWork;
  readonly schedule: Schedule;
  readonly doPage: (
    needs: JobNeeds,
    occasion: Occasion<JobActor>,
    after: string | null,
  ) => Promise<string | null>;
};

/** The job that does such work in one environment, and the one that queues it in all. */
function pagedJobs({ name, work, schedule, doPage }: PagedWork) {
  const ofEnvironment = defineJob({
    name,
    input: z.object({}),
    onceWhileWaiting: true,
    withLease: async ({ run }, needs: JobNeeds) => {
      let after: string | null = null;
      do {
        run.signal.throwIfAborted();
        after = await doPage(needs, occasionOfRun(run), after);
      } while (after !== null);
      return {};
    },
  });
  const ofAll = defineJob({
    name: `queue-${name}`,
    schedule,
    input: z.object({}),
    withLease: async ({ run }, needs: JobNeeds) => {
      for (const environment of await findEnvironmentsWith(needs.database, work)) {
        run.signal.throwIfAborted();
        await mustWrite(needs, occasionOfRun(run, environment), (unit) =>
          enqueue(unit, ofEnvironment, { input: {} }),
        );
      }
      return {};
    },
  });
  return [ofEnvironment, ofAll] as const;
}

/** Every five minutes, invoices what has reached the threshold of a subscription. */
export const THRESHOLD_JOBS = pagedJobs({
  name: 'invoice-thresholds',
  work: 'thresholds',
  doPage: invoiceThresholdPage,
  schedule: { everyMs: 5 * MINUTE_MS },
});

/** Every five minutes, evaluates the alerts of wallets and features. */
export const WALLET_ALERT_JOBS = pagedJobs({
  name: 'evaluate-wallet-alerts',
  work: 'wallet-alerts',
  doPage: evaluateWallets,
  schedule: { everyMs: 5 * MINUTE_MS },
});

/** Every five minutes, evaluates the alerts of what subscriptions spend. */
export const SPEND_ALERT_JOBS = pagedJobs({
  name: 'evaluate-spend-alerts',
  work: 'spend-alerts',
  doPage: evaluateSpend,
  schedule: { everyMs: 5 * MINUTE_MS },
});

/** A page of `recomputeDrafts`; one that fails stays as it is, which the log says. */
async function recomputePage(
  needs: JobNeeds,
  occasion: Occasion<JobActor>,
  after: string | null,
): Promise<string | null> {
  const { last, failed } = await recomputeDrafts(needs, occasion, { after });
  for (const one of failed) needs.log.error(one, 'a draft could not be computed again');
  return last;
}

/** Each night, computes all drafts again. */
export const RECOMPUTE_JOBS = pagedJobs({
  name: 'recompute-drafts',
  work: 'drafts',
  doPage: recomputePage,
  schedule: { cron: '0 2 * * *', timeZone: 'UTC' },
});
