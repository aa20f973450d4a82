import { DAY_MS } from '../../contract/instant.js';
import type { DecodedRecord } from './candidate.js';

/**
 * How many of the records, from the first on, form one batch: at most `eventsMax` events (one
 * record always fits) and never two days of append time, so that every insert is one block in one
 * partition of its table, which is written as a whole or not at all.
 */
export function batchLength(records: readonly DecodedRecord[], eventsMax: number): number {
  const first = records[0];
  if (first === undefined) return 0;
  const day = Math.floor(first.appendedAtMs / DAY_MS);
  let events = 0;
  let length = 0;
  for (const record of records) {
    events += Math.max(1, record.candidates.length);
    const isNextDay = Math.floor(record.appendedAtMs / DAY_MS) !== day;
    if (length > 0 && (events > eventsMax || isNextDay)) break;
    length += 1;
  }
  return length;
}
