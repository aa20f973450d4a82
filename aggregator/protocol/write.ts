import { BATCH_TABLES, INSERT_STAGES, type BatchTable } from '../fold/batch-tables.js';
import { FOLD_VERSION } from '../fold/fold-version.js';
import type { OutcomeIn } from './expected-outcomes.js';
import { completeBatch } from './build-batch.js';
import type {
  Batch,
  Checkpoint,
  Intent,
  MachineSettings,
  PreparedBatch,
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
  settings: MachineSettings,
  state: StateIn<'intending'>,
  outcome: OutcomeIn<'intending'>,
): Step {
  switch (outcome.kind) {
    case 'written':
      return writeIntended(settings, state.checkpoint, state.prepared);
    case 'refused':
      return resumeIntent(settings, state, outcome.checkpoint);
    case 'unknown':
      // The row tells whether it was written, so that the partition need not be taken again.
      return { state: { ...state, phase: 'rereading_intent' }, command: { kind: 'reread' } };
  }
}

export function onRereadingIntent(
  settings: MachineSettings,
  state: StateIn<'rereading_intent'>,
  outcome: OutcomeIn<'rereading_intent'>,
): Step {
  switch (outcome.kind) {
    case 'reread':
      return resumeIntent(settings, state, outcome.checkpoint);
    case 'unknown':
      return FIRST_STEP;
  }
}

export function onInserting(state: StateIn<'inserting'>, outcome: OutcomeIn<'inserting'>): Step {
  const { checkpoint, batch, remaining } = state;
  switch (outcome.kind) {
    case 'inserted': {
      const written = nextTables(remaining);
      const left = remaining.filter((table) => !written.includes(table));
      return insertNext(checkpoint, batch, left);
    }
    case 'not_written': {
      const refused = outcome.tables;
      const written = nextTables(remaining).filter((table) => !refused.includes(table));
      const left = remaining.filter((table) => !written.includes(table));
      // Nothing of it can take effect any more, so that it may be sent again under this epoch.
      return insertNext(checkpoint, batch, left);
    }
    case 'fenced':
      return LOST;
    case 'unknown':
      // It may still take effect: an insert is sent once per epoch.
      return FIRST_STEP;
  }
}

export function onFinishing(state: StateIn<'finishing'>, outcome: OutcomeIn<'finishing'>): Step {
  const { checkpoint, batch } = state;
  switch (outcome.kind) {
    case 'written':
      return remember(checkpoint, batch);
    case 'refused':
      return resumeFinish(checkpoint, batch, outcome.checkpoint);
    case 'unknown':
      // As for the intent: the row tells.
      return {
        state: { phase: 'rereading_finish', checkpoint, batch },
        command: { kind: 'reread' },
      };
  }
}

export function onRereadingFinish(
  { checkpoint, batch }: StateIn<'rereading_finish'>,
  outcome: OutcomeIn<'rereading_finish'>,
): Step {
  switch (outcome.kind) {
    case 'reread':
      return resumeFinish(checkpoint, batch, outcome.checkpoint);
    case 'unknown':
      return FIRST_STEP;
  }
}

export function onRemembering(
  state: StateIn<'remembering'>,
  outcome: OutcomeIn<'remembering'>,
): Step {
  switch (outcome.kind) {
    case 'remembered':
      return fetchNext(state.checkpoint);
    case 'unknown':
      return FIRST_STEP;
  }
}
