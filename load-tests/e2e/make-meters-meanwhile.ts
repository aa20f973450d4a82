import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'slonik';
import { z } from 'zod';
import { encodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import type { EventLogWriter } from '../../event-log/interface/event-log.js';
import { EVENT_LOG_SETTINGS, openEventLogWriter } from '../../event-log/open-log.js';
import { readConfig } from '../../runtime/config.js';
import { integerColumn } from '../../sql/columns.js';
import {
  startAggregatorProcess,
  until,
  withAggregatorWorld,
  type AggregatorWorld,
} from '../harness/aggregator-world.js';
import { closeOwner, ownerOf } from '../harness/owner.js';

export type MetersMeanwhile = {
  readonly seconds: number;
  readonly eventsPerSecond: number;
  readonly metersPerSecond: number;
  /** Meters of other tenants that exist before. */
  readonly metersBefore: number;
  /** Settings that choose the log: the brokers of Kafka, or none for the log in PostgreSQL. */
  readonly log: Readonly<Record<string, string>>;
};

/** How many appends or meters were planned, and how many of them began in time. */
export type Offered = { readonly planned: number; readonly begunInTime: number };

/** Of each tenant, the different counts that its meters give: one, when all count the same. */
type Counts = { readonly busy: readonly number[]; readonly maker: readonly number[] };

export type Observed = {
  readonly partitions: number;
  readonly events: number;
  readonly metersMade: number;
  readonly offered: { readonly appends: Offered; readonly meters: Offered };
  readonly counted: Counts;
  readonly expected: Counts;
  /** Since the sending began, until nothing was left. */
  readonly lags: readonly (readonly [seconds: number, lagSeconds: number])[];
  /**
   * The greatest age of a record that was not finished yet, since it was durable, over all
   * partitions. Each partition has records of all tenants, so no tenant's lag is greater.
   */
  readonly lagSecondsMax: number;
};

type Tenant = { readonly tenantId: string; readonly environmentId: string };

const APPENDS_PER_SECOND = 20;
/** Every so many appends are events of the tenant that makes the meters. */
const MAKER_EVERY = 20;
const BUSY: Tenant = { tenantId: 'tenant_busy', environmentId: 'env_1' };
const MAKER: Tenant = { tenantId: 'tenant_maker', environmentId: 'env_2' };
const LAG_POLL_MS = 50;
/** Seldom, since questions would take from what they wait for. */
const COUNT_POLL_MS = 500;

async function makeMeter({ database }: AggregatorWorld, of: Tenant, meterId: string) {
  await database.asEnvironment(of, (connection) =>
    connection.query(sql.type(z.unknown())`
      SELECT activate_meter_version(${meterId}, 1, ${of.tenantId}, ${of.environmentId},
                                    'request', '[]'::jsonb)`),
  );
}

async function storeMeters({ databaseUrl }: AggregatorWorld, count: number): Promise<void> {
  await ownerOf({ url: databaseUrl }).query(sql.type(z.unknown())`
    INSERT INTO meter_versions
      (meter_id, version, tenant_id, environment_id, event_name, filters, activated_in)
    SELECT 'stored-' || number, 1, 'tenant_' || number % 1000, 'env_3', 'event-' || number,
      '[{"key": "plan", "values": ["pro", "free"]}]'::jsonb, 1
    FROM generate_series(1, ${count}) AS number`);
}

function eventsOf(at: number, count: number): readonly UsageEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    eventId: `event-${at}-${index}`,
    eventName: 'request',
    externalCustomerId: `customer-${index % 100}`,
    customerId: null,
    source: '',
    timestampMs: Date.UTC(2026, 0, 1) + at * 1_000,
    isTimestampGiven: true,
    properties: { path: `/items/${index % 97}` },
  }));
}

