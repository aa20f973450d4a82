import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { MINUTE_MS } from '../../contract/instant.js';
import type { EventLogReader } from '../../event-log/interface/event-log.js';
import { messageOf } from '../../runtime/failure.js';
import type { Log } from '../../runtime/log.js';
import type { Metrics } from '../../runtime/metrics.js';
import { integerColumn } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';
import { removalShare, type PartitionLook } from './removal-share.js';

/** Half of the retention is left to act; as in docs/monitoring/alerts.yml. */
const WARNED_SHARE = 0.5;

const listEnds = statement(
  'list-counted-ends',
  z.object({
    partition: z.number(),
    next_offset: integerColumn,
    last_appended_ms: integerColumn.nullable(),
  }),
);

type Watched = {
  readonly database: Database;
  readonly log: Pick<EventLogReader, 'identity' | 'bounds' | 'removal'>;
  readonly logger: Log;
  readonly metrics: Pick<Metrics, 'logRemovalShare'>;
};

type Looks = ReadonlyMap<number, PartitionLook>;

async function lookAt({ database, log }: Watched): Promise<Looks> {
  const rows = await database.slonik.any(listEnds({ log: log.identity.logId }));
  const looks = new Map<number, PartitionLook>();
  for (const { partition, next_offset: nextOffset, last_appended_ms: lastAppendedMs } of rows) {
    const bounds = await log.bounds(partition);
    looks.set(partition, { atMs: Date.now(), ...bounds, nextOffset, lastAppendedMs });
  }
  return looks;
}

/**
 * Compares what is not counted with what the log keeps, writes the metric, and warns when half of
 * the log's retention is over. @returns this look, for the next one. @throws DependencyError.
 */
export async function watchLogRemoval(watched: Watched, before: Looks): Promise<Looks> {
  const { log, logger, metrics } = watched;
  if (log.removal === undefined) return before;
  const removal = await log.removal();
  const looks = await lookAt(watched);
  for (const [partition, look] of looks) {
    const share = removalShare(before.get(partition) ?? null, look, removal);
    metrics.logRemovalShare.set({ partition: String(partition) }, share);
    if (share < WARNED_SHARE) continue;
    logger.error(
      {
        partition,
        share,
        retentionMs: removal.afterMs,
        uncounted: look.endOffset - look.nextOffset,
      },
      'records that are not counted come near to their removal by Kafka: raise retention.ms and ' +
        'retention.bytes of the topic, and see why nothing is counted (docs/operations.md 3)',
    );
  }
  return looks;
}

/** Looks once a minute until the signal aborts; an outage only delays the next look. */
export async function runLogWatch(watched: Watched, signal: AbortSignal): Promise<void> {
  let looks: Looks = new Map();
  while (!signal.aborted && watched.log.removal !== undefined) {
    looks = await watchLogRemoval(watched, looks).catch((error: unknown) => {
      watched.logger.warn(
        { error: messageOf(error) },
        'the retention of the log could not be compared; tried again in a minute',
      );
      return looks;
    });
    await delay(MINUTE_MS, undefined, { signal }).catch(() => undefined);
  }
}
