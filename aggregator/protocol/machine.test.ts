import { describe, expect, it } from 'vitest';
import { COUNT_EVENTS } from '../../contract/aggregation.js';
import { encodeEventRecord } from '../../contract/usage-event.js';
import { AssertionFailed } from '../../runtime/failure.js';
import { decodeRecord } from '../fold/candidate.js';
import { FOLD_VERSION } from '../fold/fold-version.js';
import { indexMeters } from '../fold/meter-index.js';
import { nextStep } from './machine.js';
import { after, checkpoint, EVENT, plainText, settings } from '../testing/protocol-steps.js';
import type { Checkpoint, Outcome, Step } from './state.js';
import { FIRST_STEP } from './steps.js';

const METER = {
  environment: { tenantId: 't', environmentId: 'e' },
  meterId: 'm',
  version: 1,
  eventName: 'request',
  filters: [],
  aggregation: COUNT_EVENTS,
  generation: 1,
};
const PRESENT = { events: 2, ids: 2, marker: 1 };

/** A take whose inspection finds this of the last batch, and rows beyond the checkpoint. */
function inspected(
  row: Checkpoint,
  found: { readonly rowsBeyond: number; readonly lastBatch: typeof PRESENT | null },
): readonly Outcome[] {
  return [
    { kind: 'taken', checkpoint: row },
    { kind: 'gate_raised', highestEpoch: 1 },
    { kind: 'drained' },
    { kind: 'inspected', inspection: { ...found, rawEventsBeginMs: null, logStart: 0, logEnd: 9 } },
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
    const row = {
      ...checkpoint,
      nextOffset: 2,
      lastBatch: { start: 0, rows: 2, erased: 0, appendedAtMs: 7 },
    };
    const missing = inspected(row, { rowsBeyond: 0, lastBatch });
    expect(after(...missing, { kind: 'reread', checkpoint: row }).command).toEqual({
      kind: 'halt',
      reason: 'last_batch_missing',
    });
    const there = inspected(row, { rowsBeyond: 0, lastBatch: PRESENT });
    expect(after(...there).command).toEqual({ kind: 'warm_filter', below: 2 });
  });

  describe('of whose last batch an event was erased', () => {
    const last = { start: 0, rows: 2, erased: 0, appendedAtMs: 7 };
    const before = { ...checkpoint, nextOffset: 2, lastBatch: last };
    const row = { ...before, lastBatch: { ...last, erased: 1 } };
    const found = (events: number, ids = 2): readonly Outcome[] =>
      inspected(row, { rowsBeyond: 0, lastBatch: { ...PRESENT, events, ids } });

    it.each([1, 2])('goes on while %i of its two events are there', (events) => {
      expect(after(...found(events)).command).toEqual({ kind: 'warm_filter', below: 2 });
    });

    it.each([
      ['more events than were erased', found(0)],
      ['an id', found(1, 1)],
    ])('halts when it lacks %s', (_, outcomes) => {
      const step = after(...outcomes, { kind: 'reread', checkpoint: row });
      expect(step.command).toEqual({ kind: 'halt', reason: 'last_batch_missing' });
    });

    it('is taken again by an owner that took it before they were erased', () => {
      const outcomes = inspected(before, {
        rowsBeyond: 0,
        lastBatch: { ...PRESENT, events: 1 },
      });
      expect(after(...outcomes, { kind: 'reread', checkpoint: row })).toEqual(FIRST_STEP);
    });
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

  it.each([FOLD_VERSION, FOLD_VERSION - 1])(
    'is read again when its fold is version %i, this one or one before',
    (foldVersion) => {
      const command = { kind: 'refetch', from: 0, intent: { ...intent, foldVersion } };
      expect(warmed(foldVersion).command).toEqual(command);
    },
  );

  it('stops the partition when its fold is of a later release', () => {
    const step = warmed(FOLD_VERSION + 1);
    // Only the owner of the current epoch may halt: the row tells whether that is still us.
    expect(step.command).toEqual({ kind: 'reread' });
    const halted = nextStep(settings, step.state, { kind: 'reread', checkpoint });
    expect(halted.command).toEqual({ kind: 'halt', reason: 'unknown_fold_version' });
  });
});

