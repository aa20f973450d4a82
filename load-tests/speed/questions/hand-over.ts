import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'slonik';
import { z } from 'zod';
import { tableLines } from '../../../cli/demo/tables.js';
import type { EventLogWriter } from '../../../event-log/event-log.js';
import { openPostgresWriter } from '../../../event-log/postgres/writer.js';
import { integerColumn } from '../../../sql/columns.js';
import {
  startAggregatorProcess,
  until,
  withAggregatorWorld,
  type AggregatorWorld,
} from '../../harness/aggregator-world.js';
import { writeResults } from './write-results.js';

/**
 * How long a partition stands still when it moves: from the last batch that its old owner finished
 * to the first of the new one, while records arrive all the time. `npm run measure -- hand-over`.
 */
const PARTITIONS = 12;
const SAMPLE_MS = 5;
const FEED_MS = 20;
const STEADY_MS = 3_000;

const rowSchema = z.object({
  partition: z.number(),
  epoch: integerColumn,
  next_offset: integerColumn,
  owner: z.string().nullable(),
});

/** A batch finished: when it was seen, under which epoch. */
type Finish = { readonly atMs: number; readonly epoch: number };
type Step = { readonly step: string; readonly moved: number; readonly pausesMs: readonly number[] };

/** Watches the checkpoints and notes each finished batch, by partition. */
class Watch {
  readonly finishes: Finish[][] = Array.from({ length: PARTITIONS }, () => []);
  owners: readonly (string | null)[] = [];
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(private readonly world: AggregatorWorld) {
    this.#ended = this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const seen = new Map<number, number>();
    while (!this.#stop.signal.aborted) {
      const rows = await this.world.database.slonik.any(sql.type(rowSchema)`
        SELECT partition, epoch, next_offset, owner FROM aggregator_checkpoints
        ORDER BY partition`);
      const atMs = performance.now();
      this.owners = rows.map(({ owner }) => owner);
      for (const { partition, epoch, next_offset: offset } of rows) {
        if (seen.get(partition) === offset) continue;
        seen.set(partition, offset);
        this.finishes[partition]?.push({ atMs, epoch });
      }
      await delay(SAMPLE_MS);
    }
  }
}

/** A record a partition every 20 ms; what is in them does not matter to the pause. */
async function feed(writer: EventLogWriter, signal: AbortSignal): Promise<void> {
  const records = Array.from({ length: PARTITIONS }, (_, partition) => ({
    partition,
    key: 'k',
    value: 'no event',
  }));
  while (!signal.aborted) {
    await writer.append(records);
    await delay(FEED_MS);
  }
}

/** From the last batch of the old owner to the first of the new one; null when none came yet. */
function pauseOf(finishes: readonly Finish[], oldEpoch: number): number | null {
  const first = finishes.findIndex(({ epoch }) => epoch > oldEpoch);
  const [last, next] = [finishes[first - 1], finishes[first]];
  return last === undefined || next === undefined ? null : next.atMs - last.atMs;
}

/** Makes a change, waits until every partition that moved was written by its new owner. */
async function measureStep(
  watch: Watch,
  step: string,
  change: () => Promise<number>,
): Promise<Step> {
  const ownersBefore = watch.owners;
  const epochsBefore = watch.finishes.map((finishes) => finishes.at(-1)?.epoch ?? 0);
  const expectedOwners = await change();
  await until(step, () => {
    const shares = [...new Set(watch.owners)].map((owner) =>
      owner === null ? 0 : watch.owners.filter((other) => other === owner).length,
    );
    const isEqual = shares.every((share) => share === PARTITIONS / expectedOwners);
    return Promise.resolve(isEqual ? true : null);
  });
  const moved = watch.owners.flatMap((owner, at) => (owner === ownersBefore[at] ? [] : [at]));
  const pausesMs = await until(`batches after: ${step}`, () => {
    const pauses = moved.flatMap((at) => {
      const pause = pauseOf(watch.finishes[at] ?? [], epochsBefore[at] ?? 0);
      return pause === null ? [] : [pause];
    });
    return Promise.resolve(pauses.length === moved.length ? pauses : null);
  });
  await delay(STEADY_MS);
  return { step, moved: moved.length, pausesMs };
}

async function measureSteps(world: AggregatorWorld, watch: Watch): Promise<readonly Step[]> {
  const first = await startAggregatorProcess(world);
  await until('the first batches', () =>
    Promise.resolve(watch.finishes.every(({ length }) => length > 3) ? true : null),
  );
  await delay(STEADY_MS);
  let second = first;
  let third = first;
  const steps = [
    await measureStep(watch, 'a second joins', async () => {
      second = await startAggregatorProcess(world);
      return 2;
    }),
    await measureStep(watch, 'a third joins', async () => {
      third = await startAggregatorProcess(world);
      return 3;
    }),
    await measureStep(watch, 'the first leaves (SIGTERM)', async () => {
      await first.stop();
      return 2;
    }),
    await measureStep(watch, 'the second is killed (SIGKILL)', () => {
      second.child.kill('SIGKILL');
      return Promise.resolve(1);
    }),
  ];
  await third.stop();
  return steps;
}

async function measure(): Promise<{ steps: readonly Step[]; gapsMs: readonly number[] }> {
  return withAggregatorWorld(async (world) => {
    const writer = await openPostgresWriter({
      url: world.databaseUrl,
      partitionCount: PARTITIONS,
      produceTimeoutMs: 30_000,
    });
    const stop = new AbortController();
    const watch = new Watch(world);
    const feeding = feed(writer, stop.signal);
    try {
      const steps = await measureSteps(world, watch);
      const gapsMs = watch.finishes.flatMap((finishes) =>
        finishes.flatMap(({ atMs, epoch }, index) => {
          const before = finishes[index - 1];
          return before?.epoch === epoch ? [atMs - before.atMs] : [];
        }),
      );
      return { steps, gapsMs };
    } finally {
      stop.abort();
      await feeding;
      await watch.close();
      await writer.close();
    }
  });
}

function quantile(values: readonly number[], share: number): string {
  const sorted = [...values].sort((left, right) => left - right);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0);
}

const { steps, gapsMs } = await measure();
const lines = [
  ['between batches of one owner', '', quantile(gapsMs, 0.5), quantile(gapsMs, 1)],
  ...steps.map(({ step, moved, pausesMs }) => [
    step,
    String(moved),
    quantile(pausesMs, 0.5),
    quantile(pausesMs, 1),
  ]),
];
for (const line of tableLines(['', 'moved', 'median ms', 'max ms'], lines)) console.log(line);
await writeResults('hand-over', { partitions: PARTITIONS, steps, gapsMs });
