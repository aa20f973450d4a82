import { createClickHouse } from '../../clickhouse/client.js';
import { systemClock } from '../../runtime/clock.js';
import { createLog } from '../../runtime/log.js';
import { createMetrics } from '../../runtime/metrics.js';
import { startJobs } from '../../sql/jobs/start-jobs.js';
import { createDatabase } from '../../sql/pool.js';
import { BILLING_JOBS } from '../jobs/billing-jobs.js';
import { createJobNeeds } from '../jobs/job-needs.js';
import { createPostgresDataUntil } from '../usage/watermark/data-until.js';

/** The engines that a worker bills on. */
export type WorkerEngines = {
  readonly databaseUrl: string;
  readonly clickHouseUrl: string;
  /** Connections to PostgreSQL; four when absent. */
  readonly poolSize?: number;
};

/** So that what a killed worker held is soon free. */
const LEASE_SECONDS = 1;

// A process of its own that carries out the jobs of billing-api, until a test kills it.
const engines = JSON.parse(process.argv[2] ?? '') as WorkerEngines;
const database = await createDatabase(engines.databaseUrl, { poolSize: engines.poolSize ?? 4 });
const clickHouse = createClickHouse(engines.clickHouseUrl);
const log = createLog('test', 'silent');
const dataUntil = createPostgresDataUntil(database, 0);
const needs = createJobNeeds({ database, clickHouse, log, dataUntil });
const jobs = BILLING_JOBS.map((job) => ({
  ...job,
  leaseSeconds: Math.min(job.leaseSeconds, LEASE_SECONDS),
}));
const metrics = createMetrics('billing-api');
await startJobs({ database, jobs, needs, clock: systemClock, log, metrics });
process.send?.('started');
