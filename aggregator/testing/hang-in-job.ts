import { createClickHouse } from '../../clickhouse/client.js';
import { openPostgresReader } from '../../event-log/postgres/reader.js';
import { createLog } from '../../runtime/log.js';
import { createDatabase } from '../../sql/pool.js';
import { hangInJob, hangingAt, type HangingJob } from '../../sql/testing/killed-job.js';
import { aggregatorJobs } from '../jobs/aggregator-jobs.js';

// A process of its own, which a test kills in the middle of a job.
const hanging = JSON.parse(process.argv[2] ?? '') as HangingJob;
const { at, databaseUrl, clickHouseUrl } = hanging;
const database = await createDatabase(databaseUrl, { poolSize: 4 });
const log = await openPostgresReader({ url: databaseUrl, retentionMs: 0 });
const needs = {
  database: Object.create(database, {
    slonik: { value: hangingAt(database.slonik, at) },
  }) as typeof database,
  clickhouse: hangingAt(createClickHouse(clickHouseUrl), at),
  log: hangingAt(log, at),
  logger: createLog('test', 'silent'),
  retentionDays: 35,
  removalDelaySeconds: 0,
  revertHours: 0,
};
await hangInJob(hanging, { database, jobs: aggregatorJobs(log), needs });
