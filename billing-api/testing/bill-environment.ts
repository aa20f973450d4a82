import type { ClickHouse } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import { createLog } from '../../runtime/log.js';
import { createMetrics } from '../../runtime/metrics.js';
import { createId } from '../../runtime/ids.js';
import { enqueue } from '../../sql/jobs/enqueue.js';
import { JobRunner } from '../../sql/jobs/job-runner.js';
import type { Database } from '../../sql/pool.js';
import { BILL_ENVIRONMENT, BILL_ONE, FINALIZE_ONE } from '../jobs/bill-environment.js';
import { createJobNeeds, type JobNeeds } from '../jobs/job-needs.js';
import { writeUnit } from '../records/unit.js';
import { createPostgresDataUntil } from '../usage/watermark/data-until.js';
import { setTestClock } from './set-test-clock.js';

/** What a run of the billing jobs works with. */
export type BilledWorld = {
  readonly database: Database;
  readonly clickHouse: ClickHouse;
  readonly environment: Environment;
};

/** The needs of the billing jobs on these engines. */
export function billingNeeds({ database, clickHouse }: BilledWorld): JobNeeds {
  const dataUntil = createPostgresDataUntil(database, 0);
  return createJobNeeds({ database, clickHouse, log: createLog('test', 'silent'), dataUntil });
}

/** A runner of the billing jobs, as a process of billing-api has one. */
export function billingRunner(world: BilledWorld): JobRunner<JobNeeds> {
  return new JobRunner({
    database: world.database,
    jobs: [BILL_ENVIRONMENT, BILL_ONE, FINALIZE_ONE],
    needs: billingNeeds(world),
    log: createLog('test', 'silent'),
    metrics: createMetrics('billing-api'),
  });
}

/** Turns the clock of an environment to an instant, and does everything that is then due there. */
export async function billUntil(world: BilledWorld, instant: string): Promise<void> {
  const { database, environment } = world;
  await setTestClock(database, environment, Date.parse(instant));
  const actor = { kind: 'operator', name: 'test' } as const;
  const needs = { ...billingNeeds(world), createId };
  await writeUnit(needs, { environment, actor }, (unit) =>
    enqueue(unit, BILL_ENVIRONMENT, { input: {} }),
  );
  await billingRunner(world).runDue(Date.parse(instant));
}
