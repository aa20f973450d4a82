import { createId } from '../../runtime/ids.js';
import { enqueue } from '../../sql/jobs/enqueue.js';
import type { THRESHOLD_JOBS } from '../jobs/page-jobs.js';
import { mustWrite } from '../records/unit.js';
import { billingNeeds, billingRunner, type BilledWorld } from './bill-environment.js';

/** Runs the job of a kind in one environment, and the billing jobs that it asks for. */
export async function runOneJob(world: BilledWorld, [job]: typeof THRESHOLD_JOBS): Promise<void> {
  const { environment } = world;
  const needs = { ...billingNeeds(world), createId };
  const actor = { kind: 'operator', name: 'test' } as const;
  await mustWrite(needs, { environment, actor }, (unit) => enqueue(unit, job, { input: {} }));
  await billingRunner(world, [job]).runDue(Date.now());
}
