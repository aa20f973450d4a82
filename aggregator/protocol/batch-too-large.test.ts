import { describe, expect, it } from 'vitest';
import { COUNT_EVENTS } from '../../contract/aggregation.js';
import { encodeEventRecord } from '../../contract/usage-event.js';
import { decodeRecord } from '../fold/candidate.js';
import { FOLD_VERSION } from '../fold/fold-version.js';
import { indexMeters } from '../fold/meter-index.js';
import { checkpoint, EVENT, plainText, settings } from '../testing/protocol-steps.js';
import { nextStep } from './machine.js';
import type { Checkpoint, Outcome, Step } from './state.js';
import { FIRST_STEP } from './steps.js';

const environment = { tenantId: 't', environmentId: 'e' };
const METER = {
  environment,
  meterId: 'm',
  version: 1,
  eventName: 'request',
  filters: [],
  aggregation: COUNT_EVENTS,
  generation: 1,
};
const catalog = { version: 1, meters: indexMeters([METER], plainText) };

/** A record of three events of three customers, which make three usage rows. */
const value = encodeEventRecord({
  environment,
  receivedAtMs: 0,
  events: ['a', 'b', 'c'].map((id) => ({ ...EVENT, eventId: id, externalCustomerId: id })),
});
const record = decodeRecord({ offset: 0, appendedAtMs: 0, value }, plainText);

/** The step after the ids were looked up and one more answer, by an owner with other bounds. */
function afterLookUp(row: Checkpoint, bounds: Partial<typeof settings>, last: Outcome): Step {
  const outcomes: readonly Outcome[] = [
    { kind: 'taken', checkpoint: row },
    { kind: 'gate_raised', highestEpoch: 1 },
    { kind: 'drained' },
    {
      kind: 'inspected',
      inspection: {
        rowsBeyond: 0,
        lastBatch: null,
        rawEventsBeginMs: null,
        logStart: 0,
        logEnd: 9,
      },
    },
    { kind: 'filter_warm' },
    { kind: 'fetched', records: [record], catalog },
    { kind: 'looked_up', seen: new Map() },
    last,
  ];
  const bounded = { ...settings, ...bounds };
  return outcomes.reduce((step, outcome) => nextStep(bounded, step.state, outcome), FIRST_STEP);
}

const WRITTEN: Outcome = { kind: 'written' };
const ABSENT: Outcome = { kind: 'presence', presence: { events: 0, ids: 0, marker: 0 } };
const intent = { end: 1, catalogVersion: 1, foldVersion: FOLD_VERSION, digest: '' };

// Three rows of usage, the count of accepted events and the marker.
describe.each([
  ['with more rows than one insert can write', { insertRowsMax: 4 }],
  ['with more text than one insert can write', { insertCharactersMax: 100 }],
])('a batch %s', (_, bounds) => {
  it('halts its partition for a stated reason when another release intended it', () => {
    const { state, command } = afterLookUp({ ...checkpoint, intent }, bounds, ABSENT);
    expect(command).toEqual({ kind: 'reread' });
    expect(state).toMatchObject({ phase: 'confirming_halt', reason: 'batch_too_large' });
  });

  it('is never inserted, and halts its partition for the same reason', () => {
    const { state, command } = afterLookUp(checkpoint, bounds, WRITTEN);
    expect(command).toEqual({ kind: 'reread' });
    expect(state).toMatchObject({ phase: 'confirming_halt', reason: 'batch_too_large' });
  });
});

it('a batch of one record is written however much it is, as long as one insert can write it', () => {
  const { command } = afterLookUp(checkpoint, { insertRowsMax: 5, charactersMax: 1 }, WRITTEN);
  expect(command.kind).toBe('insert');
});
