import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'slonik';
import { z } from 'zod';
import { encodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import { openPostgresWriter } from '../../event-log/postgres/writer.js';
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
};

export type Observed = {
  readonly events: number;
  readonly metersMade: number;
  /** Of each tenant, what its first meter counts. */
  readonly counted: { readonly busy: number; readonly maker: number };
  readonly expected: { readonly busy: number; readonly maker: number };
  /**
   * The greatest age of a record that was not finished yet, over all partitions. Each partition has
   * records of all tenants, so no tenant's lag is greater.
   */
  readonly lagSecondsMax: number;
};

type Tenant = { readonly tenantId: string; readonly environmentId: string };

const PARTITIONS = 4;
const APPENDS_PER_SECOND = 20;
/** Every so many appends are events of the tenant that makes the meters. */
const MAKER_EVERY = 20;
const BUSY: Tenant = { tenantId: 'tenant_busy', environmentId: 'env_1' };
const MAKER: Tenant = { tenantId: 'tenant_maker', environmentId: 'env_2' };
const LAG_POLL_MS = 50;

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
): Promise<void> {
  const startedAtMs = performance.now();
  for (let index = 0; index < rate.perSecond * rate.seconds; index += 1) {
    const dueMs = startedAtMs + (index * 1_000) / rate.perSecond;
    await delay(Math.max(0, dueMs - performance.now()));
    await work(index);
  }
}

/** When the record of each offset was durable; each append has one record for each partition. */
type Flow = { readonly appendedAtMs: number[]; busy: number; maker: number };

async function sendEvents(world: AggregatorWorld, plan: MetersMeanwhile, flow: Flow) {
  const writer = await openPostgresWriter({
    url: world.databaseUrl,
    partitionCount: PARTITIONS,
    produceTimeoutMs: 60_000,
  });
  const each = Math.round(plan.eventsPerSecond / APPENDS_PER_SECOND / PARTITIONS);
  const rate = { perSecond: APPENDS_PER_SECOND, seconds: plan.seconds };
  await atRate(rate, async (index) => {
    const isMaker = index % MAKER_EVERY === 0;
    const environment = isMaker ? MAKER : BUSY;
    const count = isMaker ? 1 : each;
    const records = Array.from({ length: PARTITIONS }, (_, partition) => {
      const events = eventsOf(flow.appendedAtMs.length * PARTITIONS + partition, count);
      const value = encodeEventRecord({ environment, receivedAtMs: Date.now(), events });
      return { partition, key: `p${partition}`, value };
    });
    await writer.append(records);
    flow.appendedAtMs.push(performance.now());
    flow[isMaker ? 'maker' : 'busy'] += count * PARTITIONS;
  });
  await writer.close();
}

const positionRow = z.object({ next_offset: integerColumn });

/** The age of the oldest record that is not finished; null when all are. */
async function lagMs({ database }: AggregatorWorld, { appendedAtMs }: Flow) {
  const askedAtMs = performance.now();
  const rows = await database.slonik.any(
    sql.type(positionRow)`SELECT next_offset FROM aggregator_checkpoints`,
  );
  const ages = rows.flatMap(({ next_offset: next }) => {
    const at = appendedAtMs[next];
    return at === undefined ? [] : [askedAtMs - at];
  });
  return ages.length === 0 ? null : Math.max(0, ...ages);
}

const countRow = z.object({ total: z.coerce.number() });

/** What readers of a meter see; null while it is still being applied to stored events. */
async function countOf(world: AggregatorWorld, meterId: string): Promise<number | null> {
  const generations = await ownerOf({ url: world.databaseUrl }).oneFirst(
    sql.type(z.object({ generations: z.string() }))`
      SELECT array_to_string(read_generations, ',') AS generations
      FROM meter_versions WHERE meter_id = ${meterId}`,
  );
  if (generations === '') return null;
  const [row] = await world.clickhouse.query(
    `SELECT sum(event_count) AS total FROM usage_minute_v1
     WHERE meter_id = {meterId:String} AND has({generations:Array(UInt64)}, generation)`,
    { meterId, generations: generations.split(',').map(Number) },
    countRow,
  );
  return row?.total ?? 0;
}

async function observe(world: AggregatorWorld, plan: MetersMeanwhile): Promise<Observed> {
  await storeMeters(world, plan.metersBefore);
  await makeMeter(world, BUSY, 'busy');
  await startAggregatorProcess(world, {
    MINUTEBOOK_LOG_PARTITIONS: String(PARTITIONS),
  });
  const flow: Flow = { appendedAtMs: [], busy: 0, maker: 0 };
  // The first batch reads all meters, which is not what is measured here.
  await sendEvents(world, { ...plan, seconds: 1, eventsPerSecond: 400 }, flow);
  await until('the first events', async () => ((await lagMs(world, flow)) === null ? true : null));
  let isOver = false;
  let lagMsMax = 0;
  let metersMade = 0;
  const flowing = (async () => {
    const sending = sendEvents(world, plan, flow);
    const making = atRate({ perSecond: plan.metersPerSecond, seconds: plan.seconds }, async () => {
      await makeMeter(world, MAKER, `made-${metersMade}`);
      metersMade += 1;
    });
    await Promise.all([sending, making]);
    isOver = true;
  })();
  for (let lag: number | null = 0; !isOver || lag !== null; lag = await lagMs(world, flow)) {
    lagMsMax = Math.max(lagMsMax, lag ?? 0);
    await delay(LAG_POLL_MS);
  }
  await flowing;
  const counted = {
    busy: await until('the count of the busy tenant', () => countOf(world, 'busy')),
    maker: await until('the first meter that was made', () => countOf(world, 'made-0')),
  };
  const expected = { busy: flow.busy, maker: flow.maker };
  const events = flow.busy + flow.maker;
  return { events, metersMade, counted, expected, lagSecondsMax: lagMsMax / 1_000 };
}

/**
 * Makes meters while events of two tenants flow into one aggregator with four partitions, and
 * observes how far it is behind.
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
