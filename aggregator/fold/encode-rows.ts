import { customerKeyOfEvent, type UsageEvent } from '../../contract/usage-event.js';
import { plain } from '../../contract/decimal.js';
import type { Latest } from '../../contract/usage-cell.js';
import type { AcceptedCount } from './count-accepted.js';
import type { FoldedBatch } from './fold-batch.js';
import type { UsageDelta } from './usage-deltas.js';

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

/** One line an item. */
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

/** Texts that name a batch in the usage table. */
export type BatchMarker = { readonly source: string; readonly groupKey: string };

/** The row that says "this batch is in"; see clickhouse/migrations/0001_usage.sql. */
export function markerOf(range: BatchRange): BatchMarker {
  return {
    source: `${range.logId}:${range.partition}`,
    groupKey: `${range.start}:${range.end}`,
  };
}

function latestColumn(latest: Latest | null): readonly unknown[] {
  if (latest === null) return [0, 0, '', '0'];
  return [latest.atMs, latest.receivedMs, latest.eventId, plain(latest.value)];
}

/** What a row of a type says beside the number of its events. */
function valueColumns({ meter, cell }: UsageDelta): readonly unknown[] {
  const { type } = meter.aggregation;
  const numbers = [
    cell.unreadableCount,
    plain(cell.valueSum),
    plain(cell.valueTimeSum),
    plain(cell.valueMax),
  ];
  if (type !== 'LATEST' && type !== 'COUNT_UNIQUE') return numbers;
  // Sorted, so that the bytes do not depend on the order in which texts appeared.
  return [...numbers, latestColumn(cell.latest), [...cell.uniques].sort()];
}

/**
 * A row ends after the last column that its type needs; the table fills in what does not come.
 * Most meters count, and a row of theirs is half as long.
 */
function deltaRow(delta: UsageDelta): readonly unknown[] {
  const { meter, customerKey, minuteMs, source, groupKey, cell } = delta;
  const row = [
    meter.environment.tenantId,
    meter.environment.environmentId,
    customerKey,
    meter.meterId,
    meter.generation,
    minuteMs / 1000,
    source,
    groupKey,
    cell.eventCount,
  ];
  return meter.aggregation.type === 'COUNT' ? row : [...row, ...valueColumns(delta)];
}

/** Lines of usage rows, as the insert of the usage table reads them. */
export function encodeDeltas(deltas: readonly UsageDelta[]): EncodedRows {
  return encodeLines(deltas, deltaRow);
}

/** How many events were decoded; see clickhouse/migrations/0001_usage.sql. */
function acceptedRow(accepted: AcceptedCount, marker: BatchMarker): readonly unknown[] {
  const { environment, hourMs, eventCount } = accepted;
  const { tenantId, environmentId } = environment;
  const { source, groupKey } = marker;
  return [tenantId, environmentId, '', '#accepted', 0, hourMs / 1000, source, groupKey, eventCount];
}

function encodeUsage(range: BatchRange, batch: FoldedBatch): EncodedRows {
  const marker = markerOf(range);
  const markerRow = ['', '', '', '#batch', 0, 0, marker.source, marker.groupKey, 1];
  const deltas = encodeDeltas(batch.deltas);
  const accepted = encodeLines(batch.accepted, (count) => acceptedRow(count, marker));
  const rows = deltas.rows + accepted.rows + 1;
  return { rows, text: `${deltas.text}${accepted.text}${JSON.stringify(markerRow)}\n` };
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
 * Texts whose hash, one after the other, is the digest of an intent: equal digests mean that a
 * replay writes the same rows. In parts, since together they are as large as the batch.
 */
export function digestTexts(encoded: EncodedBatch): readonly string[] {
  return BATCH_TABLES.flatMap((table) => [
    `${table}:${encoded[table].rows}\n`,
    encoded[table].text,
  ]);
}
