import { expect, it } from 'vitest';
import { encodeEventRecord } from '../../contract/usage-event.js';
import { decodeRecord } from '../fold/candidate.js';
import { nextStep } from './machine.js';
import type { MachineSettings, Outcome } from './state.js';
import { FIRST_STEP } from './steps.js';

const settings: MachineSettings = {
  logId: 'log',
  partition: 0,
  eventsMax: 10,
  insertRowsMax: 1_000,
  digestOf: (texts) => texts.join(''),
};

const event = {
  eventId: 'id',
  eventName: 'request',
  externalCustomerId: 'acme',
  customerId: null,
  source: '',
  timestampMs: 0,
  isTimestampGiven: true,
  properties: {},
};
const environment = { tenantId: 't', environmentId: 'e' };
/** An event, its duplicate, and a record that cannot be decoded. */
const RECORDS = [
  encodeEventRecord({ environment, receivedAtMs: 0, events: [event, event] }),
  '{',
].map((value, offset) => decodeRecord({ offset, appendedAtMs: 0, value }, (text) => text));

const checkpoint = {
  ...{ epoch: 1, nextOffset: 0, intent: null },
  ...{ minVersion: 1, catalogVersion: 1, lastBatch: null },
};
const inspection = { rowsBeyond: 0, lastBatch: null, logStart: 0, logEnd: 2 };
const BEGUN: readonly Outcome[] = [
  { kind: 'taken', checkpoint },
  { kind: 'gate_raised', highestEpoch: 1 },
  { kind: 'drained' },
  { kind: 'inspected', inspection },
  { kind: 'filter_warm' },
  { kind: 'fetched', records: RECORDS, catalog: { version: 1, meters: new Map() } },
  { kind: 'looked_up', seen: new Map() },
];

// The reconciliation takes a batch whose usage is there for one whose events and duplicates are
// stored, and a batch of a replaced log is completed from its events.
it('writes ids and usage side by side, when all other tables of the batch are written', () => {
  let step = BEGUN.reduce((at, outcome) => nextStep(settings, at.state, outcome), FIRST_STEP);
  step = nextStep(settings, step.state, { kind: 'written' });
  const stages: (readonly string[])[] = [];
  while (step.command.kind === 'insert') {
    stages.push(step.command.tables);
    step = nextStep(settings, step.state, { kind: 'inserted' });
  }
  expect(step.command.kind).toBe('finish');
  expect(stages).toEqual([
    ['events', 'duplicates', 'deadLetters'],
    ['ids', 'usage'],
  ]);
});
