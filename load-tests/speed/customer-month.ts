import { build, type Histogram } from 'hdr-histogram-js';
import { z } from 'zod';
import { ApiClient } from '../../cli/look/api-client.js';
import type { ClickHouse } from '../../clickhouse/client.js';
import { assertPresent } from '../../runtime/failure.js';
import { integerColumn } from '../../sql/columns.js';
import {
  createMonthCustomers,
  customerName,
  fillMonths,
  findPlaces,
  MINUTES_OF_MONTH,
  MONTH_END_MS,
  MONTH_START_MS,
  usedBy,
  type Place,
} from './minute-rows.js';
import { onBench, type Bench } from './programs.js';
import { atMost, grouped, type Finding, type Measurement, type Plot } from './section.js';

const CALLS = 300;
const WARM_UP_CALLS = 30;
/** The service may take so much longer than the raw SELECT. */
const SERVICE_ABOVE_RAW_MS_MAX = 5;
const CALLS_AT_ONCE = 8;
const AT_ONCE_MS_MAX = 30;
/** Merging a hundred million rows takes minutes. */
const MERGE_TIMEOUT_MS = 900_000;
const SERVICE_P99_MS_MAX = 30;
const MINUTE_ROW_BYTES_MAX = 2;
const PERCENTILES = [50, 75, 90, 95, 99, 99.9, 100];

const sizeRow = z.object({ bytes: integerColumn, rows: integerColumn });
const KEY = `tenant_id = {tenant:String} AND environment_id = {environment:String}
  AND meter_id = {meter:String}`;
const RAW = `SELECT sum(event_count) AS used FROM usage_minute_v1 WHERE ${KEY}
  AND customer_key = {customer:String} AND generation = {generation:UInt64}
  AND minute >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
  AND minute < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`;

type World = { readonly bench: Bench; readonly clickhouse: ClickHouse; readonly api: ApiClient };

async function makeMeter({ bench, clickhouse, api }: World): Promise<Place> {
  const { id } = await api.post<{ readonly id: string }>('/meters', {
    name: 'Calls',
    event_name: 'call',
    aggregation: { type: 'COUNT' },
  });
  const places = await findPlaces({ bench, clickhouse }, { eventName: 'call', count: 1 });
  return assertPresent(places.get(id), 'the place of the only meter');
}

async function timed(times: Histogram, work: () => Promise<number>): Promise<number> {
  const startedAt = performance.now();
  const answer = await work();
  times.recordValue(Math.round((performance.now() - startedAt) * 1000));
  return answer;
}

const createTimes = (): Histogram =>
  build({ highestTrackableValue: 60_000_000, useWebAssembly: false });

type Times = { readonly raw: Histogram; readonly service: Histogram };

/** Asks the service for one customer's month. */
async function askService({ api }: World, place: Place, customer: number): Promise<number> {
  const { value } = await api.post<{ readonly value: string }>('/events/usage/meter', {
    meter_id: place.meter,
    external_customer_id: customerName(customer),
    start_time: new Date(MONTH_START_MS).toISOString(),
    end_time: new Date(MONTH_END_MS).toISOString(),
  });
  return Number(value);
}

function checkUsed(customer: number, answers: readonly number[]): void {
  const used = usedBy(customer);
  if (answers.every((answer) => answer === used)) return;
  throw new Error(`${customerName(customer)}: used ${used}, answered ${answers.join(' and ')}`);
}

/** Queries both in turns, so that a disturbance affects both. */
async function askInTurns(world: World, place: Place, customers: number): Promise<Times> {
  const { clickhouse } = world;
  const month = { from: MONTH_START_MS, to: MONTH_END_MS };
  const usedRow = z.object({ used: integerColumn });
  let times: Times = { raw: createTimes(), service: createTimes() };
  for (let call = 0; call < WARM_UP_CALLS + CALLS; call += 1) {
    if (call === WARM_UP_CALLS) times = { raw: createTimes(), service: createTimes() };
    const customer = (call * 7_919) % customers;
    const asked = { ...place, ...month, customer: `e:${customerName(customer)}` };
    const raw = await timed(times.raw, async () => {
      const [row] = await clickhouse.query(RAW, asked, usedRow);
      return row?.used ?? 0;
    });
    const service = await timed(times.service, () => askService(world, place, customer));
    checkUsed(customer, [raw, service]);
  }
  return times;
}