/** Calls `work` that many times a second; a call that is late is made up for. */
async function atRate(
  rate: { readonly perSecond: number; readonly seconds: number },
  work: (index: number) => Promise<void>,
): Promise<Offered> {
  const startedAtMs = performance.now();
  const planned = rate.perSecond * rate.seconds;
  let begunInTime = 0;
  for (let index = 0; index < planned; index += 1) {
    const dueMs = startedAtMs + (index * 1_000) / rate.perSecond;
    await delay(Math.max(0, dueMs - performance.now()));
    if (performance.now() <= startedAtMs + rate.seconds * 1_000) begunInTime += 1;
    await work(index);
  }
  return { planned, begunInTime };
}

/** When the record of each offset was durable; each append has one record for each partition. */
type Flow = {
  readonly partitions: number;
  readonly appendedAtMs: number[];
  busy: number;
  maker: number;
};
type Run = {
  readonly world: AggregatorWorld;
  readonly writer: EventLogWriter;
  readonly flow: Flow;
};

function openWriter({ databaseUrl }: AggregatorWorld, log: MetersMeanwhile['log']) {
  const settings = { ...log, MINUTEBOOK_PRODUCE_TIMEOUT_MS: '60000' };
  const config = { ...readConfig(EVENT_LOG_SETTINGS, settings), DATABASE_URL: databaseUrl };
  // Without merging, since the offsets say which append a record is of.
  return openEventLogWriter(config, false);
}

/** Events a second of the busy tenant, dealt out to its records as evenly as whole numbers can. */
function createBusyCount(eventsPerSecond: number, partitions: number): () => number {
  const makerRecords = (APPENDS_PER_SECOND / MAKER_EVERY) * partitions;
  const busyRecords = APPENDS_PER_SECOND * partitions - makerRecords;
  const each = (eventsPerSecond - makerRecords) / busyRecords;
  let records = 0;
  return () => {
    records += 1;
    return Math.floor(records * each) - Math.floor((records - 1) * each);
  };
}

async function sendEvents({ writer, flow }: Run, plan: MetersMeanwhile): Promise<Offered> {
  const busyCount = createBusyCount(plan.eventsPerSecond, flow.partitions);
  const rate = { perSecond: APPENDS_PER_SECOND, seconds: plan.seconds };
  return atRate(rate, async (index) => {
    const isMaker = index % MAKER_EVERY === 0;
    const environment = isMaker ? MAKER : BUSY;
    const records = Array.from({ length: flow.partitions }, (_, partition) => {
      const at = flow.appendedAtMs.length * flow.partitions + partition;
      const events = eventsOf(at, isMaker ? 1 : busyCount());
      flow[isMaker ? 'maker' : 'busy'] += events.length;
      const value = encodeEventRecord({ environment, receivedAtMs: Date.now(), events });
      return { partition, key: `p${partition}`, value };
    });
    await writer.append(records);
    flow.appendedAtMs.push(performance.now());
  });
}

const positionRow = z.object({ partition: z.number(), next_offset: integerColumn });

/** The age of the oldest record that is not finished; null when all are. */
async function lagMs({ database }: AggregatorWorld, { partitions, appendedAtMs }: Flow) {
  const askedAtMs = performance.now();
  const rows = await database.slonik.any(
    sql.type(positionRow)`SELECT partition, next_offset FROM aggregator_checkpoints`,
  );
  const nextOffsets = new Map(rows.map((row) => [row.partition, row.next_offset]));
  const ages = Array.from({ length: partitions }, (_, partition) => {
    const at = appendedAtMs[nextOffsets.get(partition) ?? 0];
    return at === undefined ? [] : [askedAtMs - at];
  }).flat();
  return ages.length === 0 ? null : Math.max(0, ...ages);
}

/** Samples the lag until all is sent and nothing is left. */
async function watchLag({ world, flow }: Run, allSent: AbortSignal): Promise<Observed['lags']> {
  const startedAtMs = performance.now();
  const lags: (readonly [number, number])[] = [];
  for (;;) {
    const isLast = allSent.aborted;
    const lag = await lagMs(world, flow);
    lags.push([(performance.now() - startedAtMs) / 1_000, (lag ?? 0) / 1_000]);
    if (isLast && lag === null) return lags;
    await delay(LAG_POLL_MS);
  }
}

