import { z } from 'zod';
import type { ClickHouseQueries } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import type { InstantMs, Interval } from '../../contract/instant.js';
import { assertPresent, AssertionFailed } from '../../runtime/failure.js';
import { integerColumn } from '../../sql/columns.js';
import type { EventPosition } from './event-positions.js';
import { queryFile } from '../../clickhouse/query-file.js';
import { textKeyed } from '../records/columns.js';

/** What a duplicate that differs said, as the aggregator keeps it. */
const payloadSchema = z.object({
  event_name: z.string(),
  external_customer_id: z.string().nullable(),
  customer_id: z.string().nullable(),
  source: z.string(),
  timestamp: z.string(),
  properties: textKeyed(z.string()),
});
export type EventPayload = z.output<typeof payloadSchema>;

export type StoredConflict = {
  readonly eventId: string;
  readonly duplicate: EventPayload;
  readonly receivedAtMs: InstantMs;
};

export type ConflictQuery = {
  readonly environment: Environment;
  /** Of receipt. */
  readonly window: Interval;
  readonly eventId: string | null;
  readonly limit: number;
  readonly offset: number;
};

const FILTER_CONFLICTS = queryFile('filter-event-conflicts');
const PLACE = 'd.log_id, d.log_partition, d.log_offset, d.record_index';
const LIST_CONFLICTS = `SELECT d.event_id AS event_id, d.payload AS payload,
    toString(toUnixTimestamp64Milli(d.received_at)) AS received_ms
  ${FILTER_CONFLICTS}
  ORDER BY d.received_at DESC, ${PLACE}
  LIMIT 1 BY ${PLACE}
  LIMIT {limit:UInt64} OFFSET {offset:UInt64}`;
const COUNT_CONFLICTS = `SELECT uniqExact(${PLACE}) AS total ${FILTER_CONFLICTS}`;

const conflictRow = z.object({
  event_id: z.string(),
  payload: z.string(),
  received_ms: integerColumn,
});

function payloadFromText(text: string): EventPayload {
  const parsed = payloadSchema.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw new AssertionFailed(
    `the payload of a duplicate has another shape: ${parsed.error.message}`,
  );
}

/** One page of conflicts, newest first, and how many there are in all. @throws DependencyError. */
export type ListConflicts = (question: ConflictQuery) => Promise<{
  readonly rows: readonly StoredConflict[];
  readonly total: number;
}>;

export function createConflictList(clickHouse: ClickHouseQueries): ListConflicts {
  return async ({ environment, window, eventId, limit, offset }) => {
    const parameters = {
      ...environment,
      fromMs: window.startMs,
      toMs: window.endMs,
      eventIds: eventId === null ? [] : [eventId],
    };
    const found = await clickHouse.query(
      LIST_CONFLICTS,
      { ...parameters, limit, offset },
      conflictRow,
    );
    const rows = found.map((row) => ({
      eventId: row.event_id,
      duplicate: payloadFromText(row.payload),
      receivedAtMs: row.received_ms,
    }));
    if (offset === 0 && rows.length < limit) return { rows, total: rows.length };
    const totalRow = z.object({ total: integerColumn });
    const [counted] = await clickHouse.query(COUNT_CONFLICTS, parameters, totalRow);
    return { rows, total: counted?.total ?? 0 };
  };
}

const COUNT_DUPLICATES = queryFile('count-event-duplicates');
const duplicatesRow = z.object({ duplicates: integerColumn, conflicts: integerColumn });

/** How often an id that was counted at a place came again; conflicts are a part of duplicates. */
export type CountDuplicates = (
  environment: Environment,
  event: { readonly eventId: string; readonly position: EventPosition },
) => Promise<z.output<typeof duplicatesRow>>;

export function createDuplicateCount(clickHouse: ClickHouseQueries): CountDuplicates {
  return async (environment, { eventId, position }) => {
    const { logId, partition: logPartition } = position;
    const parameters = { ...environment, eventId, logId, logPartition };
    const [counted] = await clickHouse.query(COUNT_DUPLICATES, parameters, duplicatesRow);
    return assertPresent(counted, 'the row of a SELECT of aggregates');
  };
}
