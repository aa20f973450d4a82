import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { z } from 'zod';
import { codeOf } from '../../../runtime/failure.js';
import { integerColumn } from '../../../sql/columns.js';
import { VerbRefused } from '../../stack/verb-refused.js';
import type { Bound, LastBatch } from './stored-rows.js';

/** SQLSTATE of a lock that was not granted in time. */
const LOCK_NOT_AVAILABLE = '55P03';
const LOCK_TIMEOUT_MS = 2_000;
const POLL_MS = 20;
const QUIET_WITHIN_MS = 120_000;
/** Longer than a flush takes on a busy machine, and short enough for what waits meanwhile. */
const HOLD_MS = 10_000;
/** In which what has waited is counted, when some batch did not end within the time above. */
const PAUSE_MS = 5_000;
const HOLD = `hashtextextended('minutebook:hold-intents', 0)`;

const checkpointRow = z.object({
  log: z.string(),
  partition: z.number(),
  next_offset: integerColumn,
  last_batch_start: integerColumn.nullable(),
});

/** How far every partition of every log is finished, and its last batch. */
export type QuietPartitions = {
  readonly bounds: readonly Bound[];
  readonly lastBatches: readonly LastBatch[];
};

async function isBusy(session: Client): Promise<boolean> {
  const { rowCount } = await session.query(
    'SELECT FROM aggregator_checkpoints WHERE intent_end IS NOT NULL LIMIT 1',
  );
  return rowCount !== 0;
}

async function readPartitions(session: Client): Promise<QuietPartitions> {
  const { rows } = await session.query(
    `SELECT log, partition, next_offset, last_batch_start FROM aggregator_checkpoints
     ORDER BY log, partition`,
  );
  const checkpoints = checkpointRow.array().parse(rows);
  const boundOf = ({ log, partition, next_offset: below }: (typeof checkpoints)[number]) => ({
    log,
    partition,
    below,
  });
  return {
    bounds: checkpoints.map(boundOf),
    lastBatches: checkpoints.flatMap((row) =>
      row.last_batch_start === null ? [] : [{ ...boundOf(row), start: row.last_batch_start }],
    ),
  };
}

/** One attempt; null when a batch is under way. */
async function tryWhileQuiet<T>(
  session: Client,
  work: (partitions: QuietPartitions) => Promise<T>,
): Promise<{ readonly result: T } | null> {
  await session.query('BEGIN');
  try {
    await session.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await session.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    await session.query('LOCK TABLE aggregator_checkpoints IN EXCLUSIVE MODE');
    if (await isBusy(session)) return null;
    const result = await work(await readPartitions(session));
    // Without the lock, an aggregator may have written meanwhile.
    await session.query('SELECT 1');
    return { result };
  } catch (error) {
    if (codeOf(error) === LOCK_NOT_AVAILABLE) return null;
    throw error;
  } finally {
    await session.query('ROLLBACK').catch(() => undefined);
  }
}

/** Attempts until `deadlineMs`; null when a batch was under way at each. */
async function tryUntil<T>(
  session: Client,
  work: (partitions: QuietPartitions) => Promise<T>,
  deadlineMs: number,
): Promise<{ readonly result: T } | null> {
  do {
    // Asked without the lock first, so that the batches under way are not held up.
    const done = (await isBusy(session)) ? null : await tryWhileQuiet(session, work);
    if (done !== null) return done;
    await delay(POLL_MS * (0.5 + Math.random()));
  } while (performance.now() < deadlineMs);
  return null;
}

/**
 * Runs `work` at a moment at which no batch of any partition is under way, and none can begin: the
 * stored events and the minutes are those of the finished batches, and nothing else. New intents
 * wait until it has ended (`await-intents.sql`), so that it need not find such a moment by luck; it
 * should take seconds at most.
 * @throws VerbRefused when a batch does not end for two minutes.
 */
export async function whileQuiet<T>(
  session: Client,
  work: (partitions: QuietPartitions) => Promise<T>,
  withinMs = QUIET_WITHIN_MS,
): Promise<T> {
  const deadlineMs = performance.now() + withinMs;
  while (performance.now() < deadlineMs) {
    await session.query(`SELECT pg_advisory_lock(${HOLD})`);
    try {
      const done = await tryUntil(session, work, Math.min(deadlineMs, performance.now() + HOLD_MS));
      if (done !== null) return done.result;
    } finally {
      await session.query(`SELECT pg_advisory_unlock(${HOLD})`).catch(() => undefined);
    }
    await delay(Math.min(PAUSE_MS, Math.max(0, deadlineMs - performance.now())));
  }
  throw new VerbRefused(
    `a batch was under way at every look for ${withinMs / 1000} s, or a backup or migration holds the checkpoints: look whether ClickHouse takes inserts (GET /readyz of the aggregators) and run the command again`,
  );
}
