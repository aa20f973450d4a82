import { build, type Histogram } from 'hdr-histogram-js';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { ApiClient } from '../../cli/demo/api-client.js';
import { createClickHouse, type ClickHouse } from '../../clickhouse/client.js';
import { DAY_MS, MINUTE_MS } from '../../contract/instant.js';
import { integerColumn } from '../../sql/columns.js';
import { Bench } from './programs.js';
import { atMost, grouped, type Measurement, type Plot, type Progress } from './section.js';

const MONTH_START_MS = Date.UTC(2026, 8, 1);
const MINUTES_OF_MONTH = (30 * DAY_MS) / MINUTE_MS;
/** Minute rows of one insert: whole months of customers, below what makes two blocks. */
const MONTHS_PER_INSERT = 20;
const CALLS = 300;
const WARM_UP_CALLS = 30;
const SERVICE_OF_RAW_MAX = 1.3;
const SERVICE_P99_MS_MAX = 30;
const MINUTE_ROW_BYTES_MAX = 2;
const PERCENTILES = [50, 75, 90, 95, 99, 99.9, 100];

const generationRow = z.object({ meter_id: z.string(), generation: integerColumn });
const sizeRow = z.object({ bytes: integerColumn, rows: integerColumn });
const KEY = `tenant_id = {tenant:String} AND environment_id = {environment:String}
  AND meter_id = {meter:String}`;
const RAW = `SELECT sum(event_count) AS used FROM usage_minute_v1 WHERE ${KEY}
  AND customer_key = {customer:String} AND generation = {generation:UInt64}
  AND minute >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
  AND minute < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`;

type Place = Readonly<Record<'tenant' | 'environment' | 'meter', string>> & {
  readonly generation: number;
};
type World = { readonly bench: Bench; readonly clickhouse: ClickHouse; readonly api: ApiClient };

const customerName = (index: number): string => `customer-${index}`;

/** One event through the product says under which key its meter counts. */
async function findPlace({ bench, clickhouse, api }: World): Promise<Place> {
  const meter = await api.post<{ readonly id: string }>('/meters', {
    name: 'Calls',
    event_name: 'call',
    aggregation: { type: 'COUNT' },
  });
  await api.post('/customers', { external_id: customerName(0) });
  const ingest = await bench.start('ingest');
  const aggregator = await bench.start('aggregator');
  const sender = new ApiClient(`${ingest.url}/v1`, bench.apiKey);
  await sender.post('/events', {
    event_name: 'call',
    external_customer_id: customerName(0),
    timestamp: '2000-01-01T00:00:00Z',
  });
  const select = `SELECT tenant_id AS tenant, environment_id AS environment, meter_id, generation
    FROM usage_minute_v1 WHERE meter_id = {meter:String}`;
  const row = generationRow.extend({ tenant: z.string(), environment: z.string() });
  for (;;) {
    const [found] = await clickhouse.query(select, { meter: meter.id }, row);
    if (found !== undefined) {
      await aggregator.stop();
      await ingest.stop();
      return { ...found, meter: meter.id };
    }
    await delay(100);
  }
}

/** Every customer has 1 to 97 events in every minute of the month, as `usedBy` counts them. */
async function fill(
  { clickhouse }: World,
  place: Place,
  run: { readonly customers: number; readonly progress: Progress },
): Promise<void> {
  const { customers, progress } = run;
  for (let first = 0; first < customers; first += MONTHS_PER_INSERT) {
    const count = Math.min(MONTHS_PER_INSERT, customers - first);
    await clickhouse.command(
      `INSERT INTO usage_minute_v1 (tenant_id, environment_id, customer_key, meter_id, generation,
         minute, source, group_key, event_count)
       SELECT {tenant:String}, {environment:String},
         concat('e:customer-', toString({first:UInt32} + intDiv(number, {minutes:UInt32}))),
         {meter:String}, {generation:UInt64},
         toDateTime64({start:UInt32} + 60 * (number % {minutes:UInt32}), 0, 'UTC'), '', '',
         1 + intDiv((number % {minutes:UInt32}) * 1103515245
           + ({first:UInt32} + intDiv(number, {minutes:UInt32})) * 12345, 128) % 97
       FROM numbers({count:UInt64})
       SETTINGS max_block_size = 1000000, min_insert_block_size_rows = 1000000`,
      {
        ...place,
        first,
        minutes: MINUTES_OF_MONTH,
        start: MONTH_START_MS / 1000,
        count: count * MINUTES_OF_MONTH,
      },
    );
    const rows = grouped((first + count) * MINUTES_OF_MONTH);
    progress(0.05 + 0.6 * ((first + count) / customers), `${rows} minute rows`);
  }
}

