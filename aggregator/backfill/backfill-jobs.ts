import { z } from 'zod';
import type { MeterAggregation } from '../../contract/aggregation.js';
import type { Environment } from '../../contract/environment.js';
import type { MeterFilter } from '../../contract/meter.js';
import { integerColumn, meterFiltersColumn, noRows } from '../../sql/columns.js';
import { aggregationColumns, aggregationFromRow } from '../../sql/meter-aggregation.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';

/**
 * How long an attempt is its process' own after the last sign of life. A multiple of the heartbeat
 * of run-backfills, so that a short outage of Postgres takes no attempt away.
 */
const LEASE_SECONDS = 8;
/** Versions retired at a time; the rest follow with the next call. */
const RETIRED_MAX = 100;

const claimRow = z.object({
  meter_id: z.string(),
  version: z.number(),
  tenant_id: z.string(),
  environment_id: z.string(),
  event_name: z.string(),
  filters: meterFiltersColumn,
  ...aggregationColumns,
  attempts: z.number(),
  generation: integerColumn,
  start_offsets: z.array(
    z.object({ log: z.string(), partition: z.number(), liveFrom: z.number() }),
  ),
});

const claimBackfill = statement('claim-backfill', claimRow);
const progressBackfill = statement('progress-backfill', z.object({ meter_id: z.string() }));
const completeBackfill = statement('complete-backfill', z.object({ is_visible: z.boolean() }));
const postponeBackfill = statement('postpone-backfill', noRows);
const releaseBackfill = statement('release-backfill', noRows);
const retireUnread = statement('retire-unread-meter-versions', z.object({ retired: z.number() }));

/** The stored events of one partition that a backfill owns: offsets below `liveFrom`. */
export type BackfillRange = {
  readonly log: string;
  readonly partition: number;
  readonly liveFrom: number;
};

/** One attempt to apply a meter to the events that came before it. */
export type BackfillAttempt = {
  readonly meterId: string;
  readonly version: number;
  readonly environment: Environment;
  readonly eventName: string;
  readonly filters: readonly MeterFilter[];
  readonly aggregation: MeterAggregation;
  /** Of this attempt alone: what an earlier one wrote stays unread for ever. */
  readonly generation: number;
  /** Number of the attempt, from 1 on; it fences what an overtaken one still wants to write. */
  readonly attempts: number;
  readonly startOffsets: readonly BackfillRange[];
};

/** What an attempt has done so far, or in all. */
export type BackfillResult = { readonly eventsScanned: number; readonly eventsMatched: number };

/** How an attempt under way is watched: it reports how far it is and looks whether to stop. */
export type BackfillWatch = {
  /** Called as often as there is something new: it only takes note, and costs nothing. */
  readonly progress: (attempt: BackfillAttempt, result: BackfillResult) => void;
  /** Aborted when another process has taken the attempt over, or this one is to end. */
  readonly signal: AbortSignal;
};

function attemptFromRow(row: z.output<typeof claimRow>): BackfillAttempt {
  return {
    meterId: row.meter_id,
    version: row.version,
    environment: { tenantId: row.tenant_id, environmentId: row.environment_id },
    eventName: row.event_name,
    filters: row.filters,
    aggregation: aggregationFromRow(row),
    generation: row.generation,
    attempts: row.attempts,
    startOffsets: row.start_offsets,
  };
}

function keyOf({ meterId, version, attempts }: BackfillAttempt) {
  return { meterId, version, attempts };
}

/** The list of backfills in Postgres. Every method throws a DependencyError when it fails. */
export function createBackfillJobs(database: Database) {
  const { slonik } = database;
  return {
    /** An attempt at a backfill whose input stands still, or null. */
    claim: async (): Promise<BackfillAttempt | null> => {
      const row = await slonik.maybeOne(claimBackfill({ leaseSeconds: LEASE_SECONDS }));
      return row === null ? null : attemptFromRow(row);
    },
    /** Prolongs the claim and shows how far it is; false when another attempt has taken over. */
    progress: async (attempt: BackfillAttempt, result: BackfillResult): Promise<boolean> => {
      const row = await slonik.maybeOne(
        progressBackfill({ ...keyOf(attempt), ...result, leaseSeconds: LEASE_SECONDS }),
      );
      return row !== null;
    },
    /** Switches all readers to the attempt; false when another attempt has taken over. */
    complete: async (attempt: BackfillAttempt, result: BackfillResult): Promise<boolean> => {
      const { generation } = attempt;
      const { is_visible: isVisible } = await slonik.one(
        completeBackfill({ ...keyOf(attempt), generation, ...result }),
      );
      return isVisible;
    },
    /** Gives the attempt up; a fresh one may start after the pause. */
    postpone: async (
      attempt: BackfillAttempt,
      reason: { readonly error: string; readonly pauseSeconds: number },
    ): Promise<void> => {
      await slonik.query(postponeBackfill({ ...keyOf(attempt), ...reason }));
    },
    /** Leaves the attempt to whoever claims next: this process ends. */
    release: async (attempt: BackfillAttempt): Promise<void> => {
      await slonik.query(releaseBackfill(keyOf(attempt)));
    },
    /** Stops feeding versions that nobody has read for these hours; returns how many. */
    retireUnread: async (hours: number): Promise<number> => {
      const { retired } = await slonik.one(retireUnread({ hours, versionsMax: RETIRED_MAX }));
      return retired;
    },
  };
}

export type BackfillJobs = ReturnType<typeof createBackfillJobs>;
