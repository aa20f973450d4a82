import { BATCH_TABLES, type BatchTable } from '../fold/batch-tables.js';
import type { Batch, HaltReason, Presence } from './state.js';

/** An insert is one block, so a table holds all rows of a batch or none of them. */
function isPresent(found: number, expected: number): boolean | HaltReason {
  if (found === expected) return true;
  if (found === 0) return false;
  return found > expected ? 'batch_applied_twice' : 'batch_half_applied';
}

/**
 * The tables in which the batch is missing, in the order of writing; or why the partition must
 * halt. Duplicates and dead letters are always written again: their key is their place in the log,
 * so a second insert changes nothing.
 */
export function tablesToInsert(
  batch: Batch,
  presence: Presence,
): readonly BatchTable[] | HaltReason {
  const found: Readonly<Record<BatchTable, boolean | HaltReason>> = {
    events: isPresent(presence.events, batch.encoded.events.rows),
    ids: isPresent(presence.ids, batch.encoded.ids.rows),
    usage: isPresent(presence.marker, 1),
    duplicates: false,
    deadLetters: false,
  };
  const contradiction = Object.values(found).find((answer) => typeof answer === 'string');
  if (typeof contradiction === 'string') return contradiction;
  return BATCH_TABLES.filter((table) => found[table] === false && batch.encoded[table].rows > 0);
}
