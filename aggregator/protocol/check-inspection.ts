import type { Checkpoint, HaltReason, Inspection, Outcome } from './state.js';

function isLastBatchComplete(checkpoint: Checkpoint, inspection: Inspection): boolean {
  if (checkpoint.lastBatch === null) return true;
  const { rows, erased } = checkpoint.lastBatch;
  const found = inspection.lastBatch;
  if (found === null) return false;
  // Erased events are noted before they go, so any number of them may still be there.
  const hasEvents = found.events <= rows && found.events >= rows - erased;
  // Missing ids are as bad as missing events: their duplicates to come would be counted.
  return hasEvents && found.ids === rows && found.marker === 1;
}

/**
 * Why log and ClickHouse contradict the checkpoint; null when they agree. A contradiction means
 * that a store was restored from a backup or that the log was recreated. Going on would lose events
 * or count them twice.
 */
export function checkInspection(checkpoint: Checkpoint, inspection: Inspection): HaltReason | null {
  if (inspection.rowsBeyond > 0) return 'rows_beyond_checkpoint';
  if (!isLastBatchComplete(checkpoint, inspection)) return 'last_batch_missing';
  const needed = checkpoint.intent?.end ?? checkpoint.nextOffset;
  if (inspection.logEnd < needed) return 'log_shorter_than_checkpoint';
  return inspection.logStart > checkpoint.nextOffset ? 'log_start_beyond_checkpoint' : null;
}

/** Why an offset cannot be read that the log had when the partition was taken. */
export function reasonNotInLog({
  offset,
  logStart,
  logEnd,
}: Extract<Outcome, { kind: 'not_in_log' }>): HaltReason {
  if (offset < logStart) return 'log_start_beyond_checkpoint';
  return offset > logEnd ? 'log_shorter_than_checkpoint' : 'log_record_missing';
}
