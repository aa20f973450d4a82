import { z } from 'zod';
import { enqueue } from '../../sql/jobs/enqueue.js';
import { defineJob } from '../../sql/jobs/job.js';
import { writeUnit } from '../records/unit.js';
import { findDueEndpoints } from '../webhooks/delivery/find-due-endpoints.js';
import { deliverTo } from '../webhooks/delivery/deliver.js';
import { DELIVER_TO_ENDPOINT } from '../webhooks/endpoints/endpoint-operations.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

/** Every five seconds, queues the delivery to each endpoint for which something is to be sent. */
export const QUEUE_WEBHOOKS = defineJob({
  name: 'queue-webhooks',
  schedule: { everyMs: 5_000 },
  input: z.object({}),
  withLease: async ({ run }, needs: JobNeeds) => {
    const due = await findDueEndpoints(needs.database, needs.clock.now());
    for (const { environment, endpointId } of due) {
      run.signal.throwIfAborted();
      await writeUnit(needs, occasionOfRun(run, environment), (unit) =>
        enqueue(unit, DELIVER_TO_ENDPOINT, { input: { endpointId } }),
      );
    }
    return {};
  },
});

/** Delivers to one endpoint, whatever others do meanwhile. */
export const DELIVER_WEBHOOKS = defineJob({
  name: DELIVER_TO_ENDPOINT.name,
  input: z.object({ endpointId: z.string() }),
  key: DELIVER_TO_ENDPOINT.keyOf,
  onceWhileWaiting: DELIVER_TO_ENDPOINT.onceWhileWaiting,
  withLease: async ({ input, run }, needs: JobNeeds) => ({
    hasMore: await deliverTo(needs, occasionOfRun(run), { ...input, signal: run.signal }),
  }),
});
