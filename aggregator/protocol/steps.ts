import type { Checkpoint, HaltReason, Step } from './state.js';

/**
 * Takes the partition. This step also follows every outcome that is not certain: the new epoch
 * fences what may still be running, and recovery asks the tables what was written (D-004).
 */
export const FIRST_STEP: Step = { state: { phase: 'taking' }, command: { kind: 'take' } };

export const LOST: Step = { state: { phase: 'lost' }, command: { kind: 'step_down' } };

/**
 * The stores contradict the checkpoint. The row is read again before the partition halts: an owner
 * that was paused holds an old checkpoint, and what contradicts that may be the progress of its
 * successor.
 */
export function halt(checkpoint: Checkpoint, reason: HaltReason): Step {
  return {
    state: { phase: 'confirming_halt', checkpoint, reason },
    command: { kind: 'reread' },
  };
}

/** The oldest catalog that the next intent may use. */
export function catalogVersionMinOf(checkpoint: Checkpoint): number {
  return Math.max(checkpoint.minVersion, checkpoint.catalogVersion);
}

/** Reads the records of the next batch. */
export function fetchNext(checkpoint: Checkpoint): Step {
  const catalogVersionMin = catalogVersionMinOf(checkpoint);
  return {
    state: { phase: 'fetching', checkpoint },
    command: { kind: 'fetch', from: checkpoint.nextOffset, catalogVersionMin },
  };
}
