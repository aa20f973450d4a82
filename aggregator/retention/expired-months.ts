import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../contract/environment.js';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import { instantColumn, integerColumn, noRows } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';

const rawEventsBegin = statement(
  'raw-events-begin',
  z.object({ begin_at: instantColumn.nullable() }),
);
const retentionState = statement(
  'retention-state',
  z.object({ now: instantColumn, is_backfill_pending: z.boolean(), is_erasing: z.boolean() }),
);
const expireMonth = statement('expire-month', z.object({ is_expired: z.boolean() }));
const listExpired = statement(
  'list-expired-months',
  z.object({ month: z.string(), is_removed: z.boolean() }),
);
const noteRemoved = statement('note-removed-month', noRows);
const listOffsets = statement(
  'list-unfinished-offsets',
  z.object({ is_of_other_log: z.boolean(), partition: z.number(), next_offset: integerColumn }),
);

/** The first day of a month in UTC, as `2026-11-01`. */
const dayOf = (monthMs: InstantMs): string => formatInstant(monthMs).slice(0, 10);

/**
 * The instant before whose append raw events are removed, or are about to be; null while all are
 * kept. It only rises. @throws DependencyError.
 */
export async function readRawEventsBegin({
  slonik,
}: {
  readonly slonik: Pick<CommonQueryMethods, 'one'>;
}): Promise<InstantMs | null> {
  return (await slonik.one(rawEventsBegin())).begin_at;
}

export type RetentionState = {
  readonly nowMs: InstantMs;
  /** Whether a meter is still being applied to stored events. */
  readonly isBackfilling: boolean;
  /** Whether an erasure was cut short that has counted events, and perhaps not removed them. */
  readonly isErasing: boolean;
};

/** What PostgreSQL knows of retention. Months are named by their first instant. */
export function createExpiredMonths(database: Database) {
  const { slonik } = database;
  return {
    /** The server's clock, and what months of append must not expire beside. */
    state: async (): Promise<RetentionState> => {
      const row = await slonik.one(retentionState());
      const { now: nowMs, is_backfill_pending: isBackfilling, is_erasing: isErasing } = row;
      return { nowMs, isBackfilling, isErasing };
    },
    /** From its commit on nobody relies on events of the month; false while a backfill needs it. */
    expire: async (monthMs: InstantMs, of: readonly Environment[]): Promise<boolean> => {
      const environments = JSON.stringify(
        of.map(({ tenantId, environmentId }) => ({ tenant: tenantId, environment: environmentId })),
      );
      const row = await slonik.one(expireMonth({ month: dayOf(monthMs), environments }));
      return row.is_expired;
    },
    /** Months that expired that long ago, in order. */
    list: async (delaySeconds: number) => {
      const rows = await slonik.any(listExpired({ delaySeconds }));
      return rows.map((row) => ({ monthMs: Date.parse(row.month), isRemoved: row.is_removed }));
    },
    noteRemoved: async (monthMs: InstantMs): Promise<void> => {
      await slonik.query(noteRemoved({ month: dayOf(monthMs) }));
    },
    /** Whether every record below these ends of the log is counted, and no earlier log has any. */
    isFinished: async (log: string, ends: readonly number[]): Promise<boolean> => {
      const rows = await slonik.any(listOffsets({ log }));
      if (rows.some((row) => row.is_of_other_log)) return false;
      const nextOffsets = new Map(rows.map((row) => [row.partition, row.next_offset]));
      return ends.every((end, partition) => (nextOffsets.get(partition) ?? 0) >= end);
    },
  };
}

export type ExpiredMonths = ReturnType<typeof createExpiredMonths>;
