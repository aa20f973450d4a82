import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouse } from '../../clickhouse/client.js';
import type { InstantMs } from '../../contract/instant.js';
import type { EventLogReader } from '../../event-log/interface/event-log.js';
import type { Log } from '../../runtime/log.js';
import type { Database } from '../../sql/pool.js';
import { EVENT_REMOVAL_LOCK, withFreeAdvisoryLock } from '../../sql/session.js';
import { expireEvents, REMOVAL_DELAY_SECONDS, type Alone } from './expire-events.js';
import { createExpiredMonths, readRawEventsBegin, type ExpiredMonths } from './expired-months.js';
import { createStoredMonths } from './stored-months.js';

const CATCH_UP_POLL_MS = 1_000;
const CATCH_UP_POLLS = 60;

export type RetentionDependencies = {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly log: Pick<EventLogReader, 'identity' | 'bounds'>;
  readonly logger: Log;
  /** Null keeps raw events for ever. */
  readonly retentionDays: number | null;
  /** From the expiry of a month until its events are removed; 10 minutes when absent. */
  readonly removalDelaySeconds?: number;
};

/**
 * An instant before which everything that the log appended is counted: it looks at the ends of the
 * log, and waits for a minute until all partitions have come that far. Null when they have not.
 */
export async function waitUntilFinished(
  log: RetentionDependencies['log'],
  months: Pick<ExpiredMonths, 'isFinished'>,
  signal: AbortSignal,
): Promise<InstantMs | null> {
  const { logId, partitionCount } = log.identity;
  const lookedAtMs = Date.now();
  const bounds = await Promise.all(
    Array.from({ length: partitionCount }, (_, partition) => log.bounds(partition)),
  );
  const ends = bounds.map(({ endOffset }) => endOffset);
  for (let poll = 0; poll < CATCH_UP_POLLS && !signal.aborted; poll += 1) {
    if (await months.isFinished(logId, ends)) return lookedAtMs;
    await delay(CATCH_UP_POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  return null;
}

/**
 * One turn of retention, as of now.
 * @returns the instant before whose append raw events are removed; null while all are kept.
 * @throws DependencyError.
 */
export async function turnRetention(
  to: RetentionDependencies,
  nowMs: InstantMs,
  signal: AbortSignal,
): Promise<InstantMs | null> {
  const { database, clickhouse, log, logger, retentionDays } = to;
  const months = createExpiredMonths(database);
  const alone: Alone = (work) =>
    withFreeAdvisoryLock(database.url, EVENT_REMOVAL_LOCK, (session) =>
      work(async () => {
        // A connection that was lost has lost its lock.
        await session.query('SELECT 1');
      }),
    );
  const stores = { months, stored: createStoredMonths(clickhouse), alone };
  const terms = {
    retentionDays,
    nowMs,
    removalDelaySeconds: to.removalDelaySeconds ?? REMOVAL_DELAY_SECONDS,
    finishedTo: () => waitUntilFinished(log, months, signal),
  };
  await expireEvents(stores, terms, logger);
  return readRawEventsBegin(database);
}
