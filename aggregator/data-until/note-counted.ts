import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import type { EventLogReader } from '../../event-log/interface/event-log.js';
import { messageOf } from '../../runtime/failure.js';
import type { Log } from '../../runtime/log.js';
import type { Metrics } from '../../runtime/metrics.js';
import type { Rest } from '../../runtime/rest.js';
import { createSeldom } from '../../runtime/seldom.js';
import { instantColumn } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';
import { ReceivedMarks } from './received-marks.js';

/** While events are counted, one is known to be counted so much later than it is, at most. */
export const COUNTED_LOOKS = { busyMs: 250, restMs: 2_000 };
/** Looks fail as often as they come, so one log line in this time is enough. */
const LOG_INTERVAL_MS = 60_000;

const readHeldSince = statement(
  'read-held-since',
  z.object({
    held_since: instantColumn.nullable(),
    finished: z.array(z.object({ partition: z.number(), next_offset: z.number() })),
  }),
);
const noteCountedEvents = statement('note-counted-events', z.unknown());

/** What all processes of ingest hold, and how far the partitions of the log are finished. */
export type HeldAndFinished = {
  /** What was received before is in the log, by whichever process; null when nobody knows. */
  readonly heldSince: InstantMs | null;
  /** For each partition, the offset below which every record is counted. */
  readonly finished: readonly number[];
};

/** What is asked and told, each in a statement or a question to the log of its own. */
export type CountedPorts = {
  readonly read: () => Promise<HeldAndFinished>;
  /** The end of each partition. */
  readonly ends: () => Promise<readonly number[]>;
  readonly note: (receivedBefore: InstantMs) => Promise<void>;
};

/**
 * One look. First every process of ingest has said up to when all that it received is in the log;
 * then the ends of the log are asked. So all of it lies below these ends, and is counted when the
 * aggregators have come so far. Whatever happens between the steps, what is noted is true, and
 * stays so.
 * @throws DependencyError.
 */
export async function noteCounted(marks: ReceivedMarks, ports: CountedPorts): Promise<void> {
  const { heldSince, finished } = await ports.read();
  if (heldSince !== null) {
    marks.note({ receivedBeforeMs: heldSince, ends: await ports.ends() });
  }
  const counted = marks.takeFinished(finished);
  if (counted !== null) await ports.note(counted);
}

type Counting = {
  readonly database: Pick<Database, 'slonik'>;
  readonly log: Pick<EventLogReader, 'identity' | 'ends'>;
};

export function createCountedPorts({ database: { slonik }, log }: Counting): CountedPorts {
  const { logId, partitionCount } = log.identity;
  const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);
  return {
    read: async () => {
      const row = await slonik.one(readHeldSince({ log: logId }));
      const offsets = new Map(row.finished.map((one) => [one.partition, one.next_offset]));
      // Absent means zero: nothing is finished of a partition that was never begun.
      const finished = partitions.map((partition) => offsets.get(partition) ?? 0);
      return { heldSince: row.held_since, finished };
    },
    ends: () => log.ends(),
    note: async (receivedBefore) => {
      await slonik.query(noteCountedEvents({ before: formatInstant(receivedBefore) }));
    },
  };
}

/**
 * Looks four times a second, and every other second at rest, until the signal aborts, while this
 * process is the one to do so; one is enough. An outage only delays the next look.
 * @param rest is stirred when something is counted here; what others count stirs it by itself.
 */
export async function runCountedNotes(
  counting: Counting & {
    readonly logger: Log;
    readonly metrics: Pick<Metrics, 'countedUntil'>;
    readonly isOurs: () => boolean;
    readonly rest: Rest;
  },
  signal: AbortSignal,
): Promise<void> {
  const postgres = createCountedPorts(counting);
  const { rest } = counting;
  let endsBefore = '';
  const ports: CountedPorts = {
    ...postgres,
    ends: async () => {
      const ends = await postgres.ends();
      if (String(ends) !== endsBefore) rest.stir();
      endsBefore = String(ends);
      return ends;
    },
    note: async (receivedBefore) => {
      await postgres.note(receivedBefore);
      counting.metrics.countedUntil.set(receivedBefore / 1_000);
    },
  };
  const say = createSeldom(LOG_INTERVAL_MS);
  let marks = new ReceivedMarks();
  while (!signal.aborted) {
    if (!counting.isOurs()) marks = new ReceivedMarks();
    else {
      await noteCounted(marks, ports).catch((error: unknown) => {
        say(() =>
          counting.logger.warn(
            { error: messageOf(error) },
            'up to when events are counted could not be noted; data_until lags until it can',
          ),
        );
      });
    }
    await rest.pause(signal);
  }
}
