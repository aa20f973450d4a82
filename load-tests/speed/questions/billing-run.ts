import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '../../../cli/look/api-client.js';
import { openEnvironment, turnTo } from '../../../cli/demo/turned-clock.js';
import { projectRoot } from '../../../runtime/project.js';
import { createSeededRandom } from '../../harness/seeded-random.js';
import { makePlan, randomEvent, sendCounted, subscribeAll } from '../billed-customers.js';
import { cpuSecondsOf, highWaterOf, productProcesses, type Part } from '../processes.js';
import { startProduct } from '../start-product.js';
import { writeResults } from './write-results.js';

/**
 * How many invoices a second a product bills that are all due at the same second (P7): a month with
 * usage is drafted, the next period begun, and the invoice finalized. Its environment has a test
 * clock, which is turned beyond the end of the month and the delay of drafts.
 * `npm run measure -- billing-run [SUBSCRIPTIONS]`.
 */
const subscriptions = Number(process.argv[2] ?? 2_000);
const EVENTS_OF_CUSTOMER = 12;
const START = '2026-01-01T00:00:00.000Z';
const DRAFTED = '2026-02-01T01:00:00.000Z';
const FINALIZED = '2026-02-01T03:00:00.000Z';
const MONTH_MINUTES = 31 * 1_440;
const random = createSeededRandom(1);

const janEvent = () =>
  randomEvent(random, subscriptions, Date.parse(START) + random.below(MONTH_MINUTES) * 60_000);

async function countOf(api: ApiClient, status: string): Promise<number> {
  const { pagination } = await api.post<{ readonly pagination: { readonly total: number } }>(
    '/invoices/search',
    {
      invoice_status: [status],
      billing_reason: 'SUBSCRIPTION_CYCLE',
      limit: 1,
      skip_line_items: true,
    },
  );
  return pagination.total;
}

type Processes = Awaited<ReturnType<typeof productProcesses>>;

/** Turns the clock, and says what that took until every invoice has this status. */
async function timed(
  api: ApiClient,
  processes: Processes,
  { clockId, now, status }: { clockId: string; now: string; status: string },
) {
  const before = await cpuSecondsOf(processes);
  const startedAt = performance.now();
  await turnTo(api, clockId, now);
  while ((await countOf(api, status)) < subscriptions) await delay(200);
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu: Partial<Record<Part, number>> = {};
  for (const [part, used] of await cpuSecondsOf(processes)) {
    cpu[part] = Number((used - (before.get(part) ?? 0)).toFixed(2));
  }
  return { status, seconds: Number(seconds.toFixed(2)), cpuSeconds: cpu };
}

async function memoryOfBilling(processes: Processes): Promise<number | null> {
  const pid = processes.find(({ part }) => part === 'billing-api')?.pid;
  return pid === undefined ? null : highWaterOf(pid);
}

const directory = await mkdtemp(join(tmpdir(), 'minutebook-speed-'));
const product = await startProduct(projectRoot, directory);
try {
  const api = await openEnvironment(`${product.url}/v1`);
  const clock = await api.post<{ id: string }>('/test_clocks', { name: 'Run', now: START });
  const planId = await makePlan(api);
  const events = Array.from({ length: subscriptions * EVENTS_OF_CUSTOMER }, janEvent);
  await sendCounted(api, events);
  await subscribeAll(api, subscriptions, { plan_id: planId, start_date: START });
  const processes = await productProcesses(process.pid);
  const memoryBefore = await memoryOfBilling(processes);
  const turn = { clockId: clock.id };
  const drafted = await timed(api, processes, { ...turn, now: DRAFTED, status: 'DRAFT' });
  const finalized = await timed(api, processes, { ...turn, now: FINALIZED, status: 'FINALIZED' });
  const perSecond = subscriptions / (drafted.seconds + finalized.seconds);
  const results = {
    load: loadavg()[0],
    subscriptions,
    drafted,
    finalized,
    invoicesPerSecond: Number(perSecond.toFixed(1)),
    billingApiMb: { before: memoryBefore, most: await memoryOfBilling(processes) },
  };
  console.log(JSON.stringify(results, null, 2));
  await writeResults('billing-run', results);
} finally {
  await product.stop();
  await rm(directory, { recursive: true, force: true });
}
