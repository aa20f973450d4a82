import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { tableLines } from '../../cli/demo/tables.js';
import { openPostgresWriter } from '../../event-log/postgres/writer.js';
import { projectRoot } from '../../runtime/project.js';
import { integerColumn } from '../../sql/columns.js';
import { machineFacts } from './machine-facts.js';
import {
  startAggregatorProcess,
  until,
  withAggregatorWorld,
  type AggregatorWorld,
} from './aggregator-world.js';

/**
 * How long an aggregator takes to know all ids of a partition when it takes it, beside reading the
 * same ids through the same client and doing nothing with them. `npm run measure -- filter-rebuild
 * [--sizes 10000,1000000,10000000]`.
 */
type Row = {
  readonly ids: number;
  readonly seconds: number;
  readonly bareSeconds: number;
  readonly rssMb: number;
  readonly loopLagMs: number;
};

const SELECT = 'SELECT id_hash FROM event_ids_v1';

async function bareSeconds({ clickhouse }: AggregatorWorld): Promise<number> {
  const startedAtMs = performance.now();
  let bytes = 0;
  for await (const chunk of clickhouse.streamBytes(SELECT, {})) bytes += chunk.length;
  return bytes === 0 ? 0 : (performance.now() - startedAtMs) / 1000;
}

/** Random ids of partition 0, all of its first record, as a large bulk request would leave them. */
async function storeIds(world: AggregatorWorld, logId: string, count: number): Promise<void> {
  await world.clickhouse.command(
    `INSERT INTO event_ids_v1 SELECT {log_id:String}, 0, randomFixedString(16), 0, number,
       randomFixedString(8), now64(3), true, now64(3) FROM numbers({count:UInt64})`,
    { log_id: logId, count },
  );
  await world.clickhouse.command('OPTIMIZE TABLE event_ids_v1 FINAL');
}

async function countIds({ clickhouse }: AggregatorWorld): Promise<number> {
  const select = 'SELECT count() AS found FROM event_ids_v1';
  const rows = await clickhouse.query(select, {}, z.object({ found: integerColumn }));
  return rows[0]?.found ?? 0;
}

async function measure(world: AggregatorWorld, ids: number): Promise<Row> {
  await bareSeconds(world);
  const bare = await bareSeconds(world);
  const aggregator = await startAggregatorProcess(world);
  const value = async (name: string, label: string): Promise<number | null> =>
    (await aggregator.metric(name)).get(label) ?? null;
  const seconds = await until('the filter', () =>
    value('minutebook_filter_warm_seconds_sum', '{how="rebuilt"}'),
  );
  const rssBytes = (await value('process_resident_memory_bytes', '{}')) ?? 0;
  const lagSeconds = (await value('nodejs_eventloop_lag_max_seconds', '{}')) ?? 0;
  await aggregator.stop();
  return {
    ids,
    seconds,
    bareSeconds: bare,
    rssMb: rssBytes / 2 ** 20,
    loopLagMs: lagSeconds * 1000,
  };
}

async function measureAll(sizes: readonly number[]): Promise<readonly Row[]> {
  return withAggregatorWorld(async (world) => {
    const url = world.databaseUrl;
    const writer = await openPostgresWriter({ url, partitionCount: 1, produceTimeoutMs: 5_000 });
    // One record that says nothing: the checkpoint moves past offset 0, where the ids will be.
    await writer.append([{ partition: 0, key: 'k', value: 'no event' }]);
    const first = await startAggregatorProcess(world);
    await until('the first record', async () => {
      const done = await first.metric('minutebook_records_dead_lettered_total');
      return done.size > 0 && [...done.values()].some((count) => count > 0) ? true : null;
    });
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
const empty = rows[0];
const lines = rows.map(({ ids, seconds, bareSeconds: bare, rssMb, loopLagMs }) => [
  ids.toLocaleString('en'),
  seconds.toFixed(3),
  ids === 0 ? '' : ((seconds * 1e6) / ids).toFixed(2),
  ids === 0 ? '' : (seconds / bare).toFixed(2),
  rssMb.toFixed(0),
  ids === 0 ? '' : (((rssMb - (empty?.rssMb ?? 0)) * 2 ** 20) / ids).toFixed(2),
  loopLagMs.toFixed(0),
]);
const head = ['ids', 's', 'µs an id', 'of bare read', 'RSS MB', 'RSS B an id', 'loop lag max ms'];
for (const line of tableLines(head, lines)) console.log(line);
const folder = join(projectRoot, 'load-tests', 'results');
await mkdir(folder, { recursive: true });
const report = { machine: machineFacts(), rows };
await writeFile(join(folder, 'filter-rebuild.json'), `${JSON.stringify(report, null, 2)}\n`);