describe('the outcome of a command', () => {
  const batch = { start: 0, rows: 2, erased: 0, appendedAtMs: 7 };
  const row = { ...checkpoint, nextOffset: 2, lastBatch: batch };
  const agreed = inspected(row, { rowsBeyond: 0, lastBatch: PRESENT });

  const outcomes: readonly Outcome[] = [...agreed, { kind: 'filter_warm' }];

  it.each([0, 1, 2, 3, 4, 5])(
    'is followed by taking the partition again when it is unknown, after %i steps',
    (steps) => {
      const step = after(...outcomes.slice(0, steps));
      expect(nextStep(settings, step.state, { kind: 'unknown' })).toEqual(FIRST_STEP);
    },
  );

  it.each([0, 1, 2, 3, 4, 5])(
    'is a bug, and no reason to take the partition again, when only other commands have it, after %i steps',
    (steps) => {
      const { state } = after(...outcomes.slice(0, steps));
      for (const outcome of outcomes.toSpliced(steps, 1)) {
        expect(() => nextStep(settings, state, outcome)).toThrow(AssertionFailed);
      }
    },
  );

  it.each<Outcome>([{ kind: 'taken', checkpoint }, { kind: 'unknown' }])(
    'is a bug once the partition is lost or halted: $kind',
    (outcome) => {
      const lost = after({ kind: 'fenced' });
      expect(lost.command).toEqual({ kind: 'step_down' });
      const halted = { phase: 'halted', reason: 'digest_mismatch' } as const;
      for (const state of [lost.state, halted]) {
        expect(() => nextStep(settings, state, outcome)).toThrow(AssertionFailed);
      }
    },
  );
});

