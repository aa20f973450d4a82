import { z } from 'zod';
import { MINUTE_MS } from '../../contract/instant.js';
import { defineJob } from '../../sql/jobs/job.js';
import { readLongestWait } from '../events/reconciliation/waiting-meters.js';

/** Once a minute, notes for how long the oldest meter has waited to be applied to stored events. */
export const WATCH_METER_WAITS = defineJob({
  name: 'watch-meter-waits',
  schedule: { everyMs: MINUTE_MS },
  input: z.object({}),
  state: z.object({ waitSeconds: z.number() }),
  inTransaction: async (tx) => ({ state: { waitSeconds: await readLongestWait(tx) } }),
  show: ({ waitSeconds }, metrics) => metrics.meterWait.set(waitSeconds),
});
