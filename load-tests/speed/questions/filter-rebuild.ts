import { parseArgs } from 'node:util';
import { z } from 'zod';
import { tableLines } from '../../../cli/demo/tables.js';
import { openPostgresWriter } from '../../../event-log/postgres/writer.js';
import { integerColumn } from '../../../sql/columns.js';
import { writeResults } from './write-results.js';
import {
  startAggregatorProcess,
  until,
  withAggregatorWorld,
  type AggregatorWorld,
} from '../../harness/aggregator-world.js';

/**
 * How long an aggregator takes to know all ids of a partition when it takes it, beside reading the
 * same ids through the same client and doing nothing with them. `npm run measure -- filter-rebuild
 * [--sizes 10000,1000000,10000000]`.
 */
type Row = {
  readonly ids: number;
  readonly seconds: number;
  readonly bareSeconds: number;
  /** Processor time of the reading process, which a busy machine distorts least. */
  readonly cpuSeconds: number;
  readonly bareCpuSeconds: number;
  readonly rssMb: number;
  readonly loopLagMs: number;
};

/** An insert of ids is one part, as a batch leaves it. */
const INSERT_IDS_MAX = 500_000;
/** The aggregator measures the time itself; frequent polling would only add to it. */
const POLL_MS = 500;
const SELECT = 'SELECT id_hash FROM event_ids_v1';

async function readBare({ clickhouse }: AggregatorWorld): Promise<{ s: number; cpu: number }> {
  const startedAtMs = performance.now();
  const before = process.cpuUsage();
  let bytes = 0;
  for await (const chunk of clickhouse.streamBytes(SELECT, {})) bytes += chunk.length;
  const { user, system } = process.cpuUsage(before);
  const s = (performance.now() - startedAtMs) / 1000;
  return bytes === 0 ? { s: 0, cpu: 0 } : { s, cpu: (user + system) / 1e6 };
}

/** Random ids of partition 0, all in its first record, as after one large bulk request. */
async function storeIds(world: AggregatorWorld, logId: string, count: number): Promise<void> {
  for (let stored = 0; stored < count; stored += INSERT_IDS_MAX) {
    await world.clickhouse.command(
      `INSERT INTO event_ids_v1 SELECT {log_id:String}, 0, randomFixedString(16), 0, number,
         randomFixedString(8), now64(3), true, now64(3) FROM numbers({count:UInt64})`,
      { log_id: logId, count: Math.min(INSERT_IDS_MAX, count - stored) },
    );
  }
}

async function countIds({ clickhouse }: AggregatorWorld): Promise<number> {
  const select = 'SELECT count() AS found FROM event_ids_v1';
  const rows = await clickhouse.query(select, {}, z.object({ found: integerColumn }));
  return rows[0]?.found ?? 0;
}

async function measure(world: AggregatorWorld, ids: number): Promise<Row> {
  await readBare(world);
  const bare = await readBare(world);
  const aggregator = await startAggregatorProcess(world);
  const value = async (name: string, label: string): Promise<number | null> =>
    (await aggregator.metric(name)).get(label) ?? null;
  let lagSeconds = 0;
  const look = async (): Promise<number | null> => {
    // Reading the lag resets it.
    const lag = (await value('nodejs_eventloop_lag_max_seconds', '{}')) ?? 0;
    lagSeconds = Math.max(lagSeconds, lag);
    return value('minutebook_filter_warm_seconds_sum', '{how="rebuilt"}');
  };
  const seconds = await until('the filter', look, POLL_MS);
  const rssBytes = (await value('process_resident_memory_bytes', '{}')) ?? 0;
  const cpuSeconds = (await value('process_cpu_seconds_total', '{}')) ?? 0;
  await aggregator.stop();
  return {
    ids,
    seconds,
    bareSeconds: bare.s,
    cpuSeconds,
    bareCpuSeconds: bare.cpu,
    rssMb: rssBytes / 2 ** 20,
    loopLagMs: lagSeconds * 1000,
  };
}

async function measureAll(sizes: readonly number[]): Promise<readonly Row[]> {
  return withAggregatorWorld(async (world) => {
    const url = world.databaseUrl;
    const writer = await openPostgresWriter({ url, partitionCount: 1, produceTimeoutMs: 5_000 });
    const first = await startAggregatorProcess(world);
    // Two records without events, a batch each: the ids will be at offset 0, and a take checks
    // that the last batch has the ids that were counted for it.
    for (const records of [1, 2]) {
      await writer.append([{ partition: 0, key: 'k', value: 'no event' }]);
      await until('a record', async () => {
        const done = await first.metric('minutebook_records_dead_lettered_total');
        return [...done.values()].some((count) => count >= records) ? true : null;
      });
    }
    await first.stop();
    const { logId } = writer.identity;
    await writer.close();
    const rows: Row[] = [await measure(world, 0)];
    for (const size of sizes) {
      await storeIds(world, logId, size - (await countIds(world)));
      console.log(`${size} ids stored, taking the partition …`);
      rows.push(await measure(world, size));
    }
    return rows;
  });
}

const { values } = parseArgs({
  options: { sizes: { type: 'string', default: '10000,1000000,10000000' } },
});
const rows = await measureAll(values.sizes.split(',').map(Number));
const [empty] = rows;
const perId = (figure: number, ids: number): string => (ids === 0 ? '' : (figure / ids).toFixed(2));
const lines = rows.map((row) => {
  const { ids, seconds } = row;
  const cpuSeconds = row.cpuSeconds - (empty?.cpuSeconds ?? 0);
  const rssBytes = (row.rssMb - (empty?.rssMb ?? 0)) * 2 ** 20;
  return [
    ids.toLocaleString('en'),
    seconds.toFixed(2),
    perId(seconds * 1e6, ids),
    ids === 0 ? '' : (seconds / row.bareSeconds).toFixed(2),
    perId(cpuSeconds * 1e6, ids),
    perId(row.bareCpuSeconds * 1e6, ids),
    row.rssMb.toFixed(0),
    perId(rssBytes, ids),
    row.loopLagMs.toFixed(0),
  ];
});
const head = [
  ...['ids', 's', 'µs an id', 'of bare read', 'CPU µs an id', 'bare CPU µs an id'],
  ...['RSS MB', 'RSS B an id', 'loop lag max ms'],
];
for (const line of tableLines(head, lines)) console.log(line);
await writeResults('filter-rebuild', { rows });
