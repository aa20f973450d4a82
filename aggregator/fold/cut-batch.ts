import { DAY_MS } from '../../contract/instant.js';
import type { DecodedRecord } from './candidate.js';
import { streamsOfEvent, type MeterIndex } from './meter-index.js';

/**
 * Rows of one table in a batch of several records. Half of the rows of one block, because the texts
 * of a batch are in memory at once: with the longest customers and sources these rows are 380 MB,
 * and a text of JavaScript ends at 512 MB.
 */
const BATCH_ROWS_MAX = 500_000;

/** What one batch may hold. A first record always fits. */
export type BatchBounds = {
  readonly eventsMax: number;
  /** Rows that one insert can write at once (clickhouse/client.ts). */
  readonly insertRowsMax: number;
};

/**
 * Usage rows that a record adds at most: one for each event and each stream of its event name,
 * whatever their filters say, and its count of accepted events.
 */
function usageRowsMax({ candidates }: DecodedRecord, meters: MeterIndex): number {
  let rows = 1;
  for (const { environment, event } of candidates) {
    rows += streamsOfEvent(meters, environment, event.eventName);
  }
  return rows;
}

/**
 * How many of the records, from the first on, form one batch: bounded by events, by the rows of
 * every table, and by one day of append time, so that every insert is one block in one partition of
 * its table, which is written as a whole or not at all. One record always fits: its events and the
 * meters of an event name are limited (docs/architecture.md 3.4).
 */
export function batchLength(
  records: readonly DecodedRecord[],
  meters: MeterIndex,
  { eventsMax, insertRowsMax }: BatchBounds,
): number {
  const first = records[0];
  if (first === undefined) return 0;
  const day = Math.floor(first.appendedAtMs / DAY_MS);
  const rowsMax = Math.min(BATCH_ROWS_MAX, insertRowsMax);
  let events = 0;
  // The marker of the batch.
  let usageRows = 1;
  let length = 0;
  for (const record of records) {
    events += Math.max(1, record.candidates.length);
    usageRows += usageRowsMax(record, meters);
    const isNextDay = Math.floor(record.appendedAtMs / DAY_MS) !== day;
    // Every other table has a row for each event or record at most.
    const rows = Math.max(events, usageRows);
    if (length > 0 && (events > eventsMax || rows > rowsMax || isNextDay)) break;
    length += 1;
  }
  return length;
}
