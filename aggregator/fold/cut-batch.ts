import { DAY_MS } from '../../contract/instant.js';
import type { DecodedRecord } from './candidate.js';
import type { MeterIndex } from './meter-index.js';
import { createUsageSizer, ONE_ROW } from './usage-size.js';

/** Rows of one table in a batch of several records: half of the rows of one block. */
const BATCH_ROWS_MAX = 500_000;

/**
 * What the expressions of a batch of several records may cost, in microseconds: a second. The
 * batches of other partitions, which are folded on the same thread, come in between.
 */
const BATCH_COST_MAX = 1_000_000;

/** What one batch may hold. A first record always fits. */
export type BatchBounds = {
  readonly eventsMax: number;
  /** Rows that one insert can write at once (clickhouse/client.ts). */
  readonly insertRowsMax: number;
  /** Characters of its usage rows, which are in memory at once. */
  readonly charactersMax: number;
};

/** What nothing that is inserted may exceed, be it one record. */
export type InsertBounds = Pick<BatchBounds, 'insertRowsMax'> & {
  /** Characters that one text of rows can have. */
  readonly insertCharactersMax: number;
};

/**
 * How many of the records, from the first on, form one batch: bounded by events, by the rows of
 * every table and the characters of the longest, by what expressions cost, and by one day of append
 * time. So every insert is one block in one partition of its table, written as a whole or not at
 * all. One record always fits: its events and their texts, and the meters of an event name, are
 * limited (docs/internals/architecture.md 3.4).
 */
export function batchLength(
  records: readonly DecodedRecord[],
  meters: MeterIndex,
  { eventsMax, insertRowsMax, charactersMax }: BatchBounds,
): number {
  const first = records[0];
  if (first === undefined) return 0;
  const day = Math.floor(first.appendedAtMs / DAY_MS);
  const rowsMax = Math.min(BATCH_ROWS_MAX, insertRowsMax);
  const sizeOf = createUsageSizer(meters);
  let events = 0;
  // The marker of the batch.
  let { rows: usageRows, characters, cost } = ONE_ROW;
  let length = 0;
  for (const record of records) {
    events += Math.max(1, record.candidates.length);
    const size = sizeOf(record);
    usageRows += size.rows;
    characters += size.characters;
    cost += size.cost;
    // Every other table has a row for each event or record at most.
    const isTooMany = events > eventsMax || Math.max(events, usageRows) > rowsMax;
    const isFull = isTooMany || cost > BATCH_COST_MAX;
    const isNextDay = Math.floor(record.appendedAtMs / DAY_MS) !== day;
    if (length > 0 && (isFull || characters > charactersMax || isNextDay)) break;
    length += 1;
  }
  return length;
}
