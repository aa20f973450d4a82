import { BATCH_TABLES, type BatchTable } from '../fold/batch-tables.js';
import type { Batch, Checkpoint, HaltReason, Inspection, Presence } from './state.js';

function isLastBatchThere(checkpoint: Checkpoint, inspection: Inspection): boolean {
  if (checkpoint.lastBatch === null) return true;
  const { rows } = checkpoint.lastBatch;
  const found = inspection.lastBatch;
  // Ids too: without them the duplicates to come would be counted.
  return found !== null && found.events === rows && found.ids === rows && found.marker === 1;
}

/**
 * Whether the stores agree with the checkpoint; a contradiction means that one of them was restored
 * from a backup or that the log was recreated, and going on would lose or double events.
 */
export function judgeInspection(checkpoint: Checkpoint, inspection: Inspection): HaltReason | null {
  if (inspection.rowsBeyond > 0) return 'rows_beyond_checkpoint';
  if (!isLastBatchThere(checkpoint, inspection)) return 'last_batch_missing';
  const needed = checkpoint.pending?.end ?? checkpoint.nextOffset;
  if (inspection.logEnd < needed) return 'log_shorter_than_checkpoint';
  return inspection.logStart > checkpoint.nextOffset ? 'log_start_beyond_checkpoint' : null;
}

/** An insert is one block, so a table holds all rows of the batch or none. */
function isThere(found: number, expected: number): boolean | HaltReason {
  if (found === expected) return true;
  if (found === 0) return false;
  return found > expected ? 'batch_applied_twice' : 'batch_half_applied';
}

/**
 * Tables that lack the batch, in writing order. Duplicates and dead letters are keyed by their
 * place in the log, so that writing them again is harmless.
 */
export function tablesToInsert(
  batch: Batch,
  presence: Presence,
): readonly BatchTable[] | HaltReason {
  const found: Readonly<Record<BatchTable, boolean | HaltReason>> = {
    events: isThere(presence.events, batch.encoded.events.rows),
    ids: isThere(presence.ids, batch.encoded.ids.rows),
    usage: isThere(presence.marker, 1),
    duplicates: false,
    deadLetters: false,
  };
  const contradiction = Object.values(found).find((answer) => typeof answer === 'string');
  if (typeof contradiction === 'string') return contradiction;
  return BATCH_TABLES.filter((table) => found[table] === false && batch.encoded[table].rows > 0);
}
