import {
  millisecondColumn,
  type InsertColumn,
  type TableColumn,
} from '../../contract/table-column.js';
import { customerKeyOfEvent, type UsageEvent } from '../../contract/usage-event.js';
import { MINUTE_COLUMNS } from '../../contract/usage-minute.js';
import type { Candidate, DeadLetter } from './candidate.js';
import type { Duplicate } from './separate-duplicates.js';

/** `[start, end)` of one partition of one log. */
export type BatchRange = {
  readonly logId: string;
  readonly partition: number;
  readonly start: number;
  readonly end: number;
};

/** The tables a batch writes, in the order of its digest: usage, which catalogs change, is last. */
export const BATCH_TABLES = ['events', 'ids', 'duplicates', 'deadLetters', 'usage'] as const;
export type BatchTable = (typeof BATCH_TABLES)[number];

/**
 * The order of writing: the tables of a stage side by side, each stage after the one before. Ids
 * and usage come last, so that a batch of which they stand can be made again from its events, and
 * so that who finds usage in a minute finds the events behind it. With its usage comes what a batch
 * accepted: by then all events and duplicates are there that the reconciliation compares it with
 * (docs/internals/architecture.md 4.6).
 */
export const INSERT_STAGES: readonly (readonly BatchTable[])[] = [
  ['events', 'duplicates', 'deadLetters'],
  ['ids', 'usage'],
];

/** A column whose value depends on the row and on the batch that writes it. */
export type BatchColumn<Row> = TableColumn<Row, BatchRange>;

/** A hash, which travels as hexadecimal digits. */
function hashColumn(
  name: string,
  bytes: number,
  encode: (row: Candidate) => string,
): BatchColumn<Candidate> {
  return { name, type: 'String', stored: `toFixedString(unhex(${name}), ${bytes})`, encode };
}

export const EVENT_COLUMNS: readonly BatchColumn<Candidate>[] = [
  { name: 'tenant_id', type: 'String', encode: ({ environment }) => environment.tenantId },
  {
    name: 'environment_id',
    type: 'String',
    encode: ({ environment }) => environment.environmentId,
  },
  { name: 'event_name', type: 'String', encode: ({ event }) => event.eventName },
  { name: 'customer_key', type: 'String', encode: ({ event }) => customerKeyOfEvent(event) },
  millisecondColumn('timestamp', ({ event }) => event.timestampMs),
  { name: 'event_id', type: 'String', encode: ({ event }) => event.eventId },
  { name: 'customer_id', type: 'Nullable(String)', encode: ({ event }) => event.customerId },
  { name: 'source', type: 'String', encode: ({ event }) => event.source },
  { name: 'properties', type: 'Map(String, String)', encode: ({ event }) => event.properties },
  millisecondColumn('received_at', ({ receivedAtMs }) => receivedAtMs),
  { name: 'is_timestamp_given', type: 'Bool', encode: ({ event }) => event.isTimestampGiven },
  { name: 'log_id', type: 'String', encode: (_, { logId }) => logId },
  { name: 'log_partition', type: 'UInt32', encode: (_, { partition }) => partition },
  { name: 'log_offset', type: 'UInt64', encode: ({ offset }) => offset },
  { name: 'record_index', type: 'UInt32', encode: ({ index }) => index },
  millisecondColumn('appended_at', ({ appendedAtMs }) => appendedAtMs),
];

export const ID_COLUMNS: readonly BatchColumn<Candidate>[] = [
  { name: 'log_id', type: 'String', encode: (_, { logId }) => logId },
  { name: 'log_partition', type: 'UInt32', encode: (_, { partition }) => partition },
  hashColumn('id_hash', 16, ({ idHash }) => idHash),
  { name: 'log_offset', type: 'UInt64', encode: ({ offset }) => offset },
  { name: 'record_index', type: 'UInt32', encode: ({ index }) => index },
  hashColumn('payload_hash', 8, ({ payloadHash }) => payloadHash),
  millisecondColumn('timestamp', ({ event }) => event.timestampMs),
  { name: 'is_timestamp_given', type: 'Bool', encode: ({ event }) => event.isTimestampGiven },
  millisecondColumn('appended_at', ({ appendedAtMs }) => appendedAtMs),
];

function conflictPayload(event: UsageEvent): string {
  return JSON.stringify({
    event_name: event.eventName,
    external_customer_id: event.externalCustomerId,
    customer_id: event.customerId,
    source: event.source,
    timestamp: new Date(event.timestampMs).toISOString(),
    properties: event.properties,
  });
}

export const DUPLICATE_COLUMNS: readonly BatchColumn<Duplicate>[] = [
  { name: 'log_id', type: 'String', encode: (_, { logId }) => logId },
  { name: 'log_partition', type: 'UInt32', encode: (_, { partition }) => partition },
  { name: 'log_offset', type: 'UInt64', encode: ({ candidate }) => candidate.offset },
  { name: 'record_index', type: 'UInt32', encode: ({ candidate }) => candidate.index },
  {
    name: 'tenant_id',
    type: 'String',
    encode: ({ candidate }) => candidate.environment.tenantId,
  },
  {
    name: 'environment_id',
    type: 'String',
    encode: ({ candidate }) => candidate.environment.environmentId,
  },
  { name: 'event_id', type: 'String', encode: ({ candidate }) => candidate.event.eventId },
  { name: 'is_conflict', type: 'Bool', encode: ({ isConflict }) => isConflict },
  {
    name: 'payload',
    type: 'String',
    encode: ({ candidate, isConflict }) => (isConflict ? conflictPayload(candidate.event) : ''),
  },
  millisecondColumn('received_at', ({ candidate }) => candidate.receivedAtMs),
  millisecondColumn('appended_at', ({ candidate }) => candidate.appendedAtMs),
];

export const DEAD_LETTER_COLUMNS: readonly BatchColumn<DeadLetter>[] = [
  { name: 'log_id', type: 'String', encode: (_, { logId }) => logId },
  { name: 'log_partition', type: 'UInt32', encode: (_, { partition }) => partition },
  { name: 'log_offset', type: 'UInt64', encode: ({ offset }) => offset },
  { name: 'reason', type: 'String', encode: ({ reason }) => reason },
  { name: 'payload', type: 'String', encode: ({ payload }) => payload },
  millisecondColumn('appended_at', ({ appendedAtMs }) => appendedAtMs),
];

/** What an insert into each table names. */
export const TABLES: Readonly<
  Record<BatchTable, { readonly table: string; readonly columns: readonly InsertColumn[] }>
> = {
  events: { table: 'events_v1', columns: EVENT_COLUMNS },
  ids: { table: 'event_ids_v1', columns: ID_COLUMNS },
  usage: { table: 'usage_minute_v1', columns: MINUTE_COLUMNS },
  duplicates: { table: 'event_duplicates_v1', columns: DUPLICATE_COLUMNS },
  deadLetters: { table: 'dead_letters_v1', columns: DEAD_LETTER_COLUMNS },
};
