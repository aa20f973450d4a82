import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'slonik';
import { z } from 'zod';
import { createSeededRandom } from '../../load-tests/harness/seeded-random.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { builtModule } from '../../runtime/project.js';
import { integerColumn } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import type { WorkerEngines } from './bill-as-worker.js';

function startWorker(engines: WorkerEngines): ChildProcess {
  return fork(builtModule('billing-api/testing/bill-as-worker'), [JSON.stringify(engines)]);
}

/** Until a worker works. One that cannot begin, as the machine is busy, is not waited for. */
async function begun(worker: ChildProcess): Promise<void> {
  await Promise.race([once(worker, 'message'), once(worker, 'exit')]);
}

/** How many workers there are, how long one lives, and until when they are killed. */
export type Kills = {
  readonly seed: number;
  readonly workers: number;
  readonly pauseMs: readonly [least: number, more: number];
  readonly isDone: () => Promise<boolean>;
};

/**
 * Kills a worker at random instants, again and again, and starts another in its place, which is not
 * killed before it works.
 * @returns how many were killed.
 */
export async function killAgainAndAgain(
  engines: WorkerEngines,
  { seed, workers: count, pauseMs: [least, more], isDone }: Kills,
): Promise<number> {
  const random = createSeededRandom(seed);
  const workers = Array.from({ length: count }, () => startWorker(engines));
  let kills = 0;
  try {
    await Promise.all(workers.map(begun));
    while (!(await isDone())) {
      await setTimeout(least + random.below(more));
      const place = random.below(count);
      workers[place]?.kill('SIGKILL');
      const next = startWorker(engines);
      workers[place] = next;
      kills += 1;
      await begun(next);
    }
  } finally {
    for (const worker of workers) worker.kill('SIGKILL');
    await Promise.all(
      workers.filter((one) => one.exitCode === null).map((one) => once(one, 'exit')),
    );
  }
  return kills;
}

const countRow = z.object({ count: integerColumn });

/** How many rows of all environments there are of a table with a condition. */
export async function countOf(
  database: Database,
  condition: Parameters<typeof sql.join>[0][number],
): Promise<number> {
  const { count } = await ownerOf(database).one(sql.type(countRow)`
    SELECT count(*) AS count FROM ${condition}`);
  return count;
}
