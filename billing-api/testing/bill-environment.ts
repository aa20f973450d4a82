import { setTimeout } from 'node:timers/promises';
import { sql } from 'slonik';
import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { createLog } from '../../runtime/log.js';
import { createMetrics } from '../../runtime/metrics.js';
import { createId } from '../../runtime/ids.js';
import { enqueue } from '../../sql/jobs/enqueue.js';
import type { Job } from '../../sql/jobs/job.js';
import { JobRunner } from '../../sql/jobs/job-runner.js';
import type { Database } from '../../sql/pool.js';
import { BILL_ENVIRONMENT, BILL_ONE, FINALIZE_ONE } from '../jobs/bill-environment.js';
import { DUE_STEP_JOBS } from '../jobs/due-steps.js';
import { CANCEL_OVERDUE_ONE } from '../jobs/cancel-overdue.js';
import { ADVANCE_TEST_CLOCK } from '../jobs/advance-test-clock.js';
import { RECALCULATE } from '../jobs/recalculate-invoice.js';
import { SYNC_PLAN_SUBSCRIPTIONS } from '../jobs/sync-plan.js';
import { createJobNeeds, type JobNeeds } from '../jobs/job-needs.js';
import { mustWrite } from '../records/unit.js';
import { createPostgresDataUntil } from '../usage/watermark/data-until.js';
import { TOKEN_SECRET } from './billing-harness.js';
import { setTestClock } from './set-test-clock.js';

/** What a run of the billing jobs works with. */
export type BilledWorld = {
  readonly database: Database;
  readonly clickHouse: ClickHouse;
  readonly environment: Environment;
};

/**
 * The client of the user who reads usage, who sees nothing where a statement names no environment:
 * here such a statement fails, as it must never be sent.
 */
function asUsageReader(clickHouse: ClickHouse): ClickHouse {
  const refuse = (): never => {
    throw new TypeError('a statement about usage names no environment, so it would see nothing');
  };
  const withOptions: ClickHouse['withOptions'] = (options) =>
    options.settings?.log_comment === undefined ? refuse() : clickHouse.withOptions(options);
  const replaced: Readonly<Record<PropertyKey, unknown>> = {
    query: refuse,
    visitRows: refuse,
    withOptions,
  };
  return new Proxy(clickHouse, {
    get: (target, key) => {
      const member: unknown = replaced[key] ?? Reflect.get(target, key);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

/** The needs of the billing jobs on these engines. */
export function billingNeeds({ database, clickHouse }: BilledWorld): JobNeeds {
  const dataUntil = createPostgresDataUntil(database, 0);
  const reader = asUsageReader(clickHouse);
  return createJobNeeds({
    database,
    clickHouse,
    reader,
    log: createLog('test', 'silent'),
    dataUntil,
    secretsKey: TOKEN_SECRET,
    arePrivateTargetsAllowed: true,
  });
}

/** A runner of the billing jobs, as a process of billing-api has one, and of more jobs. */
export function billingRunner(
  world: BilledWorld,
  more: readonly Job<JobNeeds>[] = [],
  needs: JobNeeds = billingNeeds(world),
): JobRunner<JobNeeds> {
  const billing = [BILL_ENVIRONMENT, BILL_ONE, FINALIZE_ONE, CANCEL_OVERDUE_ONE, ...DUE_STEP_JOBS];
  const jobs = [...billing, RECALCULATE, SYNC_PLAN_SUBSCRIPTIONS, ADVANCE_TEST_CLOCK];
  return new JobRunner({
    database: world.database,
    jobs: [...jobs, ...more],
    needs,
    log: createLog('test', 'silent'),
    metrics: createMetrics('billing-api'),
  });
}

async function isUnderWay({ database, environment }: BilledWorld): Promise<boolean> {
  const { environmentId } = environment;
  const { found } = await ownerOf(database).one(sql.type(z.object({ found: z.boolean() }))`
    SELECT EXISTS (SELECT FROM jobs
      WHERE environment_id = ${environmentId} AND name IN ('bill-environment', 'recalculate-invoice', 'sync-plan')
        AND status <> 'parked' AND attempts < 2) AS found`);
  if (found) await setTimeout(20);
  return found;
}

/** Within this time a job that has failed once is due again. */
const RETRY_MAX_MS = 15_000;

/** Turns the clock of an environment to an instant, and does everything that is then due there. */
export async function billUntil(world: BilledWorld, instant: string): Promise<void> {
  const { database, environment } = world;
  await setTestClock(database, environment, Date.parse(instant));
  const actor = { kind: 'operator', name: 'test' } as const;
  const needs = { ...billingNeeds(world), createId };
  await mustWrite(needs, { environment, actor }, (unit) =>
    enqueue(unit, BILL_ENVIRONMENT, { input: {} }),
  );
  const runner = billingRunner(world);
  // Another runner of the same server may have taken an item of this environment, and still do it.
  // One that has failed, as on a busy machine, is tried again some seconds later.
  let later = 0;
  do {
    await runner.runDue(Date.parse(instant) + later);
    later = Math.min(later + 100, RETRY_MAX_MS);
  } while (await isUnderWay(world));
}
