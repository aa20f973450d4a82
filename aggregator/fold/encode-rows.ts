import { customerKeyOfEvent, type UsageEvent } from '../../contract/usage-event.js';
import type { FoldedBatch } from './fold-batch.js';

/** `[start, end)` of one partition of one log. */
export type BatchRange = {
  readonly logId: string;
  readonly partition: number;
  readonly start: number;
  readonly end: number;
};

/** The tables a batch writes, in the order in which they are written. */
export const BATCH_TABLES = ['events', 'ids', 'usage', 'repeats', 'deadLetters'] as const;
export type BatchTable = (typeof BATCH_TABLES)[number];

/** JSONCompactEachRow lines for one table; columns in the order of the sink's insert statement. */
export type EncodedRows = { readonly rows: number; readonly text: string };
export type EncodedBatch = Readonly<Record<BatchTable, EncodedRows>>;

function encodeLines<T>(items: readonly T[], toRow: (item: T) => readonly unknown[]): EncodedRows {
  const lines = items.map((item) => JSON.stringify(toRow(item)));
  return { rows: lines.length, text: lines.length === 0 ? '' : `${lines.join('\n')}\n` };
}

function encodeEvents(range: BatchRange, batch: FoldedBatch): EncodedRows {
  return encodeLines(batch.unique, ({ environment, event, ...at }) => [
    environment.tenantId,
    environment.environmentId,
    event.eventName,
    customerKeyOfEvent(event),
    event.timestampMs,
    event.eventId,
    event.customerId,
    event.source,
    event.properties,
    at.receivedAtMs,
    event.isTimestampGiven,
    range.logId,
    range.partition,
    at.offset,
    at.index,
    at.appendedAtMs,
  ]);
}

function encodeIds(range: BatchRange, batch: FoldedBatch): EncodedRows {
  return encodeLines(batch.unique, ({ event, ...at }) => [
    range.logId,
    range.partition,
    at.idHash,
    at.offset,
    at.index,
    at.payloadHash,
    event.timestampMs,
    event.isTimestampGiven,
    at.appendedAtMs,
  ]);
}

/** The row that says "this batch is in"; see clickhouse/migrations/0001_usage.sql. */
export function markerOf(range: BatchRange): {
  readonly source: string;
  readonly groupKey: string;
} {
  return {
    source: `${range.logId}:${range.partition}`,
    groupKey: `${range.start}:${range.end}`,
  };
}

function encodeUsage(range: BatchRange, batch: FoldedBatch): EncodedRows {
  const marker = markerOf(range);
  const deltas = encodeLines(batch.deltas, (delta) => [
    delta.meter.environment.tenantId,
    delta.meter.environment.environmentId,
    delta.customerKey,
    delta.meter.meterId,
    delta.meter.generation,
    delta.minuteMs / 1000,
    delta.source,
    '',
    delta.eventCount,
  ]);
  const markerLine = JSON.stringify([
    '',
    '',
    '',
    '#batch',
    0,
    0,
    marker.source,
    marker.groupKey,
    1,
  ]);
  return { rows: deltas.rows + 1, text: `${deltas.text}${markerLine}\n` };
}

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

function encodeRepeats(range: BatchRange, batch: FoldedBatch): EncodedRows {
  return encodeLines(batch.repeats, ({ candidate, isConflict }) => [
    range.logId,
    range.partition,
    candidate.offset,
    candidate.index,
    candidate.environment.tenantId,
    candidate.environment.environmentId,
    candidate.event.eventId,
    isConflict,
    isConflict ? conflictPayload(candidate.event) : '',
    candidate.receivedAtMs,
    candidate.appendedAtMs,
  ]);
}

function encodeDeadLetters(range: BatchRange, batch: FoldedBatch): EncodedRows {
  return encodeLines(batch.deadLetters, (letter) => [
    range.logId,
    range.partition,
    letter.offset,
    letter.reason,
    letter.payload,
    letter.appendedAtMs,
  ]);
}

/**
 * The lines of every table of a batch. Encoded here, since encoding rows as objects costs the
 * client twice the time.
 */
export function encodeBatch(range: BatchRange, batch: FoldedBatch): EncodedBatch {
  return {
    events: encodeEvents(range, batch),
    ids: encodeIds(range, batch),
    usage: encodeUsage(range, batch),
    repeats: encodeRepeats(range, batch),
    deadLetters: encodeDeadLetters(range, batch),
  };
}

/**
 * Text whose hash is the digest of an intent: equal digests mean that a replay writes the same
 * rows.
 */
export function digestText(encoded: EncodedBatch): string {
  return BATCH_TABLES.map(
    (table) => `${table}:${encoded[table].rows}\n${encoded[table].text}`,
  ).join('');
}
