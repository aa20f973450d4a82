import { nextStep } from '../../../aggregator/protocol/machine.js';
import { completeBatch, prepareBatch } from '../../../aggregator/protocol/build-batch.js';
import { halt } from '../../../aggregator/protocol/steps.js';
import { insertAll, insertNext, intend } from '../../../aggregator/protocol/write.js';
import type { Outcome, State, Step, MachineSettings } from '../../../aggregator/protocol/state.js';
import type { MachineMutation, Mutation } from './mutations.js';

export type Machine = (settings: MachineSettings, state: State, outcome: Outcome) => Step;

/** Skips the current insert, as if it had succeeded. */
function skipInsert(settings: MachineSettings, step: Step): Step {
  return nextStep(settings, step.state, { kind: 'inserted' });
}

const retryInEpoch: Machine = (settings, state, outcome) => {
  if (state.phase !== 'inserting' || outcome.kind !== 'unknown') {
    return nextStep(settings, state, outcome);
  }
  return insertNext(state.checkpoint, state.batch, state.remaining);
};

/** After a refused insert sends those beside it again, which were written. */
const refusedStageSentWhole: Machine = (settings, state, outcome) => {
  if (state.phase !== 'inserting' || outcome.kind !== 'not_written') {
    return nextStep(settings, state, outcome);
  }
  return insertNext(state.checkpoint, state.batch, state.remaining);
};

/** Leaves out the last of the inserts of a batch. */
const finishBeforeLastInsert: Machine = (settings, state, outcome) => {
  const step = nextStep(settings, state, outcome);
  if (step.state.phase !== 'inserting' || step.command.kind !== 'insert') return step;
  const { remaining } = step.state;
  const tables = step.command.tables.slice(0, -1);
  if (step.command.tables.length < remaining.length) return step;
  if (tables.length === 0) return skipInsert(settings, step);
  return { state: { ...step.state, remaining: tables }, command: { ...step.command, tables } };
};

/** Writes all tables side by side, usage beside the events. */
const oneStage: Machine = (settings, state, outcome) => {
  if (state.phase === 'inserting' && outcome.kind === 'inserted') {
    const remaining = state.remaining.slice(0, 1);
    return nextStep(settings, { ...state, remaining }, outcome);
  }
  const step = nextStep(settings, state, outcome);
  if (step.state.phase !== 'inserting' || step.command.kind !== 'insert') return step;
  const { state: inserting, command } = step;
  return { state: inserting, command: { ...command, tables: inserting.remaining } };
};

/** Finishes a batch that was only intended, and inserts it afterwards. */
const commitFirst: Machine = (settings, state, outcome) => {
  if (state.phase === 'intending' && outcome.kind === 'written') {
    const { checkpoint, prepared } = state;
    const { epoch } = checkpoint;
    const batch = completeBatch(settings, prepared);
    if (typeof batch === 'string') return halt(checkpoint, batch);
    const { range, appendedAtMs } = batch;
    const { start, end } = range;
    const rows = batch.summary.idHashes.length;
    return {
      state: { phase: 'finishing', checkpoint, batch },
      command: { kind: 'finish', epoch, start, end, rows, appendedAtMs },
    };
  }
  if (state.phase === 'finishing' && outcome.kind === 'written') {
    return insertAll(state.checkpoint, state.batch);
  }
  const step = nextStep(settings, state, outcome);
  if (state.phase !== 'inserting' || step.state.phase !== 'finishing') return step;
  return nextStep(settings, step.state, { kind: 'written' });
};

const replaceUnchecked: Machine = (settings, state, outcome) => {
  const isOther =
    state.phase === 'checking_presence' && state.prepared.digest !== state.intent.digest;
  if (!isOther || outcome.kind !== 'presence') return nextStep(settings, state, outcome);
  const presence = { events: 0, ids: 0, marker: 0 };
  return nextStep(settings, state, { kind: 'presence', presence });
};

const acceptShortRefetch: Machine = (settings, state, outcome) => {
  if (state.phase !== 'refetching' || outcome.kind !== 'fetched') {
    return nextStep(settings, state, outcome);
  }
  const last = { offset: state.intent.end - 1, appendedAtMs: 0, candidates: [], deadLetter: null };
  const isShort = outcome.records.at(-1)?.offset !== last.offset;
  const records = isShort ? [...outcome.records, last] : outcome.records;
  return nextStep(settings, state, { ...outcome, records });
};

/** Treats a lost reply to its intent as a success. */
const assumeIntended: Machine = (settings, state, outcome) => {
  const isAssumed = state.phase === 'intending' && outcome.kind === 'unknown';
  return nextStep(settings, state, isAssumed ? { kind: 'written' } : outcome);
};

const skipInspection: Machine = (settings, state, outcome) => {
  if (state.phase !== 'inspecting' || outcome.kind !== 'inspected') {
    return nextStep(settings, state, outcome);
  }
  const { checkpoint } = state;
  const command = { kind: 'warm_filter', below: checkpoint.nextOffset } as const;
  return { state: { phase: 'warming', checkpoint }, command };
};

/** Intends a refused batch again with the newer catalog, but with the rows of the older one. */
const refusedRowsKept: Machine = (settings, state, outcome) => {
  if (state.phase !== 'loading_catalog' || outcome.kind !== 'catalog_loaded') {
    return nextStep(settings, state, outcome);
  }
  const { meters } = state.prepared.draft.catalog;
  return nextStep(settings, state, { ...outcome, catalog: { ...outcome.catalog, meters } });
};

/** Prepares a refused batch again as if none of its ids were known. */
const refoldWithoutKnownIds: Machine = (settings, state, outcome) => {
  if (state.phase !== 'loading_catalog' || outcome.kind !== 'catalog_loaded') {
    return nextStep(settings, state, outcome);
  }
  const { checkpoint } = state;
  const draft = { ...state.prepared.draft, catalog: outcome.catalog };
  const again = prepareBatch(settings, checkpoint.nextOffset, { draft, seen: new Map() });
  return intend(checkpoint, again, { wasRefused: true });
};

/** Halts although events were erased since it took the partition. */
const haltsOnOldRow: Machine = (settings, state, outcome) => {
  if (state.phase !== 'confirming_halt' || outcome.kind !== 'reread') {
    return nextStep(settings, state, outcome);
  }
  const { lastBatch } = state.checkpoint;
  const checkpoint = { ...outcome.checkpoint, lastBatch };
  return nextStep(settings, state, { ...outcome, checkpoint });
};

const MUTANTS: Readonly<Record<MachineMutation, Machine>> = {
  retry_in_epoch: retryInEpoch,
  refused_stage_sent_whole: refusedStageSentWhole,
  finish_before_last_insert: finishBeforeLastInsert,
  one_stage: oneStage,
  commit_first: commitFirst,
  replace_unchecked: replaceUnchecked,
  accept_short_refetch: acceptShortRefetch,
  assume_intended: assumeIntended,
  skip_inspection: skipInspection,
  refused_rows_kept: refusedRowsKept,
  refold_without_known_ids: refoldWithoutKnownIds,
  halts_on_old_row: haltsOnOldRow,
};

/** The production machine, or a wrapper that breaks one of its rules. */
export function machineOf(mutation: Mutation | null): Machine {
  const mutants: Readonly<Partial<Record<Mutation, Machine>>> = MUTANTS;
  return (mutation === null ? undefined : mutants[mutation]) ?? nextStep;
}
