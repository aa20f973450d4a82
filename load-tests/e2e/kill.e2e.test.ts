import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { eventsOfLog, readLogFile } from '../../cli/demo/access-log.js';
import { ApiClient } from '../../cli/demo/api-client.js';
import { readBooks } from '../../cli/demo/books.js';
import { createCatalog, type DemoCatalog } from '../../cli/demo/catalog.js';
import { recountWithAwk } from '../../cli/demo/recount.js';
import { sendEvents, withRepeats } from '../../cli/demo/send-log.js';
import { startStack, type Stack } from '../../cli/stack.js';
import { readStackConfig } from '../../cli/stack-config.js';
import { createClickHouse } from '../../clickhouse/client.js';
import { projectRoot } from '../../runtime/project.js';
import { obtainKafka } from '../harness/kafka.js';

const DEMO_LOG = join(projectRoot, 'cli/demo/data/apache-access.log.gz');
const CHUNK_EVENTS = 200;
const SETTLE_TIMEOUT_MS = 180_000;

const usageRow = z.object({
  customer_key: z.string(),
  meter_id: z.string(),
  usage: z.string().transform(Number),
});

async function withStack(
  settings: Readonly<Record<string, string>>,
  work: (stack: Stack) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'minutebook-e2e-'));
  const config = readStackConfig({
    MINUTEBOOK_PORT: '0',
    MINUTEBOOK_LOG_LEVEL: 'fatal',
    MINUTEBOOK_DATA_DIR: directory,
    ...settings,
  });
  const stack = await startStack(config, () => rm(directory, { recursive: true, force: true }));
  try {
    await work(stack);
  } finally {
    await stack.lifecycle.close();
  }
}

/** kill -9, in turns, of the aggregator and of ClickHouse, until told to stop; says how often. */
async function killInTurns(stack: Stack, signal: AbortSignal): Promise<number> {
  let kills = 0;
  while (!signal.aborted) {
    await delay(700 + 300 * (kills % 3), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    const victim = kills % 2 === 0 ? stack.aggregator : stack.clickhouse;
    const pid = victim?.pid() ?? null;
    if (pid === null) continue;
    process.kill(pid, 'SIGKILL');
    kills += 1;
  }
  return kills;
}

async function settle(stack: Stack, accepted: number): Promise<void> {
  const clickhouse = createClickHouse(stack.clickhouseUrl);
  const deadline = Date.now() + SETTLE_TIMEOUT_MS;
  try {
    for (;;) {
      const books = await readBooks(clickhouse).catch(() => null);
      const seen = (books?.counted ?? 0) + (books?.duplicates ?? 0);
      if (seen >= accepted || Date.now() > deadline) return;
      await delay(200);
    }
  } finally {
    await clickhouse.close();
  }
}

/** Usage per customer and meter as the tables hold it, keyed `customer meter`. */
async function readUsage(stack: Stack): Promise<ReadonlyMap<string, number>> {
  const clickhouse = createClickHouse(stack.clickhouseUrl);
  try {
    const rows = await clickhouse.query(
      `SELECT customer_key, meter_id, sum(event_count) AS usage FROM usage_minute_v1
       WHERE NOT startsWith(meter_id, '#') GROUP BY customer_key, meter_id`,
      {},
      usageRow,
    );
    return new Map(rows.map((row) => [`${row.customer_key} ${row.meter_id}`, row.usage]));
  } finally {
    await clickhouse.close();
  }
}

async function expectExactCounts(stack: Stack, catalog: DemoCatalog, text: string): Promise<void> {
  const usage = await readUsage(stack);
  const recount = await recountWithAwk(text);
  const wrong = [...recount].filter(([customer, { all, pages }]) => {
    const requests = usage.get(`e:${customer} ${catalog.requestsMeterId}`) ?? 0;
    const delivered = usage.get(`e:${customer} ${catalog.pagesMeterId}`) ?? 0;
    return requests !== all || delivered !== pages;
  });
  expect(wrong).toEqual([]);
}

async function countsExactlyUnderKills(stack: Stack): Promise<void> {
  const text = await readLogFile(DEMO_LOG);
  const sending = withRepeats(eventsOfLog(text));
  const api = new ApiClient(`${stack.url}/v1`, stack.apiKey);
  const catalog = await createCatalog(api);
  const stop = new AbortController();
  const killing = killInTurns(stack, stop.signal);
  let accepted = 0;
  for (let start = 0; start < sending.length; start += CHUNK_EVENTS) {
    const chunk = sending.slice(start, start + CHUNK_EVENTS);
    accepted += (await sendEvents(api, chunk, () => undefined)).accepted;
    await delay(100);
  }
  stop.abort();
  expect(await killing).toBeGreaterThan(4);
  await settle(stack, accepted);
  const clickhouse = createClickHouse(stack.clickhouseUrl);
  const books = await readBooks(clickhouse).finally(() => clickhouse.close());
  expect({ accepted, ...books }).toEqual({ accepted: 13_333, counted: 10_000, duplicates: 3_333 });
  await expectExactCounts(stack, catalog, text);
}

const { kafka, skipReason } = await obtainKafka();
afterAll(() => kafka?.stop());

describe('the demo under kill -9 of aggregator and ClickHouse', () => {
  test('counts every request once on the log in PostgreSQL', async () => {
    await withStack({}, countsExactlyUnderKills);
  });

  test.skipIf(kafka === null)(
    `counts every request once on Kafka${skipReason === null ? '' : ` (skipped: ${skipReason})`}`,
    async () => {
      await withStack({ KAFKA_BROKERS: kafka?.brokers ?? '' }, countsExactlyUnderKills);
    },
  );
});
