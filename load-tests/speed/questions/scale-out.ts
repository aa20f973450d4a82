import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sql } from 'slonik';
import { z } from 'zod';
import { tableLines } from '../../../cli/demo/tables.js';
import { integerColumn } from '../../../sql/columns.js';
import {
  startAggregatorProcess,
  until,
  withAggregatorWorld,
  type AggregatorWorld,
} from '../../harness/aggregator-world.js';
import type { StartedProgram } from '../../harness/start-program.js';
import { createMeters, distinctEvents, writeBacklog } from './backlog.js';
import { writeResults } from './write-results.js';

/**
 * P11: the rate of 1, 2 and 4 aggregators on the same backlog. Where cores are few, each process is
 * given a part of one by stopping and continuing it (SIGSTOP, SIGCONT), so that four of them and
 * the engines still find a core: what is measured is whether sharing costs anything, and not how
 * many cores there are. The rate is that of the middle: from the moment when shares are equal until
 * nine tenths are finished. `npm run measure -- scale-out [--events 400000] [--share 0.15]`.
 */
const PARTITIONS = 8;
/** Events of a batch; with batches of 1,000 ClickHouse would be busy with merges. */
const BATCH_EVENTS = 4_000;
/** Far below the heartbeat's second, and far above the error of a timer. */
const PERIOD_MS = 100;
const SAMPLE_MS = 50;
const FINISHED_SHARE = 0.9;

type Throttle = { readonly stop: () => Promise<void> };
type Rate = { readonly processes: number; readonly eventsPerSecond: number };
type Progress = { readonly records: number; readonly owners: number; readonly least: number };

/** Lets the process run for its share of each period; periods of several are staggered. */
function throttle({ child }: StartedProgram, share: number): Throttle {
  const stop = new AbortController();
  const { signal } = stop;
  const pause = (ms: number): Promise<void> =>
    delay(ms, undefined, { signal }).catch(() => undefined);
  const running = (async (): Promise<void> => {
    while (!signal.aborted) {
      child.kill('SIGCONT');
      await pause(PERIOD_MS * share);
      if (!signal.aborted) child.kill('SIGSTOP');
      await pause(PERIOD_MS * (1 - share));
    }
    child.kill('SIGCONT');
  })();
  return {
    stop: () => {
      stop.abort();
      return running;
    },
  };
}

/** Finished records, and how the partitions are shared. */
async function progressOf({ database }: AggregatorWorld): Promise<Progress> {
  const row = z.object({ owned: integerColumn, records: integerColumn });
  const shares = await database.slonik.any(sql.type(row)`
    SELECT count(*) FILTER (WHERE owner IS NOT NULL) AS owned,
           sum(next_offset)::bigint AS records
    FROM aggregator_checkpoints GROUP BY owner`);
  return {
    records: shares.reduce((sum, { records }) => sum + records, 0),
    owners: shares.filter(({ owned }) => owned > 0).length,
    least: Math.min(...shares.map(({ owned }) => owned)),
  };
}

async function totalRecords({ database }: AggregatorWorld): Promise<number> {
  const row = z.object({ records: integerColumn });
  const { records } = await database.slonik.one(sql.type(row)`
    SELECT sum(end_offset)::bigint AS records FROM event_log_bounds()`);
  return records;
}

async function expectExact({ clickhouse }: AggregatorWorld, events: number): Promise<void> {
  const row = z.object({ found: integerColumn });
  const select = 'SELECT count() AS found FROM events_v1';
  const [counted] = await clickhouse.query(select, {}, row);
  if (counted?.found === distinctEvents(events)) return;
  throw new Error(
    `counted ${counted?.found ?? 0} events, not ${distinctEvents(events)}: no figure`,
  );
}

/** Events per second between equal shares and nine tenths of the backlog. */
async function steadyRate(
  world: AggregatorWorld,
  { events, processes }: { readonly events: number; readonly processes: number },
): Promise<number> {
  const total = await totalRecords(world);
  const isShared = ({ owners, least }: Progress): boolean =>
    owners === processes && least === Math.floor(PARTITIONS / processes);
  let begin: { atMs: number; records: number } | null = null;
  let rate = 0;
  for (;;) {
    const progress = await progressOf(world);
    const { records } = progress;
    const atMs = performance.now();
    if (begin === null && isShared(progress)) begin = { atMs, records };
    else if (begin !== null && records <= total * FINISHED_SHARE && records > begin.records) {
      rate = ((records - begin.records) * 1000) / (atMs - begin.atMs);
    }
    if (records >= total) break;
    await delay(SAMPLE_MS);
  }
  if (rate === 0) throw new Error('the backlog was too small: nothing was left to measure');
  return (rate * events) / total;
}

async function measure(events: number, processes: number, share: number): Promise<Rate> {
  return withAggregatorWorld(async (world) => {
    await createMeters(world);
    await writeBacklog(world, { events, partitions: PARTITIONS });
    const eventsOfProcess = (BATCH_EVENTS * PARTITIONS) / processes;
    const settings = { MINUTEBOOK_BATCH_EVENTS_MAX: String(eventsOfProcess) };
    const running: StartedProgram[] = [];
    for (let count = 0; count < processes; count += 1) {
      running.push(await startAggregatorProcess(world, settings));
    }
    await until('all processes', async () => {
      const answers = await Promise.all(running.map(({ metric }) => metric('process_start')));
      return answers.length === processes ? true : null;
    });
    const throttles: Throttle[] = [];
    for (const each of running) {
      throttles.push(throttle(each, share));
      await delay(PERIOD_MS / processes);
    }
    const eventsPerSecond = await steadyRate(world, { events, processes });
    await Promise.all(throttles.map(({ stop }) => stop()));
    await Promise.all(running.map((each) => each.stop()));
    await expectExact(world, events);
    return { processes, eventsPerSecond };
  });
}

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '400000' },
    share: { type: 'string', default: '0.15' },
    processes: { type: 'string', default: '1,2,4' },
  },
});
const [events, share] = [Number(values.events), Number(values.share)];
const rates: Rate[] = [];
for (const processes of values.processes.split(',').map(Number)) {
  rates.push(await measure(events, processes, share));
}
const [first] = rates;
const linearity = ({ processes, eventsPerSecond }: Rate): number => {
  if (first === undefined) return 0;
  return (eventsPerSecond * first.processes) / (first.eventsPerSecond * processes);
};
const lines = rates.map((rate) => [
  String(rate.processes),
  Math.round(rate.eventsPerSecond).toLocaleString('en'),
  linearity(rate).toFixed(2),
]);
for (const line of tableLines(['aggregators', 'events/s', 'of linear'], lines)) console.log(line);
await writeResults('scale-out', { events, share, partitions: PARTITIONS, rates });
