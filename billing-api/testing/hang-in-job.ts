import { createClickHouse } from '../../clickhouse/client.js';
import { createLog } from '../../runtime/log.js';
import { createDatabase } from '../../sql/pool.js';
import { hangInJob, hangingAt, type HangingJob } from '../../sql/testing/killed-job.js';
import { BILLING_JOBS } from '../jobs/billing-jobs.js';
import { createJobNeeds } from '../jobs/job-needs.js';
import { createPostgresDataUntil } from '../usage/watermark/data-until.js';

// A process of its own, which a test kills in the middle of a job.
const hanging = JSON.parse(process.argv[2] ?? '') as HangingJob;
const database = await createDatabase(hanging.databaseUrl, { poolSize: 4 });
const clickHouse = hangingAt(createClickHouse(hanging.clickHouseUrl), hanging.at);
const log = createLog('test', 'silent');
const dataUntil = createPostgresDataUntil(database, 0);
const needs = createJobNeeds({ database, clickHouse, log, dataUntil });
await hangInJob(hanging, { database, jobs: BILLING_JOBS, needs });