describe('an intent that was refused', () => {
  const EMPTY = inspected(checkpoint, { rowsBeyond: 0, lastBatch: null });
  const record = { offset: 0, appendedAtMs: 0, candidates: [], deadLetter: null };
  const prepared: readonly Outcome[] = [
    ...EMPTY,
    { kind: 'filter_warm' },
    { kind: 'fetched', records: [record], catalog: { version: 1, meters: new Map() } },
    { kind: 'looked_up', seen: new Map() },
  ];
  const newer = { version: 2, meters: new Map() };

  const records = ['a', 'b', 'c', 'd'].map((eventId, offset) => {
    const { environment } = METER;
    const events = [{ ...EVENT, eventId }];
    const value = encodeEventRecord({ environment, receivedAtMs: 0, events });
    return decodeRecord({ offset, appendedAtMs: 0, value }, plainText);
  });

  it('because of a newer catalog is intended again with it: nothing is read or looked up again', () => {
    const row = { ...checkpoint, minVersion: 2 };
    const refused: readonly Outcome[] = [...prepared, { kind: 'refused', checkpoint: row }];
    expect(after(...refused).command).toEqual({
      kind: 'load_catalog',
      versionMin: 2,
      isToBeHeld: false,
    });
    const again = after(...refused, { kind: 'catalog_loaded', catalog: newer });
    expect(again.command).toMatchObject({
      kind: 'intend',
      start: 0,
      intent: { end: 1, catalogVersion: 2 },
      isReplacement: false,
    });
  });

  it('keeps what no catalog changes, encoded as it is', () => {
    const row = { ...checkpoint, minVersion: 2 };
    const intended = after(...prepared);
    const loading = nextStep(settings, intended.state, { kind: 'refused', checkpoint: row });
    const again = nextStep(settings, loading.state, { kind: 'catalog_loaded', catalog: newer });
    const preparedOf = ({ state }: Step) => ('prepared' in state ? state.prepared : null);
    expect(preparedOf(again)?.draft.catalog.version).toBe(2);
    expect(preparedOf(again)?.encoded).toBe(preparedOf(intended)?.encoded);
  });

  it('counts on the meters of the catalog with which it is intended in the end', () => {
    const counting = { version: 2, meters: indexMeters([METER], plainText) };
    const step = after(
      ...prepared.slice(0, -2),
      { kind: 'fetched', records, catalog: newer },
      { kind: 'looked_up', seen: new Map() },
      { kind: 'refused', checkpoint: { ...checkpoint, minVersion: 2 } },
      { kind: 'catalog_loaded', catalog: counting },
      { kind: 'written' },
    );
    const { state } = step;
    expect(state.phase === 'inserting' && state.batch.summary.countedEvents).toBe(records.length);
  });

  it('is cut again when more meters make more rows than one insert can write', () => {
    const bounded = { ...settings, insertRowsMax: 9 };
    const catalog = (version: number) => ({
      version,
      meters: indexMeters(
        Array.from({ length: version }, (_, index) => ({ ...METER, generation: index })),
        plainText,
      ),
    });
    const outcomes: readonly Outcome[] = [
      ...prepared.slice(0, -2),
      { kind: 'fetched', records, catalog: catalog(1) },
      { kind: 'looked_up', seen: new Map() },
      { kind: 'refused', checkpoint: { ...checkpoint, minVersion: 2 } },
      { kind: 'catalog_loaded', catalog: catalog(2) },
    ];
    const ends = [0, 2].map((undone) => {
      const { command } = outcomes
        .slice(0, outcomes.length - undone)
        .reduce((step, outcome) => nextStep(bounded, step.state, outcome), FIRST_STEP);
      return command.kind === 'intend' ? command.intent.end : null;
    });
    // The marker, and for each record its accepted events and the rows of its meters.
    expect(ends).toEqual([2, 4]);
  });

  it('may be refused again, as often as meters change meanwhile', () => {
    const row = { ...checkpoint, minVersion: 2 };
    const step = after(
      ...prepared,
      { kind: 'refused', checkpoint: row },
      { kind: 'catalog_loaded', catalog: newer },
      { kind: 'refused', checkpoint: { ...row, minVersion: 3 } },
    );
    // Or else it might be refused as long as meters are made.
    expect(step.command).toEqual({ kind: 'load_catalog', versionMin: 3, isToBeHeld: true });
  });

  it.each([
    ['another owner has the partition', { epoch: 2 }, 'step_down'],
    ['the partition is elsewhere', { nextOffset: 5 }, 'take'],
  ])('is given up when %s', (_, change, command) => {
    const row = { ...checkpoint, minVersion: 2, ...change };
    expect(after(...prepared, { kind: 'refused', checkpoint: row }).command.kind).toBe(command);
  });
});

describe('a read of the log at an offset that it does not have', () => {
  const row = { ...checkpoint, nextOffset: 5 };
  const idle = after(...inspected(row, { rowsBeyond: 0, lastBatch: null }), {
    kind: 'filter_warm',
  });

  it.each([
    ['is before its start', { logStart: 6, logEnd: 9 }, 'log_start_beyond_checkpoint'],
    ['is beyond its end', { logStart: 0, logEnd: 4 }, 'log_shorter_than_checkpoint'],
    ['is missing inside of it', { logStart: 0, logEnd: 9 }, 'log_record_missing'],
  ])('halts and says that the offset %s', (_, bounds, reason) => {
    const outcome: Outcome = { kind: 'not_in_log', offset: 5, ...bounds };
    const confirming = nextStep(settings, idle.state, outcome);
    expect(confirming.command).toEqual({ kind: 'reread' });
    const halted = nextStep(settings, confirming.state, { kind: 'reread', checkpoint: row });
    expect(halted.command).toEqual({ kind: 'halt', reason });
  });
});
