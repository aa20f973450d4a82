import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import { ApiClient } from '../../cli/look/api-client.js';
import { readEventTotals } from '../../cli/demo/event-totals.js';
import { integerColumn } from '../../sql/columns.js';
import { MemorySampler } from './memory-sampler.js';
import { onBench, type Bench } from './programs.js';
import {
  atLeast,
  atMost,
  grouped,
  type Finding,
  type Measurement,
  type Progress,
  type Series,
  type SpeedOptions,
} from './section.js';
import { repeatsIn, sendBulk } from './send-bulk.js';

const REPEAT_EVERY = 100;
const SAMPLE_MS = 250;
const YARDSTICK_ROWS = 500_000;
const YARDSTICK_ROWS_PER_INSERT = 50_000;
const AGGREGATOR_MEGABYTES_MAX = 400;

const METERS = [
  { name: 'All requests', filters: [] },
  { name: 'Delivered', filters: [{ key: 'status', values: ['200', '206'] }] },
  { name: 'Redirected or missing', filters: [{ key: 'status', values: ['301', '304', '404'] }] },
];

async function createMeters(bench: Bench, log: SpeedOptions['log']): Promise<void> {
  const billing = await bench.start('billing-api', log);
  const api = new ApiClient(`${billing.url}/v1`, bench.apiKey);
  for (const meter of METERS) {
    await api.post('/meters', {
      ...meter,
      event_name: 'api.request',
      aggregation: { type: 'COUNT' },
    });
  }
  await billing.stop();
}

type Run = {
  readonly clickhouse: ClickHouse;
  readonly log: SpeedOptions['log'];
  readonly events: number;
  readonly progress: Progress;
};

type Samples = { readonly points: (readonly [number, number])[]; readonly seconds: number };

/** Waits until all events are in the tables; samples how many there are. */
async function watchBooks({ clickhouse, events, progress }: Run): Promise<Samples> {
  const startedAt = performance.now();
  const points: (readonly [number, number])[] = [];
  for (;;) {
    const { counted, duplicates } = await readEventTotals(clickhouse);
    const seconds = (performance.now() - startedAt) / 1000;
    const done = counted + duplicates;
    points.push([Number(seconds.toFixed(2)), done]);
    progress(0.3 + 0.5 * (done / events), `${grouped(done)} of ${grouped(events)} aggregated`);
    if (done >= events) {
      if (done > events) throw new Error(`${done} events were processed, ${events} were sent`);
      return { points, seconds };
    }
    await delay(SAMPLE_MS);
  }
}

/** Stored events as JSON lines, as any other program would insert them. */
async function rawRows(url: string, offset: number): Promise<string> {
  const { origin, pathname, username, password } = new URL(url);
  const query = `SELECT * FROM events_v1 LIMIT ${YARDSTICK_ROWS_PER_INSERT} OFFSET ${offset}
    FORMAT JSONEachRow`;
  const response = await fetch(`${origin}/?database=${pathname.slice(1) || 'default'}`, {
    method: 'POST',
    headers: { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password },
    body: query,
  });
  if (!response.ok) throw new Error(await response.text());
  return response.text();
}

