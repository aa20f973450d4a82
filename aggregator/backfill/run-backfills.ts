import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouse } from '../../clickhouse/client.js';
import { messageOf } from '../../runtime/failure.js';
import type { Log } from '../../runtime/log.js';
import type { Database } from '../../sql/pool.js';
import { readRawEventsBegin } from '../retention/expired-months.js';
import { hasExpiredEvents } from '../retention/stored-months.js';
import type { BackfillAttempt, BackfillJobs, BackfillResult } from './backfill-jobs.js';
import { backfillMeter } from './backfill-meter.js';

const POLL_MS = 1_000;
const HEARTBEAT_MS = 1_000;
const PAUSE_FIRST_SECONDS = 1;
const PAUSE_MAX_SECONDS = 60;
const ERROR_LENGTH_MAX = 500;

type BackfillDependencies = {
  readonly jobs: BackfillJobs;
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly logger: Log;
};

/** Writes an attempt's progress with every heartbeat, and aborts it when another overtakes it. */
function watchAttempt(to: BackfillDependencies, attempt: BackfillAttempt, stop: AbortSignal) {
  const overtaken = new AbortController();
  let reached: BackfillResult = { eventsScanned: 0, eventsMatched: 0 };
  const beat = async (): Promise<void> => {
    try {
      if (!(await to.jobs.progress(attempt, reached))) overtaken.abort(new Error('overtaken'));
    } catch (error) {
      // The claim survives a few lost heartbeats. If it ends, another attempt starts afresh.
      to.logger.warn(
        { error: messageOf(error) },
        'the progress of a backfill could not be written; tried again with the next heartbeat',
      );
    }
  };
  const timer = setInterval(() => void beat(), HEARTBEAT_MS);
  return {
    watch: {
      progress: (_attempt: BackfillAttempt, result: BackfillResult) => {
        reached = result;
      },
      signal: AbortSignal.any([overtaken.signal, stop]),
    },
    isOvertaken: () => overtaken.signal.aborted,
    end: () => clearInterval(timer),
  };
}

/**
 * The attempt, and the instant from which it counts events: older ones retention has removed or is
 * about to. No further month expires before the attempt is completed (expire_month).
 */
async function withCountsFrom(
  { jobs, database, clickhouse }: BackfillDependencies,
  claimed: BackfillAttempt,
): Promise<BackfillAttempt> {
  const beginMs = await readRawEventsBegin(database);
  const isMissing = beginMs !== null && (await hasExpiredEvents(clickhouse, claimed, beginMs));
  const attempt = { ...claimed, countsFromMs: isMissing ? beginMs : null };
  if (await jobs.noteCountsFrom(attempt, beginMs)) return attempt;
  throw new Error('overtaken');
}

async function attemptOne(
  to: BackfillDependencies,
  claimed: BackfillAttempt,
  stop: AbortSignal,
): Promise<void> {
  const { meterId, version, attempts } = claimed;
  const watched = watchAttempt(to, claimed, stop);
  try {
    const attempt = await withCountsFrom(to, claimed);
    const result = await backfillMeter(to.clickhouse, attempt, watched.watch);
    const isVisible = await to.jobs.complete(attempt, result);
    to.logger.info({ meterId, version, ...result, isVisible }, 'meter applied to stored events');
  } catch (error) {
    if (stop.aborted) return await to.jobs.release(claimed);
    const reason = messageOf(error).slice(0, ERROR_LENGTH_MAX);
    to.logger.warn(
      { meterId, version, error: reason },
      'the backfill of a meter failed; another attempt follows',
    );
    if (watched.isOvertaken()) return;
    const pauseSeconds = Math.min(PAUSE_MAX_SECONDS, PAUSE_FIRST_SECONDS * 2 ** (attempts - 1));
    await to.jobs.postpone(claimed, { error: reason, pauseSeconds });
  } finally {
    watched.end();
  }
}

/** Runs one backfill after the other until the signal aborts; an outage only delays them. */
export async function runBackfills(to: BackfillDependencies, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let hasMore = false;
    try {
      const attempt = await to.jobs.claim();
      if (attempt !== null) await attemptOne(to, attempt, signal);
      hasMore = attempt !== null;
    } catch (error) {
      to.logger.warn(
        { error: messageOf(error) },
        'backfills could not be claimed; tried again in a second',
      );
    }
    if (!hasMore) await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