/** What a customer used in the month, counted by hand. */
function usedBy(customer: number): number {
  let used = 0;
  for (let minute = 0; minute < MINUTES_OF_MONTH; minute += 1) {
    used += 1 + (Math.floor((minute * 1_103_515_245 + customer * 12_345) / 128) % 97);
  }
  return used;
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

/** Asks both in turns, so that what disturbs one disturbs the other. */
async function askInTurns(world: World, place: Place, customers: number): Promise<Times> {
  const { clickhouse, api } = world;
  const month = { from: MONTH_START_MS, to: MONTH_START_MS + MINUTES_OF_MONTH * MINUTE_MS };
  const window = {
    start_time: new Date(month.from).toISOString(),
    end_time: new Date(month.to).toISOString(),
  };
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
    const service = await timed(times.service, async () => {
      const body = {
        meter_id: place.meter,
        external_customer_id: customerName(customer),
        ...window,
      };
      const { value } = await api.post<{ readonly value: string }>('/events/usage/meter', body);
      return Number(value);
    });
    const used = usedBy(customer);
    if (raw !== used || service !== used) {
      throw new Error(`${customerName(customer)}: used ${used}, raw ${raw}, service ${service}`);
    }
  }
  return times;
}

async function bytesPerRow({ clickhouse }: World): Promise<number> {
  const select = `SELECT sum(bytes_on_disk) AS bytes, sum(rows) AS rows FROM system.parts
    WHERE active AND database = currentDatabase() AND table = 'usage_minute_v1'`;
  const [size] = await clickhouse.query(select, {}, sizeRow);
  return (size?.bytes ?? Number.POSITIVE_INFINITY) / (size?.rows ?? 1);
}

function latencyPlot({ raw, service }: Times): Plot {
  const series = Object.entries({ 'raw SELECT': raw, service }).map(([name, times]) => ({
    name,
    points: PERCENTILES.map((at) => [at, times.getValueAtPercentile(at) / 1000] as const),
  }));
  return { title: 'A customer’s month', xLabel: 'percentile', yLabel: 'ms', series };
}

/** P5 and the disk of dense minutes (P10): one customer's month among many, beside a raw SELECT. */
export const measureCustomerMonth: Measurement = async ({ minuteRows }, progress) => {
  const bench = await Bench.open();
  const clickhouse = createClickHouse(bench.engines.clickhouseUrl);
  try {
    const billing = await bench.start('billing-api');
    const world = { bench, clickhouse, api: new ApiClient(`${billing.url}/v1`, bench.apiKey) };
    const place = await findPlace(world);
    const customers = Math.max(1, Math.round(minuteRows / MINUTES_OF_MONTH));
    for (let index = 1; index < customers; index += 1) {
      await world.api.post('/customers', { external_id: customerName(index) });
    }
    await fill(world, place, { customers, progress });
    progress(0.7, 'merging');
    await clickhouse.command('OPTIMIZE TABLE usage_minute_v1');
    progress(0.8, `${CALLS} calls each`);
    const times = await askInTurns(world, place, customers);
    const bytes = await bytesPerRow(world);
    const msAt = (times_: Histogram, at: number): number => times_.getValueAtPercentile(at) / 1000;
    const [raw, service] = [msAt(times.raw, 50), msAt(times.service, 50)];
    const rows = grouped(customers * MINUTES_OF_MONTH);
    return {
      title: `A customer’s month of ${grouped(MINUTES_OF_MONTH)} minutes`,
      findings: [
        atMost(
          { id: 'P5', what: 'service, of the raw SELECT (medians)', unit: 'times' },
          service / raw,
          SERVICE_OF_RAW_MAX,
        ),
        atMost(
          { id: 'P5', what: 'service, p99', unit: 'ms' },
          msAt(times.service, 99),
          SERVICE_P99_MS_MAX,
        ),
        atMost(
          { id: 'P10', what: 'disk of a dense minute row', unit: 'bytes' },
          bytes,
          MINUTE_ROW_BYTES_MAX,
        ),
      ],
      plots: [latencyPlot(times)],
      notes: [
        `A month among ${rows} minute rows: raw SELECT ${raw.toFixed(1)} ms, service ${service.toFixed(1)} ms (medians of ${CALLS}). Every answer equals the count by hand.`,
      ],
    };
  } finally {
    await clickhouse.close();
    await bench.close();
  }
};
