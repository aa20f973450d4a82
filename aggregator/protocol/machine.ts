import { BATCH_TABLES, type BatchTable } from '../fold/batch-tables.js';
import { FOLD_VERSION } from '../fold/fold-version.js';
import { buildBatch, draftBatch, idHashesOf } from './build-batch.js';
import { checkInspection } from './check-inspection.js';
import {
  type Batch,
  type Checkpoint,
  type HaltReason,
  type Intent,
  type Outcome,
  type State,
  type Step,
  type MachineSettings,
} from './state.js';
import { tablesToInsert } from './tables-to-insert.js';

/**
 * The exactly-once protocol of one partition (docs/architecture.md 3.1) as a pure function: from
 * the state of the owner and the outcome of its last command follow its next state and command. The
 * order is take → gate → drain → inspect → warm filter → [refetch → look up → presence → insert →
 * finish] for an intent that was not finished, then in a loop fetch → look up → intend → insert →
 * finish → remember.
 *
 * Four rules must hold, and for each the model in docs/protocol-model has a scenario that fails
 * without it. ClickHouse is read only after the drain. An insert is sent once per epoch, and after
 * an unknown outcome the partition is taken again. Ids are looked up at offsets below the batch's
 * own start. An intent is replaced only when no part of its batch exists.
 */
export const FIRST_STEP: Step = { state: { phase: 'taking' }, command: { kind: 'take' } };

const LOST: Step = { state: { phase: 'lost' }, command: { kind: 'step_down' } };

/**
 * The stores contradict the checkpoint. The row is read again before the partition halts: an owner
 * that was paused holds an old checkpoint, and what contradicts that may be the progress of its
 * successor.
 */
function halt(checkpoint: Checkpoint, reason: HaltReason): Step {
  return {
    state: { phase: 'confirming_halt', checkpoint, reason },
    command: { kind: 'reread' },
  };
}

function confirmHalt(state: Extract<State, { phase: 'confirming_halt' }>, row: Checkpoint): Step {
  const { checkpoint, reason } = state;
  if (row.epoch !== checkpoint.epoch) return LOST;
  return { state: { phase: 'halted', reason }, command: { kind: 'halt', reason } };
}

function fetchNext(checkpoint: Checkpoint): Step {
  const catalogVersionMin = Math.max(checkpoint.minVersion, checkpoint.catalogVersion);
  return {
    state: { phase: 'fetching', checkpoint },
    command: { kind: 'fetch', from: checkpoint.nextOffset, catalogVersionMin },
  };
}

function afterWarming(checkpoint: Checkpoint): Step {
  const intent = checkpoint.intent;
  if (intent === null) return fetchNext(checkpoint);
  // Another fold would give other rows than those that may be partly written already.
  if (intent.foldVersion !== FOLD_VERSION) return halt(checkpoint, 'unknown_fold_version');
  return {
    state: { phase: 'refetching', checkpoint, intent },
    command: { kind: 'refetch', from: checkpoint.nextOffset, intent },
  };
}

function intentOf(batch: Batch): Intent {
  const { range, catalogVersion, digest } = batch;
  return { end: range.end, catalogVersion, foldVersion: FOLD_VERSION, digest };
}

function intend(checkpoint: Checkpoint, batch: Batch, isReplacement: boolean): Step {
  const { epoch, nextOffset: start } = checkpoint;
  return {
    state: { phase: 'intending', checkpoint, batch },
    command: { kind: 'intend', epoch, start, intent: intentOf(batch), isReplacement },
  };
}

function finish(checkpoint: Checkpoint, batch: Batch): Step {
  const { start, end } = batch.range;
  const rows = batch.summary.idHashes.length;
  return {
    state: { phase: 'finishing', checkpoint, batch },
    command: { kind: 'finish', epoch: checkpoint.epoch, start, end, rows },
  };
}

function insertNext(checkpoint: Checkpoint, batch: Batch, remaining: readonly BatchTable[]): Step {
  const table = remaining[0];
  if (table === undefined) return finish(checkpoint, batch);
  const { epoch } = checkpoint;
  const { range } = batch;
  const { text } = batch.encoded[table];
  return {
    state: { phase: 'inserting', checkpoint, batch, remaining },
    command: { kind: 'insert', epoch, range, table, text },
  };
}

function insertAll(checkpoint: Checkpoint, batch: Batch): Step {
  const remaining = BATCH_TABLES.filter((table) => batch.encoded[table].rows > 0);
  return insertNext(checkpoint, batch, remaining);
}

