import { createLog } from '../../runtime/log.js';
import { createMetrics } from '../../runtime/metrics.js';
import { createId } from '../../runtime/ids.js';
import { declareSchedules } from '../../sql/jobs/job-table.js';
import { JobRunner } from '../../sql/jobs/job-runner.js';
import { WATCH_BILLING } from '../jobs/watch-billing.js';
import { billingNeeds, type BilledWorld } from './bill-environment.js';

/** Looks for faults of the billing run once, as is done every minute; answers what was found. */
export type WatchFaults = () => Promise<readonly string[]>;

/** A watch of its own over the engines of a test. */
export async function createWatch(world: BilledWorld): Promise<WatchFaults> {
  const { database } = world;
  const metrics = createMetrics('billing-api');
  const log = createLog('test', 'silent');
  const needs = billingNeeds(world);
  const runner = new JobRunner({ database, jobs: [WATCH_BILLING], needs, log, metrics });
  await declareSchedules(database.slonik, [WATCH_BILLING], { now: 0, newId: createId });
  let turn = Date.now();
  return async () => {
    turn += 60_000;
    const hasRun = await runner.runNext(turn, new AbortController().signal);
    if (!hasRun) throw new Error('the watch over the billing run was not due');
    const { values } = await metrics.billingFaults.get();
    return values.filter(({ value }) => value > 0).map(({ labels }) => String(labels.fault));
  };
}
