import { z } from 'zod';
import { MINUTE_MS } from '../../contract/instant.js';
import type { EventLogReader } from '../../event-log/interface/event-log.js';
import { integerColumn } from '../../sql/columns.js';
import { defineJob, type Job } from '../../sql/jobs/job.js';
import { statement } from '../../sql/statement.js';
import { retireUnread } from '../backfill/retire-unread.js';
import { turnRetention, type RetentionDependencies } from '../retention/turn-retention.js';

/** What the jobs of the aggregator work with. */
export type JobNeeds = RetentionDependencies & {
  readonly log: Pick<EventLogReader, 'trim'>;
  /** How long a version that is no longer read still counts, so that a change can be undone. */
  readonly revertHours: number;
};

const listPositions = statement(
  'list-positions',
  z.object({
    partition: z.number(),
    next_offset: integerColumn,
    intent_end: integerColumn.nullable(),
  }),
);

/** Retires versions of meters that have not been read for a long time. */
export const RETIRE_METER_VERSIONS = defineJob({
  name: 'retire-meter-versions',
  schedule: { everyMs: MINUTE_MS },
  input: z.object({}),
  inTransaction: async (tx, _given, { revertHours, logger }: JobNeeds) => {
    const { retired, hasMore } = await retireUnread(tx, revertHours);
    if (retired > 0) logger.info({ retired }, 'meter versions retired');
    return { hasMore };
  },
});

/**
 * Lets raw events expire, and removes those that have (D-020). A month lasts long; what expired is
 * removed with the next turn but one.
 */
export const EXPIRE_EVENTS = defineJob({
  name: 'expire-events',
  schedule: { everyMs: 10 * MINUTE_MS },
  input: z.object({}),
  state: z.object({ beginMs: z.number().nullable() }),
  withLease: async ({ run }, needs: JobNeeds) => ({
    state: { beginMs: await turnRetention(needs, run.now, run.signal) },
  }),
  show: ({ beginMs }, metrics) => metrics.rawEventsBegin.set((beginMs ?? 0) / 1_000),
});

/** Removes counted records that are older than the retention, for a log that does not itself. */
export const TRIM_EVENT_LOG = defineJob({
  name: 'trim-event-log',
  schedule: { everyMs: 5_000 },
  input: z.object({}),
  withLease: async ({ run }, { database, log }: JobNeeds) => {
    const positions = await database.slonik.any(listPositions({ log: log.identity.logId }));
    for (const { partition, next_offset: nextOffset } of positions) {
      await log.trim?.(partition, nextOffset, run.signal);
    }
    return {};
  },
});

/** The jobs of the aggregator, which any number of its processes carry out. */
export function aggregatorJobs(log: Pick<EventLogReader, 'trim'>): readonly Job<JobNeeds>[] {
  const jobs = [RETIRE_METER_VERSIONS, EXPIRE_EVENTS];
  return log.trim === undefined ? jobs : [...jobs, TRIM_EVENT_LOG];
}
