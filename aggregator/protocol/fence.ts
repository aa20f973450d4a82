import { FOLD_VERSION } from '../fold/fold-version.js';
import { checkInspection } from './check-inspection.js';
import type { AnswerIn } from './expected-outcomes.js';
import type { StateIn, Step } from './state.js';
import { fetchNext, FIRST_STEP, halt, LOST } from './steps.js';

// From the take until no insert of an older epoch can start or is still running, and the stores
// are known to agree with the checkpoint. ClickHouse is read only after the drain.

export function onTaking(_state: StateIn<'taking'>, outcome: AnswerIn<'taking'>): Step {
  if (outcome.kind === 'fenced') return LOST;
  const { checkpoint } = outcome;
  const command = { kind: 'raise_gate', epoch: checkpoint.epoch } as const;
  return { state: { phase: 'gating', checkpoint }, command };
}

export function onGating(
  { checkpoint }: StateIn<'gating'>,
  { highestEpoch }: AnswerIn<'gating'>,
): Step {
  if (highestEpoch > checkpoint.epoch) return LOST;
  const command = { kind: 'drain', epoch: checkpoint.epoch } as const;
  return { state: { phase: 'draining', checkpoint }, command };
}

export function onDraining({ checkpoint }: StateIn<'draining'>): Step {
  return { state: { phase: 'inspecting', checkpoint }, command: { kind: 'inspect', checkpoint } };
}

export function onInspecting(
  { checkpoint }: StateIn<'inspecting'>,
  { inspection }: AnswerIn<'inspecting'>,
): Step {
  const contradiction = checkInspection(checkpoint, inspection);
  if (contradiction !== null) return halt(checkpoint, contradiction);
  const command = { kind: 'warm_filter', below: checkpoint.nextOffset } as const;
  return { state: { phase: 'warming', checkpoint }, command };
}

export function onWarming({ checkpoint }: StateIn<'warming'>): Step {
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

export function onConfirmingHalt(
  { checkpoint, reason }: StateIn<'confirming_halt'>,
  { checkpoint: row }: AnswerIn<'confirming_halt'>,
): Step {
  if (row.epoch !== checkpoint.epoch) return LOST;
  // Events were erased between the take and the inspection: it asks for fewer now.
  if (row.lastBatch?.erased !== checkpoint.lastBatch?.erased) return FIRST_STEP;
  return { state: { phase: 'halted', reason }, command: { kind: 'halt', reason } };
}