const meterRow = z.object({ meter_id: z.string(), generations: z.string() });
const countRow = z.object({ meter_id: z.string(), generation: z.string(), total: integerColumn });

/**
 * The different counts that readers of a tenant's meters see; null while one of them is still being
 * applied to stored events.
 */
async function countsOf(world: AggregatorWorld, { tenantId }: Tenant) {
  const meters = await ownerOf({ url: world.databaseUrl }).any(sql.type(meterRow)`
    SELECT meter_id, array_to_string(read_generations, ',') AS generations
    FROM meter_versions WHERE tenant_id = ${tenantId}`);
  if (meters.some(({ generations }) => generations === '')) return null;
  const rows = await world.clickhouse.query(
    `SELECT meter_id, toString(generation) AS generation, sum(event_count) AS total
     FROM usage_minute_v1 WHERE tenant_id = {tenantId:String} GROUP BY meter_id, generation`,
    { tenantId },
    countRow,
  );
  const totals = meters.map(({ meter_id: meterId, generations }) =>
    rows
      .filter((row) => row.meter_id === meterId)
      .filter(({ generation }) => generations.split(',').includes(generation))
      .reduce((sum, { total }) => sum + total, 0),
  );
  return [...new Set(totals)];
}

/** Sends events and makes meters at their rates, and samples the lag meanwhile. */
async function flowAndMake(run: Run, plan: MetersMeanwhile) {
  const { metersPerSecond: perSecond, seconds } = plan;
  const allSent = new AbortController();
  const flowing = Promise.all([
    sendEvents(run, plan),
    atRate({ perSecond, seconds }, (index) => makeMeter(run.world, MAKER, `made-${index}`)),
  ]).finally(() => allSent.abort());
  const [[appends, meters], lags] = await Promise.all([flowing, watchLag(run, allSent.signal)]);
  return { offered: { appends, meters }, lags };
}

async function observe(world: AggregatorWorld, plan: MetersMeanwhile): Promise<Observed> {
  await storeMeters(world, plan.metersBefore);
  await makeMeter(world, BUSY, 'busy');
  const writer = await openWriter(world, plan.log);
  try {
    const { partitionCount: partitions } = writer.identity;
    await startAggregatorProcess(world, plan.log);
    const flow: Flow = { partitions, appendedAtMs: [], busy: 0, maker: 0 };
    const run = { world, writer, flow };
    // The first batch also loads all meters, which takes long once: it is over before we measure.
    await sendEvents(run, { ...plan, seconds: 1, eventsPerSecond: 400 });
    await until('the first events', async () =>
      (await lagMs(world, flow)) === null ? true : null,
    );
    const { offered, lags } = await flowAndMake(run, plan);
    const counted = {
      busy: await until('the busy tenant', () => countsOf(world, BUSY), COUNT_POLL_MS),
      maker: await until('the meters made', () => countsOf(world, MAKER), COUNT_POLL_MS),
    };
    return {
      partitions,
      offered,
      lags,
      counted,
      events: flow.busy + flow.maker,
      metersMade: offered.meters.planned,
      expected: {
        busy: [flow.busy],
        maker: offered.meters.planned === 0 ? [] : [flow.maker],
      },
      lagSecondsMax: Math.max(...lags.map(([, lag]) => lag)),
    };
  } finally {
    await writer.close();
  }
}

/**
 * Makes meters while events of two tenants flow into one aggregator, and observes how far it is
 * behind. Events are appended to the log as ingest does it, without HTTP, and meters are made as
 * billing-api does it, by the same function of the database. The log has as many partitions as a
 * new one has by itself.
 */
export function makeMetersMeanwhile(plan: MetersMeanwhile): Promise<Observed> {
  return withAggregatorWorld(async (world) => {
    try {
      return await observe(world, plan);
    } finally {
      await closeOwner(world.databaseUrl);
    }
  });
}
