import { sql } from 'slonik';
import { z } from 'zod';
import type { InstantMs } from '../../../contract/instant.js';
import type { EventLogReader } from '../../../event-log/event-log.js';
import type { Clock } from '../../../runtime/clock.js';
import { DependencyError } from '../../../runtime/failure.js';
import { instantColumn } from '../../../sql/columns.js';
import { readCheckpoints } from './checkpoints.js';
import type { BillingDatabase } from '../../records/unit.js';

/** Events received before this instant are in every number that is read from now on. */
export type ReadDataUntil = (() => Promise<InstantMs | null>) & {
  /**
   * The watermark of a row of find_pending_append, for who asks PostgreSQL something else too
   * (0017_usage_definitions.sql); absent where the log is not in PostgreSQL.
   */
  readonly ofPendingAppend?: (row: PendingAppend) => InstantMs | null;
};

const pendingAppendRow = z.object({
  asked_at: instantColumn,
  is_known: z.boolean(),
  pending_since: instantColumn.nullable(),
});
export type PendingAppend = z.output<typeof pendingAppendRow>;

/**
 * The watermark of the log in PostgreSQL. Every record that was appended before the oldest
 * unfinished one, and before now, is counted; a record is appended at most `inFlightMs` (the time
 * in which ingest gives up) after its events were received, or they were never answered 202. So
 * events that were received `inFlightMs` before are counted, as far as the clocks of the servers
 * agree. Null while there is no log. One statement, where createLogDataUntil needs several.
 */
export function createPostgresDataUntil(
  database: BillingDatabase,
  inFlightMs: number,
): ReadDataUntil {
  const ofPendingAppend = (row: PendingAppend): InstantMs | null => {
    if (!row.is_known) return null;
    return Math.min(row.asked_at, row.pending_since ?? row.asked_at) - inFlightMs;
  };
  const read = async (): Promise<InstantMs | null> =>
    ofPendingAppend(
      await database.slonik.one(sql.type(pendingAppendRow)`SELECT * FROM find_pending_append()`),
    );
  return Object.assign(read, { ofPendingAppend });
}

/** A watermark stays true for ever, so an answer may be this old; it bounds what is asked. */
const KEPT_MS = 500;
/** How long one unfinished record may take to come from the log. */
const READ_WAIT_MS = 1_000;

type LogDataUntilOptions = {
  readonly database: BillingDatabase;
  readonly openReader: () => Promise<EventLogReader>;
  readonly clock: Clock;
  readonly inFlightMs: number;
};

/** When the log appended the record. @throws DependencyError when it does not come. */
async function appendedAt(
  reader: EventLogReader,
  partition: number,
  fromOffset: number,
): Promise<InstantMs> {
  const bounds = { recordsMax: 1, bytesMax: 1, waitMs: READ_WAIT_MS };
  const [record] = await reader.read({ partition, fromOffset, ...bounds });
  // Nothing more is wanted of the partition: it must not be fetched ahead.
  await reader.release(partition);
  if (record !== undefined) return record.appendedAtMs;
  throw new DependencyError(`offset ${fromOffset} of partition ${partition} did not come`, {
    dependency: 'event-log',
    isRetryable: true,
  });
}

/** The ends are read before the checkpoints, so what lies between them was appended before now. */
async function readWatermark(options: LogDataUntilOptions): Promise<InstantMs> {
  const { database, openReader, clock, inFlightMs } = options;
  const reader = await openReader();
  const { logId, partitionCount } = reader.identity;
  let oldest = clock.now();
  const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);
  const bounds = await Promise.all(partitions.map((partition) => reader.bounds(partition)));
  const checkpoints = await readCheckpoints(database);
  for (const [partition, { startOffset, endOffset }] of bounds.entries()) {
    const next = checkpoints.nextOffset(logId, partition) ?? startOffset;
    if (next >= endOffset) continue;
    oldest = Math.min(oldest, await appendedAt(reader, partition, next));
  }
  return oldest - inFlightMs;
}

/**
 * The watermark of any log, as that of the log in PostgreSQL, by the clocks of this process and of
 * the log's servers. The reader must be its own: it is moved about. When the log does not answer,
 * the last watermark is given, which still holds, or null: nobody fails for want of it.
 */
export function createLogDataUntil(options: LogDataUntilOptions): ReadDataUntil {
  let known: { readonly until: InstantMs | null; readonly readAtMs: number } | null = null;
  let reading: Promise<InstantMs | null> | null = null;

  const read = async (): Promise<InstantMs | null> => {
    let until = known?.until ?? null;
    try {
      until = Math.max(await readWatermark(options), until ?? Number.NEGATIVE_INFINITY);
    } catch (error) {
      if (!(error instanceof DependencyError)) throw error;
    }
    known = { until, readAtMs: performance.now() };
    return until;
  };

  return () => {
    if (known !== null && performance.now() - known.readAtMs < KEPT_MS) {
      return Promise.resolve(known.until);
    }
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };
}
