import { z } from 'zod';
import { HOUR_MS, MINUTE_MS } from '../../contract/instant.js';
import { defineJob } from '../../sql/jobs/job.js';
import { findTold, tellRejected } from '../events/tell-rejected.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

/** What was received longer ago is not told of, however long nobody looked. */
const LOOK_BACK_MS = HOUR_MS;

/**
 * Every minute, tells of events that no meter counts, where the setting event_rejected asks for it:
 * of those that were received since the look before and are counted by now.
 */
export const TELL_REJECTED = defineJob({
  name: 'tell-rejected',
  schedule: { everyMs: MINUTE_MS },
  input: z.object({}),
  state: z.object({ until: z.number() }),
  withLease: async ({ state, run }, needs: JobNeeds) => {
    const until = await needs.dataUntil();
    if (until === null) return {};
    const since = Math.max(state?.until ?? until - MINUTE_MS, until - LOOK_BACK_MS);
    if (since >= until) return {};
    for (const environment of await findTold(needs.database)) {
      run.signal.throwIfAborted();
      const window = { startMs: since, endMs: until };
      await tellRejected(needs, occasionOfRun(run, environment), window);
    }
    return { state: { until } };
  },
});
