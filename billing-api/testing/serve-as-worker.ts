import { createClickHouse } from '../../clickhouse/client.js';
import { systemClock } from '../../runtime/clock.js';
import { createLog } from '../../runtime/log.js';
import { createMetrics } from '../../runtime/metrics.js';
import { startJobs } from '../../sql/jobs/start-jobs.js';
import { createDatabase } from '../../sql/pool.js';
import { TAKE_BY_GATEWAY } from '../jobs/take-payments.js';
import type { WorkerEngines } from './bill-as-worker.js';
import { billingNeeds } from './bill-environment.js';
import { withBillingApi } from './billing-harness.js';

// A process of its own that serves the API and takes payments by the gateway, until it is killed.
const engines = JSON.parse(process.argv[2] ?? '') as WorkerEngines;
const database = await createDatabase(engines.databaseUrl, { poolSize: 8 });
const clickhouse = createClickHouse(engines.clickHouseUrl);
await withBillingApi({ database, clickhouse }, async ({ url, environment }) => {
  await startJobs({
    database,
    // What a killed process held is soon free.
    jobs: [{ ...TAKE_BY_GATEWAY, leaseSeconds: 1 }],
    needs: billingNeeds({ database, clickHouse: clickhouse, environment }),
    clock: systemClock,
    log: createLog('test', 'silent'),
    metrics: createMetrics('billing-api'),
  });
  process.send?.(url);
  await new Promise(() => undefined);
});
