import type { InstantMs } from '../../contract/instant.js';
import type { Checkpoint, FinishedBatch, HaltReason, Inspection, Outcome } from './state.js';

/** An idle partition keeps its last batch for ever, and the raw events of the batch may expire. */
function mayHaveExpired({ appendedAtMs }: FinishedBatch, beginMs: InstantMs | null): boolean {
  return beginMs !== null && (appendedAtMs === null || appendedAtMs < beginMs);
}

function isLastBatchComplete(checkpoint: Checkpoint, inspection: Inspection): boolean {
  const { lastBatch } = checkpoint;
  if (lastBatch === null) return true;
  const { rows, erased } = lastBatch;
  const found = inspection.lastBatch;
  // Missing ids are as bad as missing events: their duplicates to come would be counted.
  if (found === null || found.ids !== rows || found.marker !== 1) return false;
  // Erased events are noted before they go, so any number of them may still be there.
  const rowsMin = mayHaveExpired(lastBatch, inspection.rawEventsBeginMs) ? 0 : rows - erased;
  return found.events <= rows && found.events >= rowsMin;
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
