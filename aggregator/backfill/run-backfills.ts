import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouse } from '../../clickhouse/client.js';
import { messageOf } from '../../runtime/failure.js';
import type { Log } from '../../runtime/log.js';
import type { BackfillAttempt, BackfillJobs } from './backfill-jobs.js';
import { backfillMeter } from './backfill-meter.js';

const POLL_MS = 500;
const PAUSE_FIRST_SECONDS = 1;
const PAUSE_MAX_SECONDS = 60;

type BackfillDependencies = {
  readonly jobs: BackfillJobs;
  readonly clickhouse: ClickHouse;
  readonly logger: Log;
};

async function attemptOne(to: BackfillDependencies, attempt: BackfillAttempt): Promise<void> {
  const { meterId, version, attempts } = attempt;
  try {
    const result = await backfillMeter(to.clickhouse, attempt);
    const isVisible = await to.jobs.complete(attempt, result);
    to.logger.info({ meterId, version, ...result, isVisible }, 'meter applied to stored events');
  } catch (error) {
    const pauseSeconds = Math.min(PAUSE_MAX_SECONDS, PAUSE_FIRST_SECONDS * 2 ** (attempts - 1));
    to.logger.warn({ meterId, version, error: messageOf(error) }, 'backfill attempt given up');
    await to.jobs.postpone(attempt, { error: messageOf(error).slice(0, 500), pauseSeconds });
  }
}

/** Works off the backfills, one after the other, until the signal; an outage only delays it. */
export async function runBackfills(to: BackfillDependencies, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let hasMore = false;
    try {
      const attempt = await to.jobs.claim();
      if (attempt !== null) await attemptOne(to, attempt);
      hasMore = attempt !== null;
    } catch (error) {
      to.logger.warn({ error: messageOf(error) }, 'backfills cannot be asked for');
    }
    if (!hasMore) await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
