import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import type { MeterDefinition } from '../../contract/meter.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';
import { meterFromRow, meterRow } from '../gather/catalog.js';

/**
 * How long a process keeps its attempt after its last heartbeat. Several heartbeats of
 * run-backfills.ts, so that a short outage of PostgreSQL does not end the attempt.
 */
const LEASE_SECONDS = 8;

const claimRow = meterRow.extend({
  attempts: z.number(),
  start_offsets: z.array(
    z.object({ log: z.string(), partition: z.number(), liveFrom: z.number() }),
  ),
});

const claimBackfill = statement('claim-backfill', claimRow);
const progressBackfill = statement('progress-backfill', z.object({ is_running: z.boolean() }));
const noteCountsFrom = statement(
  'note-backfill-counts-from',
  z.object({ is_running: z.boolean() }),
);
const completeBackfill = statement('complete-backfill', z.object({ is_visible: z.boolean() }));
const postponeBackfill = statement('postpone-backfill', z.unknown());
const releaseBackfill = statement('release-backfill', z.unknown());

/** The stored events of one partition that a backfill owns: offsets below `liveFrom`. */
export type BackfillRange = {
  readonly log: string;
  readonly partition: number;
  readonly liveFrom: number;
};

/**
 * One attempt to apply a meter to the events that were stored before it. Its generation is used by
 * this attempt alone, so that the rows of a failed attempt are never read.
 */
export type BackfillAttempt = MeterDefinition & {
  /** Number of the attempt, from 1 on. Updates with the number of an overtaken one are refused. */
  readonly attempts: number;
  readonly startOffsets: readonly BackfillRange[];
  /** Events that the log appended before have been removed by retention; null for none. */
  readonly countsFromMs: InstantMs | null;
};

/** What an attempt has done so far, or in all. */
export type BackfillResult = { readonly eventsScanned: number; readonly eventsMatched: number };

/** Through which a running attempt reports its progress and learns that it must stop. */
export type BackfillWatch = {
  /** Called after each page. It only keeps the figures, which the next heartbeat writes. */
  readonly progress: (attempt: BackfillAttempt, result: BackfillResult) => void;
  /** Aborts when another attempt has overtaken this one, or the process ends. */
  readonly signal: AbortSignal;
};

function attemptFromRow(row: z.output<typeof claimRow>): BackfillAttempt {
  const { attempts, start_offsets: startOffsets } = row;
  return { ...meterFromRow(row), attempts, startOffsets, countsFromMs: null };
}

function keyOf({ meterId, version, attempts }: BackfillAttempt) {
  return { meterId, version, attempts };
}

/** The backfills in PostgreSQL. Every method throws a DependencyError when PostgreSQL fails. */
export function createBackfillJobs(database: Database) {
  const { slonik } = database;
  return {
    /** Claims a backfill whose input no longer changes; null when there is none. */
    claim: async (): Promise<BackfillAttempt | null> => {
      const row = await slonik.maybeOne(claimBackfill({ leaseSeconds: LEASE_SECONDS }));
      return row === null ? null : attemptFromRow(row);
    },
    /** Stores from when on the attempt counts; false when another attempt has overtaken it. */
    noteCountsFrom: async (
      attempt: BackfillAttempt,
      rawEventsBeginMs: InstantMs | null,
    ): Promise<boolean> => {
      const { countsFromMs } = attempt;
      const instant = countsFromMs === null ? null : formatInstant(countsFromMs);
      const beginAt = rawEventsBeginMs === null ? null : formatInstant(rawEventsBeginMs);
      const { is_running: isRunning } = await slonik.one(
        noteCountsFrom({ ...keyOf(attempt), instant, beginAt }),
      );
      return isRunning;
    },
    /** Extends the claim and stores the progress; false when another attempt has overtaken it. */
    progress: async (attempt: BackfillAttempt, result: BackfillResult): Promise<boolean> => {
      const { is_running: isRunning } = await slonik.one(
        progressBackfill({ ...keyOf(attempt), ...result, leaseSeconds: LEASE_SECONDS }),
      );
      return isRunning;
    },
    /** Makes all readers read the attempt; false when another attempt has overtaken it. */
    complete: async (attempt: BackfillAttempt, result: BackfillResult): Promise<boolean> => {
      const { generation } = attempt;
      const { is_visible: isVisible } = await slonik.one(
        completeBackfill({ ...keyOf(attempt), generation, ...result }),
      );
      return isVisible;
    },
    /** Gives the attempt up; the next one may start after the pause. */
    postpone: async (
      attempt: BackfillAttempt,
      reason: { readonly error: string; readonly pauseSeconds: number },
    ): Promise<void> => {
      await slonik.query(postponeBackfill({ ...keyOf(attempt), ...reason }));
    },
    /** Gives the claim up because this process ends; another may claim at once. */
    release: async (attempt: BackfillAttempt): Promise<void> => {
      await slonik.query(releaseBackfill(keyOf(attempt)));
    },
  };
}

export type BackfillJobs = ReturnType<typeof createBackfillJobs>;
