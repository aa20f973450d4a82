import type { Environment } from '../../contract/environment.js';
import { createClickHouse } from '../../clickhouse/client.js';
import { createLog } from '../../runtime/log.js';
import { createMetrics } from '../../runtime/metrics.js';
import { startJobs } from '../../sql/jobs/start-jobs.js';
import { createDatabase } from '../../sql/pool.js';
import { BILLING_JOBS } from '../jobs/billing-jobs.js';
import type { WorkerEngines } from './bill-as-worker.js';
import { billingNeeds } from './bill-environment.js';

// A process of its own that carries out the jobs that are named, by a clock that is turned, until
// it is killed.
type Turned = WorkerEngines & {
  readonly environment: Environment;
  readonly jobs: readonly string[];
  readonly turnedMs: number;
  readonly isAllCounted?: boolean;
};
const {
  turnedMs,
  environment,
  jobs,
  isAllCounted = false,
  ...engines
} = JSON.parse(process.argv[2] ?? '') as Turned;
const database = await createDatabase(engines.databaseUrl, { poolSize: 8 });
const clickHouse = createClickHouse(engines.clickHouseUrl);
const clock = { now: () => Date.now() + turnedMs };
const needs = billingNeeds({ database, clickHouse, environment });
const dataUntil = isAllCounted ? () => Promise.resolve(clock.now()) : needs.dataUntil;
await startJobs({
  database,
  // What a killed process held is soon free.
  jobs: BILLING_JOBS.filter(({ name }) => jobs.includes(name)).map((job) => ({
    ...job,
    leaseSeconds: 1,
  })),
  needs: { ...needs, clock, dataUntil },
  clock,
  log: createLog('test', 'silent'),
  metrics: createMetrics('billing-api'),
});
process.send?.('started');
