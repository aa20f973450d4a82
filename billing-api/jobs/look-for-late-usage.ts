import { z } from 'zod';
import { MINUTE_MS } from '../../contract/instant.js';
import { defineJob } from '../../sql/jobs/job.js';
import {
  countOpenLateUsage,
  lookForLateUsage,
} from '../invoicing/late-usage/look-for-late-usage.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

/**
 * Every ten minutes, looks through what the log has got for usage of periods whose invoices are
 * final (docs/domain.md 13.8).
 */
export const LOOK_FOR_LATE_USAGE = defineJob({
  name: 'look-for-late-usage',
  schedule: { everyMs: 10 * MINUTE_MS },
  input: z.object({}),
  state: z.object({ open: z.number() }),
  withLease: async ({ run }, needs: JobNeeds) => {
    await lookForLateUsage(needs, {
      occasionOf: (environment) => {
        run.signal.throwIfAborted();
        return occasionOfRun(run, environment);
      },
    });
    return { state: { open: await countOpenLateUsage(needs.database) } };
  },
  show: ({ open }, { openLateUsage }) => openLateUsage.set(open),
});