/** The service with so many callers, each of whom asks again as soon as it is answered. */
async function askAtOnce(world: World, place: Place, customers: number): Promise<Histogram> {
  const times = createTimes();
  const answers: (readonly [customer: number, answer: number])[] = [];
  let call = 0;
  const ask = async (): Promise<void> => {
    while (call < CALLS) {
      const customer = (call * 7_919) % customers;
      call += 1;
      answers.push([customer, await timed(times, () => askService(world, place, customer))]);
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, ask));
  // Counting by hand takes longer than an answer, so it waits until nobody is timed.
  for (const [customer, answer] of answers) checkUsed(customer, [answer]);
  return times;
}

async function bytesPerRow({ clickhouse }: World): Promise<number> {
  const select = `SELECT sum(bytes_on_disk) AS bytes, sum(rows) AS rows FROM system.parts
    WHERE active AND database = currentDatabase() AND table = 'usage_minute_v1'`;
  const [size] = await clickhouse.query(select, {}, sizeRow);
  return (size?.bytes ?? Number.POSITIVE_INFINITY) / (size?.rows ?? 1);
}

function latencyPlot({ raw, service }: Times, atOnce: Histogram): Plot {
  const all = { 'raw SELECT': raw, service, 'service, eight at once': atOnce };
  const series = Object.entries(all).map(([name, times]) => ({
    name,
    points: PERCENTILES.map((at) => [at, times.getValueAtPercentile(at) / 1000] as const),
  }));
  return { title: 'A customer’s month', xLabel: 'percentile', yLabel: 'ms', series };
}

const msAt = (times: Histogram, at: number): number => times.getValueAtPercentile(at) / 1000;

type Measured = {
  readonly times: Times;
  readonly atOnce: Histogram;
  readonly bytes: number;
  readonly rows: string;
};

function findingsOf({ times, atOnce, bytes, rows }: Measured): readonly Finding[] {
  const [raw, service] = [msAt(times.raw, 50), msAt(times.service, 50)];
  return [
    atMost(
      { id: 'P5', what: `service, above the raw SELECT among ${rows} rows`, unit: 'ms' },
      service - raw,
      SERVICE_ABOVE_RAW_MS_MAX,
    ),
    atMost(
      { id: 'P5', what: 'service, p99', unit: 'ms' },
      msAt(times.service, 99),
      SERVICE_P99_MS_MAX,
    ),
    atMost(
      { id: 'to beat', what: 'service, eight at once, p50', unit: 'ms' },
      msAt(atOnce, 50),
      AT_ONCE_MS_MAX,
    ),
    atMost(
      { id: 'P10', what: 'disk of a dense minute row', unit: 'bytes' },
      bytes,
      MINUTE_ROW_BYTES_MAX,
    ),
  ];
}

/** P5 and the disk of dense minutes (P10): one customer's month among many, beside a raw SELECT. */
export const measureCustomerMonth: Measurement = ({ minuteRows }, progress) =>
  onBench(
    async (bench, clickhouse) => {
      const billing = await bench.start('billing-api', {
        MINUTEBOOK_READER_CLICKHOUSE_URL: bench.engines.readerClickhouseUrl,
      });
      const world = { bench, clickhouse, api: new ApiClient(`${billing.url}/v1`, bench.apiKey) };
      const customers = Math.max(1, Math.round(minuteRows / MINUTES_OF_MONTH));
      await createMonthCustomers(world.api, customers);
      const place = await makeMeter(world);
      await fillMonths(clickhouse, place, {
        customers,
        onFilled: (filled) => {
          progress(0.05 + (0.6 * filled) / minuteRows, `${grouped(filled)} minute rows`);
        },
      });
      progress(0.7, 'merging');
      await clickhouse.command('OPTIMIZE TABLE usage_minute_v1');
      progress(0.8, `${CALLS} calls each`);
      const times = await askInTurns(world, place, customers);
      progress(0.9, `${CALLS} calls, eight at once`);
      const atOnce = await askAtOnce(world, place, customers);
      const bytes = await bytesPerRow(world);
      const [raw, service] = [msAt(times.raw, 50), msAt(times.service, 50)];
      const rows = grouped(customers * MINUTES_OF_MONTH);
      return {
        title: `A customer’s month of ${grouped(MINUTES_OF_MONTH)} minutes`,
        findings: findingsOf({ times, atOnce, bytes, rows }),
        plots: [latencyPlot(times, atOnce)],
        notes: [
          `A month among ${rows} minute rows: raw SELECT ${raw.toFixed(1)} ms, service ${service.toFixed(1)} ms (medians of ${CALLS}), ${(service / raw).toFixed(2)} of it. Every answer equals the count by hand.`,
        ],
      };
    },
    { requestTimeoutMs: MERGE_TIMEOUT_MS },
  );