function remember(checkpoint: Checkpoint, batch: Batch): Step {
  const finished: Checkpoint = {
    ...checkpoint,
    nextOffset: batch.range.end,
    intent: null,
    catalogVersion: batch.catalogVersion,
    lastBatch: { start: batch.range.start, rows: batch.summary.idHashes.length },
  };
  return {
    state: { phase: 'remembering', checkpoint: finished, batch },
    command: { kind: 'remember', batch },
  };
}

/** Goes on from the row as it is now, after our intent was refused or its reply was lost. */
function resumeIntent(checkpoint: Checkpoint, batch: Batch, row: Checkpoint): Step {
  if (row.epoch !== checkpoint.epoch) return LOST;
  if (row.nextOffset !== batch.range.start) return FIRST_STEP;
  if (row.intent === null) return fetchNext(row);
  const ours = intentOf(batch);
  const isOurs =
    row.intent.end === ours.end &&
    row.intent.digest === ours.digest &&
    row.intent.catalogVersion === ours.catalogVersion;
  // An intent that is not ours is recovered as a successor would do it: under a new epoch.
  return isOurs ? insertAll(row, batch) : FIRST_STEP;
}

function resumeFinish(checkpoint: Checkpoint, batch: Batch, row: Checkpoint): Step {
  if (row.epoch !== checkpoint.epoch) return LOST;
  if (row.nextOffset === batch.range.end && row.intent === null) return remember(row, batch);
  const isStillIntended =
    row.nextOffset === batch.range.start && row.intent?.end === batch.range.end;
  return isStillIntended ? finish(row, batch) : FIRST_STEP;
}

/** Inserts what is missing of an intended batch, once it is known which parts of it exist. */
function recover(
  state: Extract<State, { phase: 'checking_presence' }>,
  outcome: Extract<Outcome, { kind: 'presence' }>,
): Step {
  const { checkpoint, intent, batch } = state;
  const { presence } = outcome;
  if (batch.digest !== intent.digest) {
    const isUntouched = presence.events === 0 && presence.ids === 0 && presence.marker === 0;
    return isUntouched ? intend(checkpoint, batch, true) : halt(checkpoint, 'digest_mismatch');
  }
  const tables = tablesToInsert(batch, presence);
  return typeof tables === 'string'
    ? halt(checkpoint, tables)
    : insertNext(checkpoint, batch, tables);
}

function lookUp(
  settings: MachineSettings,
  state: Extract<State, { phase: 'fetching' | 'refetching' }>,
  outcome: Extract<Outcome, { kind: 'fetched' }>,
): Step {
  const { checkpoint } = state;
  const intent = state.phase === 'refetching' ? state.intent : null;
  const { records, catalog } = outcome;
  const draft =
    state.phase === 'fetching'
      ? draftBatch(records, catalog, settings)
      : { records, catalog, end: state.intent.end };
  if (draft === null) return fetchNext(checkpoint);
  // Fewer records than intended must not become a shorter batch: the missing events would be lost.
  if (intent !== null && draft.records.at(-1)?.offset !== intent.end - 1) return FIRST_STEP;
  return {
    state: { phase: 'looking_up', checkpoint, intent, draft },
    // Only below the batch: rows that an earlier attempt wrote of it are not earlier events.
    command: { kind: 'look_up', idHashes: idHashesOf(draft), below: checkpoint.nextOffset },
  };
}

function fold(
  settings: MachineSettings,
  state: Extract<State, { phase: 'looking_up' }>,
  outcome: Extract<Outcome, { kind: 'looked_up' }>,
): Step {
  const { checkpoint, intent, draft } = state;
  const facts = { draft, seen: outcome.seen };
  const batch = buildBatch(settings, checkpoint.nextOffset, facts);
  if (intent === null) return intend(checkpoint, batch, false);
  return {
    state: { phase: 'checking_presence', checkpoint, intent, batch },
    command: { kind: 'check_presence', range: batch.range },
  };
}

/** From taking the partition until no insert of an older epoch can start or is still running. */
function fence(state: State, outcome: Outcome): Step | null {
  if (state.phase === 'taking' && outcome.kind === 'taken') {
    const { checkpoint } = outcome;
    const command = { kind: 'raise_gate', epoch: checkpoint.epoch } as const;
    return { state: { phase: 'gating', checkpoint }, command };
  }
  if (state.phase === 'gating' && outcome.kind === 'gate_raised') {
    const { checkpoint } = state;
    if (outcome.highestEpoch > checkpoint.epoch) return LOST;
    const command = { kind: 'drain', epoch: checkpoint.epoch } as const;
    return { state: { phase: 'draining', checkpoint }, command };
  }
  return null;
}

