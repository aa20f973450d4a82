import { FOLD_VERSION } from '../fold/fold-version.js';
import { checkInspection } from './check-inspection.js';
import type { OutcomeIn } from './expected-outcomes.js';
import type { Checkpoint, StateIn, Step } from './state.js';
import { fetchNext, FIRST_STEP, halt, LOST } from './steps.js';

// From the take until no insert of an older epoch can start or is still running, and the stores
// are known to agree with the checkpoint. ClickHouse is read only after the drain.

export function onTaking(outcome: OutcomeIn<'taking'>): Step {
  switch (outcome.kind) {
    case 'taken': {
      const { checkpoint } = outcome;
      const command = { kind: 'raise_gate', epoch: checkpoint.epoch } as const;
      return { state: { phase: 'gating', checkpoint }, command };
    }
    case 'fenced':
      return LOST;
    case 'unknown':
      return FIRST_STEP;
  }
}

export function onGating(state: StateIn<'gating'>, outcome: OutcomeIn<'gating'>): Step {
  const { checkpoint } = state;
  switch (outcome.kind) {
    case 'gate_raised': {
      if (outcome.highestEpoch > checkpoint.epoch) return LOST;
      const command = { kind: 'drain', epoch: checkpoint.epoch } as const;
      return { state: { phase: 'draining', checkpoint }, command };
    }
    case 'unknown':
      return FIRST_STEP;
  }
}

export function onDraining(state: StateIn<'draining'>, outcome: OutcomeIn<'draining'>): Step {
  const { checkpoint } = state;
  switch (outcome.kind) {
    case 'drained':
      return {
        state: { phase: 'inspecting', checkpoint },
        command: { kind: 'inspect', checkpoint },
      };
    case 'unknown':
      return FIRST_STEP;
  }
}

export function onInspecting(state: StateIn<'inspecting'>, outcome: OutcomeIn<'inspecting'>): Step {
  const { checkpoint } = state;
  switch (outcome.kind) {
    case 'inspected': {
      const contradiction = checkInspection(checkpoint, outcome.inspection);
      if (contradiction !== null) return halt(checkpoint, contradiction);
      const command = { kind: 'warm_filter', below: checkpoint.nextOffset } as const;
      return { state: { phase: 'warming', checkpoint }, command };
    }
    case 'unknown':
      return FIRST_STEP;
  }
}

function begin(checkpoint: Checkpoint): Step {
  const intent = checkpoint.intent;
  if (intent === null) return fetchNext(checkpoint);
  // This release may not even know what the records of a later one say. Those of an earlier one it
  // knows; whether its fold gives the same rows is told by the digest.
  if (intent.foldVersion > FOLD_VERSION) return halt(checkpoint, 'unknown_fold_version');
  return {
    state: { phase: 'refetching', checkpoint, intent },
    command: { kind: 'refetch', from: checkpoint.nextOffset, intent },
  };
}

export function onWarming(state: StateIn<'warming'>, outcome: OutcomeIn<'warming'>): Step {
  switch (outcome.kind) {
    case 'filter_warm':
      return begin(state.checkpoint);
    case 'unknown':
      return FIRST_STEP;
  }
}

export function onConfirmingHalt(
  state: StateIn<'confirming_halt'>,
  outcome: OutcomeIn<'confirming_halt'>,
): Step {
  const { checkpoint, reason } = state;
  switch (outcome.kind) {
    case 'reread':
      if (outcome.checkpoint.epoch !== checkpoint.epoch) return LOST;
      // Events were erased between the take and the inspection: it asks for fewer now.
      if (outcome.checkpoint.lastBatch?.erased !== checkpoint.lastBatch?.erased) return FIRST_STEP;
      return { state: { phase: 'halted', reason }, command: { kind: 'halt', reason } };
    case 'unknown':
      return FIRST_STEP;
  }
}
