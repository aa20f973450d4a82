import { z } from 'zod';
import { defineJob } from '../../sql/jobs/job.js';
import { SYNC_PLAN } from '../subscription-life/sync-plan/start-plan-sync.js';
import { syncPlan } from '../subscription-life/sync-plan/sync-plan.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

/** Gives the subscriptions of a plan its present prices, as a request has begun it. */
export const SYNC_PLAN_SUBSCRIPTIONS = defineJob({
  name: SYNC_PLAN.name,
  input: z.object({ planId: z.string(), workflowId: z.string() }),
  key: SYNC_PLAN.keyOf,
  onceWhileWaiting: SYNC_PLAN.onceWhileWaiting,
  withLease: async ({ input, run }, needs: JobNeeds) => {
    await syncPlan(needs, occasionOfRun(run), input);
    return {};
  },
});
