import { sql } from 'slonik';
import { z } from 'zod';
import type { InstantMs } from '../../../contract/instant.js';
import type { EventLogReader, LogBounds } from '../../../event-log/interface/event-log.js';
import type { Clock } from '../../../runtime/clock.js';
import { DependencyError } from '../../../runtime/failure.js';
import { instantColumn, integerColumn } from '../../../sql/columns.js';
import type { BillingDatabase } from '../../records/unit.js';

/**
 * Events received before this instant are in every number that is read from now on. It is found in
 * two ways, and the later instant counts (docs/internals/architecture.md 4.5): aggregators note it
 * exactly; and it is never earlier than what the log says, less the time for which ingest may hold
 * events.
 */
export type ReadDataUntil = (() => Promise<InstantMs | null>) & {
  /**
   * The watermark of a row of find_pending_append with find_counted_events, for who asks PostgreSQL
   * something else too; absent where the log is not in PostgreSQL.
   */
  readonly ofPendingAppend?: (row: PendingAppend) => InstantMs | null;
};

const pendingAppendRow = z.object({
  asked_at: instantColumn,
  is_known: z.boolean(),
  pending_since: instantColumn.nullable(),
  counted_events: instantColumn.nullable(),
});
export type PendingAppend = z.output<typeof pendingAppendRow>;

/** The later of two instants, of which each may be unknown. */
const latest = (instant: InstantMs | null, other: InstantMs | null): InstantMs | null =>
  instant === null || other === null ? (instant ?? other) : Math.max(instant, other);

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
    const appendedBefore = Math.min(row.asked_at, row.pending_since ?? row.asked_at);
    return latest(appendedBefore - inFlightMs, row.counted_events);
  };
  const read = async (): Promise<InstantMs | null> =>
    ofPendingAppend(
      await database.slonik.one(sql.type(pendingAppendRow)`
        SELECT *, find_counted_events() AS counted_events FROM find_pending_append()`),
    );
  return Object.assign(read, { ofPendingAppend });
}

/** A watermark stays true for ever, so an answer may be this old; it bounds what is asked. */
const KEPT_MS = 500;
/** An answer so old is still given at once, while the next one is read. */
const GIVEN_MS = 1_000;
/** So long while readings fail, which takes seconds. */
const GIVEN_IN_OUTAGE_MS = 5_000;
/** How long to wait for the log to hand over the first record of a partition. */
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

const finishedRow = z.object({
  partition: z.number().int(),
  next_offset: integerColumn,
  last_batch_appended_at: instantColumn.nullable(),
});
type Finished = z.output<typeof finishedRow>;

async function readFinished(
  { slonik }: BillingDatabase,
  log: string,
): Promise<ReadonlyMap<number, Finished>> {
  const rows = await slonik.any(sql.type(finishedRow)`
    SELECT partition, next_offset, last_batch_appended_at
    FROM aggregator_checkpoints WHERE log = ${log}`);
  return new Map(rows.map((row) => [row.partition, row]));
}

type PartitionState = LogBounds & {
  readonly partition: number;
  /** Absent for a partition that was never begun. */
  readonly finished: Finished | undefined;
};

/**
 * For each partition, an instant before which every record that the log appended to it is finished.
 * A partition that lags is known by when it was last seen without a lag, or by when the log
 * appended its last finished batch, whichever is later: what is unfinished came after both. So its
 * records are not read, which would take as long as all its partitions together under load.
 */
class FinishedUntil {
  readonly #until = new Map<number, InstantMs>();

  constructor(
    readonly reader: EventLogReader,
    private readonly options: LogDataUntilOptions,
  ) {}

  /** The ends are read before the checkpoints: what lies between them was appended before now. */
  async readOldest(): Promise<InstantMs> {
    const { reader, options } = this;
    const { logId, partitionCount } = reader.identity;
    const now = options.clock.now();
    const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);
    const bounds = await Promise.all(partitions.map((partition) => reader.bounds(partition)));
    const finished = await readFinished(options.database, logId);
    const until = await Promise.all(
      bounds.map((ends, partition) =>
        this.#raise({ partition, ...ends, finished: finished.get(partition) }, now),
      ),
    );
    return Math.min(now, ...until);
  }

  async #raise(
    { partition, startOffset, endOffset, finished }: PartitionState,
    now: InstantMs,
  ): Promise<InstantMs> {
    const next = finished?.next_offset ?? startOffset;
    const known = Math.max(
      this.#until.get(partition) ?? Number.NEGATIVE_INFINITY,
      next >= endOffset ? now : (finished?.last_batch_appended_at ?? Number.NEGATIVE_INFINITY),
    );
    // Nothing of it was ever finished, so its first record says it.
    const until = Number.isFinite(known) ? known : await appendedAt(this.reader, partition, next);
    this.#until.set(partition, until);
    return until;
  }
}

const countedRow = z.object({ counted_events: instantColumn.nullable() });

async function readCountedEvents({ slonik }: BillingDatabase): Promise<InstantMs | null> {
  const row = await slonik.one(
    sql.type(countedRow)`SELECT find_counted_events() AS counted_events`,
  );
  return row.counted_events;
}

type Known = {
  readonly until: InstantMs | null;
  readonly readAtMs: number;
  /** For how long it is given. */
  readonly givenMs: number;
};

/**
 * The watermark of any log, as that of the log in PostgreSQL, by the clocks of this process and of
 * the log's servers. One that was read in the last few seconds is answered at once, and a newer one
 * is read meanwhile. The log is asked only when the aggregators have noted nothing for longer than
 * ingest may hold events. When it does not answer, the last one known is answered, which is still
 * true, or null when there is none. So no question fails because the watermark is missing.
 */
export function createLogDataUntil(options: LogDataUntilOptions): ReadDataUntil {
  let known: Known | null = null;
  let reading: Promise<InstantMs | null> | null = null;
  let finished: FinishedUntil | null = null;

  const readAppended = async (): Promise<InstantMs> => {
    const reader = await options.openReader();
    if (finished?.reader !== reader) finished = new FinishedUntil(reader, options);
    return (await finished.readOldest()) - options.inFlightMs;
  };
  const read = async (): Promise<InstantMs | null> => {
    let until = known?.until ?? null;
    let givenMs = GIVEN_MS;
    try {
      const counted = await readCountedEvents(options.database);
      until = latest(until, counted);
      // The log could not say more.
      const isExact = counted !== null && counted >= options.clock.now() - options.inFlightMs;
      if (!isExact) until = latest(until, await readAppended());
    } catch (error) {
      if (!(error instanceof DependencyError)) throw error;
      givenMs = GIVEN_IN_OUTAGE_MS;
    }
    known = { until, readAtMs: performance.now(), givenMs };
    return until;
  };

  return () => {
    const age = known === null ? Number.POSITIVE_INFINITY : performance.now() - known.readAtMs;
    if (known !== null && age < KEPT_MS) return Promise.resolve(known.until);
    reading ??= read().finally(() => {
      reading = null;
    });
    if (known === null || age >= known.givenMs) return reading;
    // Whoever asks next is told when this reading has failed by a bug.
    reading.catch(() => undefined);
    return Promise.resolve(known.until);
  };
}
