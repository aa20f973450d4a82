import { BATCH_TABLES, INSERT_STAGES, type BatchTable } from '../fold/batch-tables.js';
import { FOLD_VERSION } from '../fold/fold-version.js';
import type { AnswerIn } from './expected-outcomes.js';
import { completeBatch } from './build-batch.js';
import type {
  Batch,
  Checkpoint,
  Intent,
  MachineSettings,
  PreparedBatch,
  State,
  StateIn,
  Step,
} from './state.js';
import { catalogVersionMinOf, fetchNext, FIRST_STEP, halt, LOST } from './steps.js';

// From the intent to the finish.

function intentOf({ draft, digest }: PreparedBatch): Intent {
  const { end, catalog } = draft;
  return { end, catalogVersion: catalog.version, foldVersion: FOLD_VERSION, digest };
}

/**
 * Intends a batch. A standing intent is replaced: it has the same range and catalog, and no part of
 * its batch exists.
 */
export function intend(
  checkpoint: Checkpoint,
  prepared: PreparedBatch,
  { wasRefused }: { readonly wasRefused: boolean },
): Step {
  const { epoch, nextOffset: start } = checkpoint;
  const isReplacement = checkpoint.intent !== null;
  return {
    state: { phase: 'intending', checkpoint, prepared, wasRefused },
    command: { kind: 'intend', epoch, start, intent: intentOf(prepared), isReplacement },
  };
}

function finish(checkpoint: Checkpoint, batch: Batch): Step {
  const { range, appendedAtMs } = batch;
  const { start, end } = range;
  const rows = batch.summary.idHashes.length;
  return {
    state: { phase: 'finishing', checkpoint, batch },
    command: { kind: 'finish', epoch: checkpoint.epoch, start, end, rows, appendedAtMs },
  };
}

/** The next of these tables to be written side by side; none when there are no more. */
function nextTables(remaining: readonly BatchTable[]): readonly BatchTable[] {
  const stages = INSERT_STAGES.map((stage) => stage.filter((table) => remaining.includes(table)));
  return stages.find((tables) => tables.length > 0) ?? [];
}

export function insertNext(
  checkpoint: Checkpoint,
  batch: Batch,
  remaining: readonly BatchTable[],
): Step {
  const tables = nextTables(remaining);
  if (tables.length === 0) return finish(checkpoint, batch);
  return {
    state: { phase: 'inserting', checkpoint, batch, remaining },
    command: { kind: 'insert', epoch: checkpoint.epoch, batch, tables },
  };
}

export function insertAll(checkpoint: Checkpoint, batch: Batch): Step {
  const remaining = BATCH_TABLES.filter((table) => batch.encoded[table].rows > 0);
  return insertNext(checkpoint, batch, remaining);
}

/** Folds the usage of a batch, whose catalog its intent has settled, and writes all of it. */
function writeIntended(
  settings: MachineSettings,
  checkpoint: Checkpoint,
  prepared: PreparedBatch,
): Step {
  const batch = completeBatch(settings, prepared);
  return typeof batch === 'string' ? halt(checkpoint, batch) : insertAll(checkpoint, batch);
}

function remember(checkpoint: Checkpoint, batch: Batch): Step {
  const { range, appendedAtMs } = batch;
  const finished: Checkpoint = {
    ...checkpoint,
    nextOffset: range.end,
    intent: null,
    catalogVersion: batch.catalogVersion,
    lastBatch: { start: range.start, rows: batch.summary.idHashes.length, erased: 0, appendedAtMs },
  };
  return {
    state: { phase: 'remembering', checkpoint: finished, batch },
    command: { kind: 'remember', batch },
  };
}

function loadCatalog(
  checkpoint: Checkpoint,
  prepared: PreparedBatch,
  { wasRefused }: { readonly wasRefused: boolean },
): Step {
  const versionMin = catalogVersionMinOf(checkpoint);
  return {
    state: { phase: 'loading_catalog', checkpoint, prepared },
    command: { kind: 'load_catalog', versionMin, isToBeHeld: wasRefused },
  };
}

