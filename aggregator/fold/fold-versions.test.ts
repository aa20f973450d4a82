import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { COUNT_EVENTS } from '../../contract/aggregation.js';
import type { MeterDefinition } from '../../contract/meter.js';
import { encodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import { nextStep } from '../protocol/machine.js';
import type { Checkpoint, State, Surroundings } from '../protocol/state.js';
import { decodeRecord } from './candidate.js';
import { digestTexts } from './encode-rows.js';
import { applyFold, FOLD_VERSION, FOLD_VERSIONS } from './fold-versions.js';
import { indexMeters } from './meter-index.js';

const environment = { tenantId: 't1', environmentId: 'e1' };
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const digestOf = (texts: readonly string[]): string => sha256(texts.join(''));
const hashText = (text: string): string => sha256(text).slice(0, 32);

const base: UsageEvent = {
  eventId: 'a',
  eventName: 'request',
  externalCustomerId: 'acme',
  customerId: null,
  source: '',
  timestampMs: 60_000,
  isTimestampGiven: true,
  properties: {},
};
const counting: MeterDefinition = {
  environment,
  meterId: 'm1',
  version: 1,
  eventName: 'request',
  filters: [],
  aggregation: COUNT_EVENTS,
  generation: 1,
};
const filtered: MeterDefinition = {
  ...counting,
  meterId: 'm2',
  generation: 2,
  filters: [{ key: 'plan', values: ['pro', 'max'] }],
};

/** Repeats, a conflict, two sources, two forms of customer, a filter, a dead letter. */
const VALUES = [
  encodeEventRecord({
    environment,
    receivedAtMs: 7,
    events: [
      base,
      { ...base, eventId: 'b', properties: { plan: 'pro' }, source: 'web' },
      {
        ...base,
        eventId: 'c',
        timestampMs: 119_999,
        customerId: 'c1',
        externalCustomerId: null,
      },
      { ...base, properties: { x: '1' } },
    ],
  }),
  encodeEventRecord({
    environment,
    receivedAtMs: 7,
    events: [{ ...base, eventId: 'd', properties: { plan: 'max' } }],
  }),
  '{',
];
const records = VALUES.map((value, offset) =>
  decodeRecord({ offset, appendedAtMs: 9, value }, hashText),
);
const input = {
  range: { logId: 'log', partition: 0, start: 0, end: 3 },
  records,
  seen: new Map(),
  meters: indexMeters([filtered, counting], hashText),
};

describe('fold version 1', () => {
  // Both texts were written by the release of that version: they are facts, not expectations.
  it('writes the bytes that the release of that version wrote', () => {
    const { encoded } = applyFold(1, input);
    expect(encoded.usage.text.split('\n')).toEqual([
      '["t1","e1","e:acme","m1",1,60,"","",2]',
      '["t1","e1","e:acme","m1",1,60,"web","",1]',
      '["t1","e1","e:acme","m2",2,60,"web","",1]',
      '["t1","e1","i:c1","m1",1,60,"","",1]',
      '["t1","e1","e:acme","m2",2,60,"","",1]',
      '["","","","#batch",0,0,"log:0","0:3",1]',
      '',
    ]);
    expect(digestOf(digestTexts(encoded))).toBe(
      '9540905b61507d16005730175ad58a9f30e35cfb1d7a3d8e07424e2f83ee576c',
    );
  });

  it('says the same of the events as version 2', () => {
    const [one, two] = FOLD_VERSIONS.map((version) => applyFold(version, input).folded);
    expect(two).toMatchObject(one ?? {});
    expect(two?.countedEvents).toBe(4);
  });
});

describe('the fold of a promised batch', () => {
  const surroundings: Surroundings = {
    logId: 'log',
    partition: 0,
    eventsMax: 10,
    digestOf,
  };

  function checkpointWith(foldVersion: number): Checkpoint {
    const known = FOLD_VERSIONS.find((version) => version === foldVersion) ?? FOLD_VERSION;
    const digest = digestOf(digestTexts(applyFold(known, input).encoded));
    return {
      epoch: 3,
      nextOffset: 0,
      pending: { end: 3, catalogVersion: 1, foldVersion, digest },
      minVersion: 1,
      catalogVersion: 1,
      lastBatch: null,
    };
  }

  it.each(FOLD_VERSIONS)('is the one it was promised with: version %i', (foldVersion) => {
    const checkpoint = checkpointWith(foldVersion);
    const warmed = nextStep(
      surroundings,
      { phase: 'warming', checkpoint },
      { kind: 'filter_warm' },
    );
    const catalog = { version: 1, meters: input.meters };
    const read = nextStep(surroundings, warmed.state, { kind: 'fetched', records, catalog });
    const folded = nextStep(surroundings, read.state, { kind: 'looked_up', seen: new Map() });
    const presence = { events: 4, ids: 4, marker: 0 };
    const { command } = nextStep(surroundings, folded.state, { kind: 'presence', presence });
    const { text } = applyFold(foldVersion, input).encoded.usage;
    expect(command).toMatchObject({ kind: 'insert', table: 'usage', foldVersion, text });
  });

  it('stops the partition when this release does not know it', () => {
    const checkpoint = checkpointWith(3);
    const warmed: State = { phase: 'warming', checkpoint };
    const asked = nextStep(surroundings, warmed, { kind: 'filter_warm' });
    // Only the owner of the present epoch may call a contradiction one.
    expect(asked.command).toEqual({ kind: 'reread' });
    const step = nextStep(surroundings, asked.state, { kind: 'reread', checkpoint });
    expect(step.command).toEqual({ kind: 'halt', reason: 'unknown_fold_version' });
  });
});
