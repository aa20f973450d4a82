import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { z } from 'zod';
import { eventsOfLog, readLogFile } from '../../cli/demo/access-log.js';
import { ApiClient } from '../../cli/look/api-client.js';
import { readEventTotals } from '../../cli/demo/event-totals.js';
import { createCatalog, type DemoCatalog } from '../../cli/demo/catalog.js';
import { recountWithAwk } from '../../cli/demo/recount.js';
import { sendEvents, withDuplicates } from '../../cli/demo/send-log.js';
import type { Stack } from '../../cli/stack/stack.js';
import { createClickHouse } from '../../clickhouse/client.js';
import { projectRoot } from '../../runtime/project.js';
import { withPatientSession } from '../harness/patient-session.js';

const DEMO_LOG = join(projectRoot, 'cli/demo/data/apache-access.log.gz');
const CHUNK_EVENTS = 200;
const SETTLE_TIMEOUT_MS = 180_000;

const usageRow = z.object({
  customer_key: z.string(),
  usage: z.string().transform(Number),
});
const generationsRow = z.object({ meter_id: z.string(), generations: z.array(z.string()) });

/** Kills aggregator and ClickHouse in turns until the signal aborts; returns how often. */
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
      const totals = await readEventTotals(clickhouse).catch(() => null);
      const seen = (totals?.counted ?? 0) + (totals?.duplicates ?? 0);
      if (seen >= accepted || Date.now() > deadline) return;
      await delay(200);
    }
  } finally {
    await clickhouse.close();
  }
}

/** Usage per customer and meter as readers sum it up, keyed `customer meter`. */
async function readUsage(stack: Stack): Promise<ReadonlyMap<string, number>> {
  const clickhouse = createClickHouse(stack.clickhouseUrl);
  const usage = new Map<string, number>();
  try {
    for (const { meter_id: meter, generations } of await readGenerations(stack.ownerDatabaseUrl)) {
      const rows = await clickhouse.query(
        `SELECT customer_key, sum(event_count) AS usage FROM usage_minute_v1
         WHERE meter_id = {meter:String} AND has({generations:Array(UInt64)}, generation)
         GROUP BY customer_key`,
        { meter, generations: generations.map(Number) },
        usageRow,
      );
      for (const row of rows) usage.set(`${row.customer_key} ${meter}`, row.usage);
    }
    return usage;
  } finally {
    await clickhouse.close();
  }
}

/** The generations that readers of each meter sum; rows of other generations may be stored too. */
async function readGenerations(databaseUrl: string) {
  return withPatientSession(databaseUrl, async (session) => {
    const { rows } = await session.query(
      'SELECT meter_id, read_generations::text[] AS generations FROM meter_versions',
    );
    return z.array(generationsRow).parse(rows);
  });
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

/** Sends the demo's events while aggregator and ClickHouse are killed; every customer is right. */
export async function countsExactlyUnderKills(stack: Stack): Promise<void> {
  const text = await readLogFile(DEMO_LOG);
  const sending = withDuplicates(eventsOfLog(text));
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
  const totals = await readEventTotals(clickhouse).finally(() => clickhouse.close());
  expect({ accepted, ...totals }).toEqual({ accepted: 13_333, counted: 10_000, duplicates: 3_333 });
  await expectExactCounts(stack, catalog, text);
}
