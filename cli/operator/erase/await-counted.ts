import { setTimeout as delay } from 'node:timers/promises';
import {
  readCheckpoints,
  type Checkpoints,
} from '../../../billing-api/usage/watermark/checkpoints.js';
import type { EventLogReader } from '../../../event-log/interface/event-log.js';
import type { Database } from '../../../sql/pool.js';
import { VerbRefused } from '../../stack/verb-refused.js';

const POLL_MS = 100;
/** Longer than it takes until another aggregator goes on in the place of one that was killed. */
const STANDSTILL_MAX_MS = 30_000;

type End = { readonly partition: number; readonly end: number };

/** The end of every partition that has held a record. */
async function endsOf(log: EventLogReader): Promise<readonly End[]> {
  const partitions = Array.from({ length: log.identity.partitionCount }, (_, index) => index);
  const ends = await Promise.all(
    partitions.map(async (partition) => {
      const { endOffset: end } = await log.bounds(partition);
      return { partition, end };
    }),
  );
  return ends.filter(({ end }) => end > 0);
}

/** Records up to these ends that are not finished. */
function recordsLeft(checkpoints: Checkpoints, log: string, ends: readonly End[]): number {
  return ends.reduce((sum, { partition, end }) => {
    return sum + Math.max(0, end - (checkpoints.nextOffset(log, partition) ?? 0));
  }, 0);
}

/**
 * Waits until every record that the log holds now is counted.
 * @throws VerbRefused when none is counted for half a minute.
 */
export async function awaitCounted(
  database: Database,
  log: EventLogReader,
  standstillMaxMs = STANDSTILL_MAX_MS,
): Promise<void> {
  const ends = await endsOf(log);
  let left = Number.POSITIVE_INFINITY;
  let movedAtMs = performance.now();
  for (;;) {
    const now = recordsLeft(await readCheckpoints(database), log.identity.logId, ends);
    if (now === 0) return;
    if (now < left) {
      left = now;
      movedAtMs = performance.now();
    }
    if (performance.now() - movedAtMs > standstillMaxMs) {
      throw new VerbRefused(
        `${now} records of the log wait to be counted, and nothing is counted: start an aggregator (or look at docs/operations.md 8 when a partition has halted), then run the command again`,
      );
    }
    await delay(POLL_MS);
  }
}