/** Reads ClickHouse, after the drain: first whether the stores agree, then the known ids. */
function inspect(state: State, outcome: Outcome): Step | null {
  if (state.phase === 'draining' && outcome.kind === 'drained') {
    const { checkpoint } = state;
    return { state: { phase: 'inspecting', checkpoint }, command: { kind: 'inspect', checkpoint } };
  }
  if (state.phase === 'inspecting' && outcome.kind === 'inspected') {
    const { checkpoint } = state;
    const contradiction = checkInspection(checkpoint, outcome.inspection);
    if (contradiction !== null) return halt(checkpoint, contradiction);
    const command = { kind: 'warm_filter', below: checkpoint.nextOffset } as const;
    return { state: { phase: 'warming', checkpoint }, command };
  }
  if (state.phase === 'warming' && outcome.kind === 'filter_warm') {
    return afterWarming(state.checkpoint);
  }
  return null;
}

/** From reading the records of a batch until it is known what must be written. */
function prepare(settings: MachineSettings, state: State, outcome: Outcome): Step | null {
  if (state.phase === 'fetching' || state.phase === 'refetching') {
    if (outcome.kind === 'fetched') return lookUp(settings, state, outcome);
    const isPassed = outcome.kind === 'log_start_passed';
    return isPassed ? halt(state.checkpoint, 'log_start_beyond_checkpoint') : null;
  }
  if (state.phase === 'looking_up' && outcome.kind === 'looked_up') {
    return fold(settings, state, outcome);
  }
  if (state.phase === 'checking_presence' && outcome.kind === 'presence') {
    return recover(state, outcome);
  }
  return null;
}

function onIntending(state: Extract<State, { phase: 'intending' }>, outcome: Outcome): Step | null {
  const { checkpoint, batch } = state;
  if (outcome.kind === 'written') return insertAll(checkpoint, batch);
  if (outcome.kind === 'refused') return resumeIntent(checkpoint, batch, outcome.checkpoint);
  if (outcome.kind !== 'unknown') return null;
  return { state: { phase: 'rereading_intent', checkpoint, batch }, command: { kind: 'reread' } };
}

function onFinishing(state: Extract<State, { phase: 'finishing' }>, outcome: Outcome): Step | null {
  const { checkpoint, batch } = state;
  if (outcome.kind === 'written') return remember(checkpoint, batch);
  if (outcome.kind === 'refused') return resumeFinish(checkpoint, batch, outcome.checkpoint);
  if (outcome.kind !== 'unknown') return null;
  return { state: { phase: 'rereading_finish', checkpoint, batch }, command: { kind: 'reread' } };
}

/** Goes on after the checkpoint was read again. */
function onReread(state: State, outcome: Outcome): Step | null {
  if (outcome.kind !== 'reread') return null;
  if (state.phase === 'confirming_halt') return confirmHalt(state, outcome.checkpoint);
  if (state.phase === 'rereading_intent') {
    return resumeIntent(state.checkpoint, state.batch, outcome.checkpoint);
  }
  if (state.phase === 'rereading_finish') {
    return resumeFinish(state.checkpoint, state.batch, outcome.checkpoint);
  }
  return null;
}

/** From the intent to the finish. */
function write(state: State, outcome: Outcome): Step | null {
  if (state.phase === 'intending') return onIntending(state, outcome);
  if (state.phase === 'finishing') return onFinishing(state, outcome);
  if (state.phase === 'inserting' && outcome.kind === 'inserted') {
    return insertNext(state.checkpoint, state.batch, state.remaining.slice(1));
  }
  if (state.phase === 'remembering' && outcome.kind === 'remembered') {
    return fetchNext(state.checkpoint);
  }
  return onReread(state, outcome);
}

/**
 * The next step. An outcome that the state does not expect, such as the unknown outcome of an
 * outage, leads back to taking the partition: the new epoch fences what may still be running, and
 * recovery asks the tables what was written.
 */
export function nextStep(settings: MachineSettings, state: State, outcome: Outcome): Step {
  if (state.phase === 'halted' || state.phase === 'lost') return { ...LOST, state };
  if (outcome.kind === 'fenced') return LOST;
  return (
    fence(state, outcome) ??
    inspect(state, outcome) ??
    prepare(settings, state, outcome) ??
    write(state, outcome) ??
    FIRST_STEP
  );
}