/** Rows a second of a bare bulk insert of the same raw rows into a table of the same kind. */
async function bareInsertRate(clickhouse: ClickHouse, url: string): Promise<number> {
  await clickhouse.command('CREATE TABLE bare_events AS events_v1');
  const bodies: string[] = [];
  for (let offset = 0; offset < YARDSTICK_ROWS; offset += YARDSTICK_ROWS_PER_INSERT) {
    bodies.push(await rawRows(url, offset));
  }
  const startedAt = performance.now();
  for (const [index, body] of bodies.entries()) {
    await clickhouse.insertText({
      query: 'INSERT INTO bare_events FORMAT JSONEachRow',
      parameters: {},
      body,
      queryId: `bare-insert-${index}`,
    });
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const row = z.object({ found: integerColumn });
  const [rows] = await clickhouse.query('SELECT count() AS found FROM bare_events', {}, row);
  return (rows?.found ?? 0) / seconds;
}

const diskRow = z.object({ table: z.string(), bytes: integerColumn, rows: integerColumn });

/** P10 after all merges: bytes a row of the three large tables. */
async function bytesPerRow(clickhouse: ClickHouse): Promise<ReadonlyMap<string, number>> {
  for (const table of ['events_v1', 'event_ids_v1', 'usage_minute_v1']) {
    await clickhouse.command(`OPTIMIZE TABLE ${table} FINAL`);
  }
  const rows = await clickhouse.query(
    `SELECT table, sum(bytes_on_disk) AS bytes, sum(rows) AS rows FROM system.parts
     WHERE active AND database = currentDatabase() GROUP BY table`,
    {},
    diskRow,
  );
  return new Map(rows.map(({ table, bytes, rows: count }) => [table, bytes / count]));
}

function rateSeries(points: Samples['points']): (readonly [number, number])[] {
  return points.slice(1).map(([seconds, done], index) => {
    const [before = 0, doneBefore = 0] = points[index] ?? [];
    return [seconds, Math.round((done - doneBefore) / (seconds - before))] as const;
  });
}

async function fillLog(bench: Bench, { events, log, progress }: Run): Promise<void> {
  const ingest = await bench.start('ingest', log);
  await sendBulk(bench.targetOf(ingest), {
    events,
    repeatEvery: REPEAT_EVERY,
    onSent: (sent) => progress(0.25 * (sent / events), `${grouped(sent)} sent`),
  });
  await ingest.stop();
}

type Aggregated = Samples & {
  readonly counted: number;
  readonly duplicates: number;
  readonly memory: readonly Series[];
  readonly sampler: MemorySampler;
};

async function aggregate(bench: Bench, run: Run): Promise<Aggregated> {
  const aggregator = await bench.start('aggregator', run.log);
  const memory = await MemorySampler.start(new Map([['aggregator', aggregator.pid]]));
  const samples = await watchBooks(run);
  const totals = await readEventTotals(run.clickhouse);
  const sent = repeatsIn(run.events, REPEAT_EVERY);
  if (totals.duplicates !== sent) {
    throw new Error(`${totals.duplicates} duplicates, ${sent} were sent`);
  }
  const resident = await memory.stop();
  await aggregator.stop();
  return { ...samples, ...totals, memory: resident, sampler: memory };
}

function findingsOf(
  { counted, sampler }: Aggregated,
  rates: { readonly ours: number; readonly bare: number },
  disk: ReadonlyMap<string, number>,
): readonly Finding[] {
  const { ours, bare } = rates;
  const sized = `${grouped(counted)} events`;
  const memoryMax = AGGREGATOR_MEGABYTES_MAX + (2 * counted) / 2 ** 20;
  const bytesOf = (table: string): number => disk.get(table) ?? Number.POSITIVE_INFINITY;
  const minuteRow = { id: 'P10', what: 'disk of a minute row', unit: 'bytes' };
  const eventId = { id: 'P10', what: 'disk of an id', target: '', isReached: null };
  return [
    atLeast(
      { id: 'P3', what: `aggregator alone, ${sized}, of the bare insert` },
      ours / bare,
      0.35,
    ),
    sampler.findingOf('aggregator', memoryMax),
    atMost(minuteRow, bytesOf('usage_minute_v1'), 2),
    atMost(
      { ...minuteRow, what: 'disk of a raw event, properties of the access log' },
      bytesOf('events_v1'),
      45,
    ),
    { ...eventId, value: `${bytesOf('event_ids_v1').toFixed(1)} bytes` },
  ];
}

/** P3, the memory of the aggregator (P9) and the disk (P10): a backlog, the aggregator alone. */
export const measureBacklog: Measurement = ({ events, log }, progress) =>
  onBench(async (bench, clickhouse) => {
    const run = { clickhouse, log, events, progress };
    await createMeters(bench, log);
    await fillLog(bench, run);
    const aggregated = await aggregate(bench, run);
    progress(0.85, 'bare insert of the same rows');
    const bare = await bareInsertRate(clickhouse, bench.engines.clickhouseUrl);
    progress(0.95, 'disk');
    const disk = await bytesPerRow(clickhouse);
    const { points, seconds, counted, duplicates } = aggregated;
    const ours = events / seconds;
    const rate = { name: 'rate', points: rateSeries(points) };
    return {
      title: 'Backlog, aggregator alone',
      findings: findingsOf(aggregated, { ours, bare }, disk),
      plots: [
        { title: 'Events aggregated', xLabel: 'seconds', yLabel: 'events/s', series: [rate] },
        { title: 'Memory', xLabel: 'seconds', yLabel: 'MB', series: aggregated.memory },
      ],
      notes: [
        `${grouped(events)} events, 10,000 customers, 3 meters, 1 % repeats: ${grouped(ours)} events/s from ready to done; bare insert ${grouped(bare)} rows/s.`,
        `Aggregator, ClickHouse and PostgreSQL share the cores. Count check: ${grouped(counted)} counted + ${grouped(duplicates)} repeats = ${grouped(events)} sent.`,
      ],
    };
  });
