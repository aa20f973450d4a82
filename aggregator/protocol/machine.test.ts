import { describe, expect, it } from 'vitest';
import { FOLD_VERSION } from '../fold/fold-version.js';
import { FIRST_STEP, nextStep } from './machine.js';
import type { Checkpoint, Outcome, Step, MachineSettings } from './state.js';

const settings: MachineSettings = {
  logId: 'log',
  partition: 0,
  eventsMax: 10,
  insertRowsMax: 1_000,
  digestOf: (texts) => texts.join(''),
};
const checkpoint: Checkpoint = {
  epoch: 1,
  nextOffset: 0,
  intent: null,
  minVersion: 1,
  catalogVersion: 1,
  lastBatch: null,
};
const PRESENT = { events: 2, ids: 2, marker: 1 };

/** Where the machine stands after these outcomes, from the take on. */
function after(...outcomes: readonly Outcome[]): Step {
  return outcomes.reduce((step, outcome) => nextStep(settings, step.state, outcome), FIRST_STEP);
}

/** A take whose inspection finds this of the last batch, and rows beyond the checkpoint. */
function inspected(
  row: Checkpoint,
  found: { readonly rowsBeyond: number; readonly lastBatch: typeof PRESENT | null },
): readonly Outcome[] {
  return [
    { kind: 'taken', checkpoint: row },
    { kind: 'gate_raised', highestEpoch: 1 },
    { kind: 'drained' },
    { kind: 'inspected', inspection: { ...found, logStart: 0, logEnd: 9 } },
  ];
}

// All other orders of commands and outcomes are explored by load-tests/proofs/simulation.
describe('the protocol of one partition', () => {
  const contradicted = inspected(checkpoint, { rowsBeyond: 3, lastBatch: null });

  it('halts for a contradiction while it still owns the partition', () => {
    expect(after(...contradicted).command).toEqual({ kind: 'reread' });
    expect(after(...contradicted, { kind: 'reread', checkpoint }).command).toEqual({
      kind: 'halt',
      reason: 'rows_beyond_checkpoint',
    });
  });

  it('steps down when what contradicts it is the progress of its successor', () => {
    const row = { ...checkpoint, epoch: 2, nextOffset: 3 };
    const step = after(...contradicted, { kind: 'reread', checkpoint: row });
    expect(step.command).toEqual({ kind: 'step_down' });
  });

  it.each([
    ['its events', { ...PRESENT, events: 0 }],
    ['its ids', { ...PRESENT, ids: 0 }],
    ['its marker', { ...PRESENT, marker: 0 }],
  ])('does not go on from a last batch that lacks %s', (_, lastBatch) => {
    const row = { ...checkpoint, nextOffset: 2, lastBatch: { start: 0, rows: 2 } };
    const missing = inspected(row, { rowsBeyond: 0, lastBatch });
    expect(after(...missing, { kind: 'reread', checkpoint: row }).command).toEqual({
      kind: 'halt',
      reason: 'last_batch_missing',
    });
    const there = inspected(row, { rowsBeyond: 0, lastBatch: PRESENT });
    expect(after(...there).command).toEqual({ kind: 'warm_filter', below: 2 });
  });
});

describe('a batch that was intended and not finished', () => {
  const intent = { end: 1, catalogVersion: 1, foldVersion: FOLD_VERSION, digest: '' };

  /** The take, up to the filter, of a partition with this intent. */
  function warmed(foldVersion: number): Step {
    const row = { ...checkpoint, intent: { ...intent, foldVersion } };
    const outcomes = inspected(row, { rowsBeyond: 0, lastBatch: null });
    return after(...outcomes, { kind: 'filter_warm' });
  }

  it('is read again when this release knows its fold', () => {
    expect(warmed(FOLD_VERSION).command).toEqual({ kind: 'refetch', from: 0, intent });
  });

  it.each([FOLD_VERSION - 1, FOLD_VERSION + 1])(
    'stops the partition when its fold is version %i',
    (foldVersion) => {
      const step = warmed(foldVersion);
      // Only the owner of the current epoch may halt: the row tells whether that is still us.
      expect(step.command).toEqual({ kind: 'reread' });
      const halted = nextStep(settings, step.state, { kind: 'reread', checkpoint });
      expect(halted.command).toEqual({ kind: 'halt', reason: 'unknown_fold_version' });
    },
  );
});
