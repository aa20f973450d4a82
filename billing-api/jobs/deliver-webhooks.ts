import { z } from 'zod';
import type { Environment } from '../../contract/environment.js';
import { enqueue } from '../../sql/jobs/enqueue.js';
import { defineJob } from '../../sql/jobs/job.js';
import { mustWrite } from '../records/unit.js';
import { findDueEndpoints, type DueEndpoint } from '../webhooks/delivery/find-due-endpoints.js';
import { deliverTo } from '../webhooks/delivery/deliver.js';
import { DELIVER_TO_ENDPOINT } from '../webhooks/endpoints/endpoint-operations.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

/** Deliveries that are queued in one transaction: those that it holds begin after it. */
const QUEUED_AT_ONCE = 50;

type Group = { readonly environment: Environment; readonly endpointIds: string[] };

/** Endpoints of one environment together, some at a time. */
function groupsOf(due: readonly DueEndpoint[]): readonly Group[] {
  const open = new Map<string, Group>();
  const groups: Group[] = [];
  for (const { environment, endpointId } of due) {
    const { environmentId } = environment;
    let group = open.get(environmentId);
    if (group === undefined || group.endpointIds.length === QUEUED_AT_ONCE) {
      group = { environment, endpointIds: [] };
      open.set(environmentId, group);
      groups.push(group);
    }
    group.endpointIds.push(endpointId);
  }
  return groups;
}

/** Every five seconds, queues the delivery to each endpoint for which something is to be sent. */
export const QUEUE_WEBHOOKS = defineJob({
  name: 'queue-webhooks',
  schedule: { everyMs: 5_000 },
  input: z.object({}),
  withLease: async ({ run }, needs: JobNeeds) => {
    const due = await findDueEndpoints(needs.database, needs.clock.now());
    for (const { environment, endpointIds } of groupsOf(due)) {
      run.signal.throwIfAborted();
      await mustWrite(needs, occasionOfRun(run, environment), async (unit) => {
        for (const endpointId of endpointIds) {
          await enqueue(unit, DELIVER_TO_ENDPOINT, { input: { endpointId } });
        }
        return null;
      });
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
