import { z } from 'zod';
import type { Environment } from '../../contract/environment.js';
import type { MeterFilter } from '../../contract/meter.js';
import { integerColumn, meterFiltersColumn, noRows } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';

/** Longer than an attempt takes; an attempt whose process died is tried again after it. */
const LEASE_SECONDS = 300;

const claimRow = z.object({
  meter_id: z.string(),
  version: z.number(),
  tenant_id: z.string(),
  environment_id: z.string(),
  event_name: z.string(),
  filters: meterFiltersColumn,
  attempts: z.number(),
  generation: integerColumn,
  vector: z.array(z.object({ log: z.string(), partition: z.number(), liveFrom: z.number() })),
});

const claimBackfill = statement('claim-backfill', claimRow);
const completeBackfill = statement('complete-backfill', z.object({ meter_id: z.string() }));
const postponeBackfill = statement('postpone-backfill', noRows);

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
  /** Of this attempt alone: what an earlier one wrote stays unread for ever. */
  readonly generation: number;
  readonly attempts: number;
  readonly vector: readonly BackfillRange[];
};

export type BackfillResult = { readonly eventsScanned: number; readonly eventsMatched: number };

/** The list of backfills in Postgres. Every method throws a DependencyError when it fails. */
export function createBackfillJobs(database: Database) {
  const { slonik } = database;
  return {
    /** An attempt at a backfill whose input stands still, or null. */
    claim: async (): Promise<BackfillAttempt | null> => {
      const row = await slonik.maybeOne(claimBackfill({ leaseSeconds: LEASE_SECONDS }));
      if (row === null) return null;
      return {
        meterId: row.meter_id,
        version: row.version,
        environment: { tenantId: row.tenant_id, environmentId: row.environment_id },
        eventName: row.event_name,
        filters: row.filters,
        generation: row.generation,
        attempts: row.attempts,
        vector: row.vector,
      };
    },
    /** Switches all readers to the attempt; false when another attempt was faster. */
    complete: async (attempt: BackfillAttempt, result: BackfillResult): Promise<boolean> => {
      const { meterId, version, generation } = attempt;
      const done = await slonik.maybeOne(
        completeBackfill({ meterId, version, generation, ...result }),
      );
      return done !== null;
    },
    /** Gives the attempt up; a fresh one may start after the pause. */
    postpone: async (
      attempt: BackfillAttempt,
      reason: { readonly error: string; readonly pauseSeconds: number },
    ): Promise<void> => {
      const { meterId, version } = attempt;
      await slonik.query(postponeBackfill({ meterId, version, ...reason }));
    },
  };
}

export type BackfillJobs = ReturnType<typeof createBackfillJobs>;