/**
 * Goes on from the row as it is now, after our intent was refused or its reply was lost. A row
 * that still stands where this batch starts refused it, because a meter was activated meanwhile.
 */
function resumeIntent(
  settings: MachineSettings,
  state: StateIn<'intending'> | StateIn<'rereading_intent'>,
  row: Checkpoint,
): Step {
  const { checkpoint, prepared } = state;
  if (row.epoch !== checkpoint.epoch) return LOST;
  if (row.nextOffset !== checkpoint.nextOffset) return FIRST_STEP;
  if (row.intent === null) {
    // The catalog of a batch that replaces an intent is settled.
    return checkpoint.intent === null ? loadCatalog(row, prepared, state) : FIRST_STEP;
  }
  const ours = intentOf(prepared);
  const isOurs =
    row.intent.end === ours.end &&
    row.intent.digest === ours.digest &&
    row.intent.catalogVersion === ours.catalogVersion;
  // An intent that is not ours is recovered as a successor would do it: under a new epoch.
  return isOurs ? writeIntended(settings, row, prepared) : FIRST_STEP;
}

function resumeFinish(checkpoint: Checkpoint, batch: Batch, row: Checkpoint): Step {
  if (row.epoch !== checkpoint.epoch) return LOST;
  if (row.nextOffset === batch.range.end && row.intent === null) return remember(row, batch);
  const isStillIntended =
    row.nextOffset === batch.range.start && row.intent?.end === batch.range.end;
  return isStillIntended ? finish(row, batch) : FIRST_STEP;
}

export function onIntending(
  state: StateIn<'intending'>,
  outcome: AnswerIn<'intending'>,
  settings: MachineSettings,
): Step {
  return outcome.kind === 'written'
    ? writeIntended(settings, state.checkpoint, state.prepared)
    : resumeIntent(settings, state, outcome.checkpoint);
}

export function onRereadingIntent(
  state: StateIn<'rereading_intent'>,
  { checkpoint: row }: AnswerIn<'rereading_intent'>,
  settings: MachineSettings,
): Step {
  return resumeIntent(settings, state, row);
}

export function onInserting(
  { checkpoint, batch, remaining }: StateIn<'inserting'>,
  outcome: AnswerIn<'inserting'>,
): Step {
  if (outcome.kind === 'fenced') return LOST;
  // Nothing of a refused table can take effect any more, so that it may be sent again under this
  // epoch.
  const refused = outcome.kind === 'not_written' ? outcome.tables : [];
  const written = nextTables(remaining).filter((table) => !refused.includes(table));
  const left = remaining.filter((table) => !written.includes(table));
  return insertNext(checkpoint, batch, left);
}

export function onFinishing(
  { checkpoint, batch }: StateIn<'finishing'>,
  outcome: AnswerIn<'finishing'>,
): Step {
  if (outcome.kind === 'written') return remember(checkpoint, batch);
  return resumeFinish(checkpoint, batch, outcome.checkpoint);
}

export function onRereadingFinish(
  { checkpoint, batch }: StateIn<'rereading_finish'>,
  { checkpoint: row }: AnswerIn<'rereading_finish'>,
): Step {
  return resumeFinish(checkpoint, batch, row);
}

export function onRemembering({ checkpoint }: StateIn<'remembering'>): Step {
  return fetchNext(checkpoint);
}

/** What follows when nobody knows what came of a command (D-004). */
export function afterUnknown(state: State): Step {
  switch (state.phase) {
    // The row tells whether it was written, so that the partition need not be taken again.
    case 'intending':
      return { state: { ...state, phase: 'rereading_intent' }, command: { kind: 'reread' } };
    case 'finishing':
      return { state: { ...state, phase: 'rereading_finish' }, command: { kind: 'reread' } };
    case 'inserting':
      // It may still take effect: an insert is sent once per epoch.
      return FIRST_STEP;
    default:
      return FIRST_STEP;
  }
}
