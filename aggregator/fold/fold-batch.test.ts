import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COUNT_EVENTS, type MeterAggregation } from '../../contract/aggregation.js';
import type { MeterDefinition } from '../../contract/meter.js';
import { mergeRecords } from '../../contract/records/record-parts.js';
import { encodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import { decodeRecord, type Candidate, type DecodedRecord } from './candidate.js';
import { batchLength } from './cut-batch.js';
import { digestParts, encodeBatch, type DigestPart } from './encode-rows.js';
import { foldBatch } from './fold-batch.js';
import { indexMeters } from './meter-index.js';
import type { StoredId } from './separate-duplicates.js';
import { summarizeBatch } from './summarize-batch.js';

const environment = { tenantId: 't1', environmentId: 'e1' };
const otherEnvironment = { tenantId: 't2', environmentId: 'e1' };
const hashText = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 32);

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
const meter: MeterDefinition = {
  environment,
  meterId: 'm1',
  version: 1,
  eventName: 'request',
  filters: [],
  aggregation: COUNT_EVENTS,
  generation: 1,
};
const filtered: MeterDefinition = {
  ...meter,
  meterId: 'm2',
  generation: 2,
  filters: [{ key: 'plan', values: ['pro', 'max'] }],
};
const meters = indexMeters([filtered, meter], hashText);
const range = { logId: 'log', partition: 0, start: 0, end: 100 };

function recordOf(
  offset: number,
  events: readonly UsageEvent[],
  place: { readonly environment?: typeof environment; readonly appendedAtMs?: number } = {},
): DecodedRecord {
  const value = encodeEventRecord({
    environment: place.environment ?? environment,
    receivedAtMs: 7,
    events,
  });
  return decodeRecord({ offset, appendedAtMs: place.appendedAtMs ?? 9, value }, hashText);
}

function counts(records: readonly DecodedRecord[], seen = new Map<string, StoredId>()) {
  const folded = foldBatch(records, seen, meters);
  return {
    unique: folded.unique.map((candidate) => candidate.event.eventId),
    duplicates: folded.duplicates.map((duplicate) => [
      duplicate.candidate.event.eventId,
      duplicate.isConflict,
    ]),
    deltas: folded.deltas.map((delta) => [
      delta.meter.meterId,
      delta.minuteMs,
      delta.cell.eventCount,
    ]),
    counted: folded.countedEvents,
  };
}

describe('foldBatch', () => {
  it('counts an id once within a batch, whatever its duplicate carries', () => {
    const later = { ...base, timestampMs: 180_000, properties: { plan: 'pro' } };
    const result = counts([recordOf(0, [base, base]), recordOf(1, [later])]);
    expect(result.unique).toEqual(['a']);
    expect(result.deltas).toEqual([['m1', 60_000, 1]]);
    expect(result.duplicates).toEqual([
      ['a', false],
      ['a', true],
    ]);
  });

  it('counts nothing of an id that was counted before the batch', () => {
    const first = recordOf(0, [base]).candidates[0];
    const stored = { payloadHash: first?.payloadHash ?? '', timestampMs: 60_000 };
    const seen = new Map([[first?.idHash ?? '', { ...stored, isTimestampGiven: true }]]);
    expect(counts([recordOf(5, [base])], seen)).toEqual({
      unique: [],
      duplicates: [['a', false]],
      deltas: [],
      counted: 0,
    });
  });

  it('calls another timestamp a conflict only when both senders gave one', () => {
    const moved = { ...base, timestampMs: 61_000 };
    const implied = { ...moved, isTimestampGiven: false };
    expect(counts([recordOf(0, [base, moved])]).duplicates).toEqual([['a', true]]);
    expect(counts([recordOf(0, [base, implied])]).duplicates).toEqual([['a', false]]);
  });

  it('takes the order of properties for no difference', () => {
    const one = { ...base, properties: { x: '1', y: '2' } };
    const two = { ...base, properties: { y: '2', x: '1' } };
    expect(counts([recordOf(0, [one, two])]).duplicates).toEqual([['a', false]]);
  });

  it('keeps the same id of two tenants apart, and their meters', () => {
    const result = counts([
      recordOf(0, [base]),
      recordOf(1, [base], { environment: otherEnvironment }),
    ]);
    expect(result.unique).toEqual(['a', 'a']);
    expect(result.counted).toBe(1);
  });

  it('counts one event on every meter it matches', () => {
    const pro = { ...base, properties: { plan: 'max' } };
    expect(counts([recordOf(0, [pro])]).deltas).toEqual([
      ['m1', 60_000, 1],
      ['m2', 60_000, 1],
    ]);
  });

  it('keeps customers and sources apart whose texts join to the same', () => {
    const one = { ...base, externalCustomerId: 'ab', source: 'c' };
    const two = { ...base, eventId: 'b', externalCustomerId: 'a', source: 'bc' };
    expect(counts([recordOf(0, [one, two])]).deltas).toHaveLength(2);
  });

  it('turns what cannot be decoded into a dead letter and counts the rest', () => {
    const broken = decodeRecord({ offset: 1, appendedAtMs: 9, value: '{' }, hashText);
    const folded = foldBatch([recordOf(0, [base]), broken], new Map(), meters);
    expect(folded.deadLetters).toMatchObject([{ offset: 1, reason: 'not_json', payload: '{' }]);
    expect(folded.unique).toHaveLength(1);
  });

  it('takes records that were merged into one for what they were, the earlier one first', () => {
    const hourMs = 3_600_000;
    const parts = [
      { environment, receivedAtMs: 7, events: [base] },
      { environment: otherEnvironment, receivedAtMs: 8, events: [base] },
      { environment, receivedAtMs: hourMs, events: [base, { ...base, eventId: 'b' }] },
    ];
    const bad = '{"v":1,"t":"t1","e":"e1","r":5,"events":[7]}';
    const value = mergeRecords([...parts.map(encodeEventRecord), bad]);
    const record = decodeRecord({ offset: 3, appendedAtMs: 9, value }, hashText);
    const { unique, duplicates, deadLetters, accepted } = foldBatch([record], new Map(), meters);
    const placeOf = ({ environment: of, event, receivedAtMs, index }: Candidate): unknown[] => [
      of.tenantId,
      event.eventId,
      receivedAtMs,
      index,
    ];
    expect(unique.map(placeOf)).toEqual([
      ['t1', 'a', 7, 0],
      ['t2', 'a', 8, 1],
      ['t1', 'b', hourMs, 3],
    ]);
    expect(duplicates.map(({ candidate }) => placeOf(candidate))).toEqual([['t1', 'a', hourMs, 2]]);
    expect(deadLetters).toMatchObject([{ offset: 3, reason: 'malformed_event', payload: bad }]);
    expect(accepted).toEqual([
      { environment, hourMs: 0, eventCount: 1 },
      { environment: otherEnvironment, hourMs: 0, eventCount: 1 },
      { environment, hourMs, eventCount: 2 },
    ]);
  });

  it('conserves events: unique and duplicates together are all, deltas are the counted ones', () => {
    const events = fc.array(
      fc.record({
        id: fc.integer({ min: 0, max: 12 }),
        name: fc.constantFrom('request', 'other'),
        minute: fc.integer({ min: 0, max: 3 }),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(events, (drawn) => {
        const records = drawn.map(({ id, name, minute }, offset) =>
          recordOf(offset, [
            { ...base, eventId: `id${id}`, eventName: name, timestampMs: minute * 60_000 },
          ]),
        );
        const folded = foldBatch(records, new Map(), indexMeters([meter], hashText));
        const distinct = new Map(drawn.toReversed().map((event) => [event.id, event]));
        const matching = [...distinct.values()].filter((event) => event.name === 'request').length;
        const sum = folded.deltas.reduce((total, delta) => total + delta.cell.eventCount, 0);
        expect(folded.unique).toHaveLength(distinct.size);
        expect(folded.unique.length + folded.duplicates.length).toBe(drawn.length);
        expect([folded.countedEvents, sum]).toEqual([matching, matching]);
      }),
    );
  });

  it('yields the same bytes for the same records', () => {
    const records = [recordOf(0, [base, { ...base, eventId: 'b' }]), recordOf(1, [base])];
    const parts = (): readonly DigestPart[] =>
      digestParts(encodeBatch(range, foldBatch(records, new Map(), meters)));
    expect(parts()).toEqual(parts());
  });
});

describe('values', () => {
  const at = (
    eventId: string,
    properties: Record<string, string>,
    timestampMs = 60_000,
  ): UsageEvent => ({ ...base, eventId, properties, timestampMs });
  const valued = (aggregation: Partial<MeterAggregation>): MeterDefinition => ({
    ...meter,
    aggregation: { ...COUNT_EVENTS, ...aggregation },
  });
  function linesOf(
    aggregation: Partial<MeterAggregation>,
    events: readonly UsageEvent[],
  ): unknown[][] {
    const index = indexMeters([valued(aggregation)], hashText);
    const { usage } = encodeBatch(range, foldBatch([recordOf(0, events)], new Map(), index));
    const lines = usage.bytes.toString().split('\n').slice(0, -1);
    expect(lines).toHaveLength(usage.rows);
    return lines.slice(0, -2).map((line): unknown[] => JSON.parse(line));
  }
  const numbers = [
    at('a', { n: '0.1' }),
    at('b', { n: '0.2' }, 60_500),
    at('c', { n: 'many' }),
    at('d', {}),
  ];

  it.each([
    ['SUM', [4, 2, '0.3']],
    ['AVG', [4, 2, '0.3']],
    ['SUM_WITH_MULTIPLIER', [4, 2, '0.3']],
    ['WEIGHTED_SUM', [4, 2, '0.3', '100']],
    ['MAX', [4, 2, '0', '0', '0.2']],
    ['LATEST', [4, 2, '0', '0', '0', [60_500, 7, 'b', '0.2']]],
    ['MIN', [4, 2, '0', '0', '0', [0, 0, '', '0'], [], '0.1']],
  ] as const)('writes what a minute of %s needs, exactly', (type, columns) => {
    const [line, ...others] = linesOf({ type, field: 'n' }, numbers);
    expect(others).toEqual([]);
    expect(line?.slice(8)).toEqual(columns);
  });

  it('writes no least value where no value can be read, and 0 for a negative one', () => {
    const columnOf = (...events: readonly UsageEvent[]): unknown =>
      linesOf({ type: 'MIN', field: 'n' }, events)[0]?.at(-1);
    expect(columnOf(at('c', { n: 'many' }), at('d', {}))).toBeNull();
    expect(columnOf(at('a', { n: '3' }), at('b', { n: '-4' }))).toBe('0');
  });

  it('writes the hashes of different texts once each, sorted', () => {
    const events = ['y', 'x', 'y'].map((text, index) => at(`e${index}`, { user: text }));
    const [line] = linesOf({ type: 'COUNT_UNIQUE', field: 'user' }, [...events, at('none', {})]);
    const hashes = [hashText('x'), hashText('y')].sort();
    expect(line?.slice(8)).toEqual([4, 1, '0', '0', '0', [0, 0, '', '0'], hashes]);
  });

  it('keeps groups apart, whatever source and group join to', () => {
    const events = [
      { ...at('1', { g: 'bc' }), source: 'a' },
      { ...at('2', { g: 'c' }), source: 'ab' },
      { ...at('3', {}), source: 'abc' },
      { ...at('4', { g: '' }), source: 'abc' },
    ];
    const lines = linesOf({ groupBy: 'g' }, events);
    expect(lines.map((line) => line.slice(6))).toEqual([
      ['a', 'bc', 1],
      ['ab', 'c', 1],
      ['abc', '', 2],
    ]);
  });

  it('takes values of a rule that does not compile for unreadable and goes on', () => {
    const index = indexMeters([valued({ type: 'SUM', expression: '1 +' })], hashText);
    const folded = foldBatch([recordOf(0, numbers)], new Map(), index);
    expect([...summarizeBatch(folded).unreadable]).toEqual([['SUM', 4]]);
  });

  it('keeps the later event when a batch has a tie, by the bytes of its id', () => {
    // U+1F600 is two UTF-16 units below U+FF5E, but more in UTF-8, by which ClickHouse orders.
    const tied = [at('\u{1F600}', { n: '1' }), at('\uFF5E', { n: '2' })];
    const [line] = linesOf({ type: 'LATEST', field: 'n' }, tied);
    expect(line?.[13]).toEqual([60_000, 7, '\u{1F600}', '1']);
  });
});

describe('the count of accepted events', () => {
  /** The end of the batch, and what a row before that column does not have. */
  const UP_TO_100 = '0,"0","0","100",[0,0,"","0"],[],null';

  it('is of all decoded events by environment and hour of receipt, duplicates included', () => {
    const received = (offset: number, receivedAtMs: number, events: readonly UsageEvent[]) =>
      decodeRecord(
        {
          offset,
          appendedAtMs: 9,
          value: encodeEventRecord({ environment, receivedAtMs, events }),
        },
        hashText,
      );
    const records = [
      received(0, 3_599_999, [base, base]),
      received(1, 3_600_000, [base]),
      recordOf(2, [base], { environment: otherEnvironment }),
      recordOf(3, []),
    ];
    const { usage } = encodeBatch(range, foldBatch(records, new Map(), meters));
    const lines = usage.bytes.toString().split('\n');
    expect(lines.filter((line) => line.includes('#accepted'))).toEqual([
      `["t1","e1","","#accepted",0,0,"log:0","",2,${UP_TO_100}]`,
      `["t1","e1","","#accepted",0,3600,"log:0","",1,${UP_TO_100}]`,
      `["t2","e1","","#accepted",0,0,"log:0","",1,${UP_TO_100}]`,
    ]);
  });
});

describe('encodeBatch', () => {
  it('ends usage with the marker of its range, also when nothing is counted', () => {
    const encoded = encodeBatch(range, foldBatch([], new Map(), meters));
    expect(encoded.usage.rows).toBe(1);
    expect(encoded.usage.bytes.toString()).toBe(
      '["","","","#batch",0,0,"log:0","",100,0,"1","0","100",[0,0,"","0"],[],"0"]\n',
    );
    expect([encoded.events.rows, encoded.ids.rows, encoded.duplicates.rows]).toEqual([0, 0, 0]);
  });
});

describe('batchLength', () => {
  const day = 86_400_000;
  const charactersMax = 1_000_000;
  const lengthOf = (records: readonly DecodedRecord[], eventsMax: number): number =>
    batchLength(records, meters, { eventsMax, insertRowsMax: 1_000, charactersMax });

  it('takes whole records up to the bound of events, and one at least', () => {
    const records = [0, 1, 2].map((offset) =>
      recordOf(offset, [
        { ...base, eventId: `${offset}x` },
        { ...base, eventId: `${offset}y` },
      ]),
    );
    expect([1, 2, 3, 4, 5, 6].map((max) => lengthOf(records, max))).toEqual([1, 1, 1, 2, 2, 3]);
  });

  it('keeps the usage rows of a batch within one insert, whatever they turn out to be', () => {
    // Two meters, one of which filters; the count of each record, and the marker of the batch.
    const records = [0, 1, 2].map((offset) =>
      recordOf(offset, [
        { ...base, eventId: `${offset}x`, externalCustomerId: 'x', properties: { plan: 'pro' } },
        { ...base, eventId: `${offset}y`, externalCustomerId: 'y', properties: { plan: 'max' } },
      ]),
    );
    const lengths = [1, 10, 11, 15, 16].map((insertRowsMax) =>
      batchLength(records, meters, { eventsMax: 100, insertRowsMax, charactersMax }),
    );
    expect(lengths).toEqual([1, 1, 2, 2, 3]);
    const batch = foldBatch(records.slice(0, 2), new Map(), meters);
    expect(encodeBatch(range, batch).usage.rows).toBeLessThanOrEqual(11);
    expect(batch.deltas).toHaveLength(4);
  });

  it('keeps the rows of every other table within one insert, too', () => {
    const records = [0, 1, 2].map((offset) =>
      recordOf(offset, [
        { ...base, eventId: `${offset}x`, eventName: 'unmetered' },
        { ...base, eventId: `${offset}y`, eventName: 'unmetered' },
      ]),
    );
    const lengths = [1, 3, 4, 5, 6].map((insertRowsMax) =>
      batchLength(records, meters, { eventsMax: 100, insertRowsMax, charactersMax }),
    );
    expect(lengths).toEqual([1, 1, 2, 2, 3]);
  });

  it('never crosses a day of append time', () => {
    const records = [day - 1, day, day + 5].map((appendedAtMs, offset) =>
      recordOf(offset, [base], { appendedAtMs }),
    );
    expect(lengthOf(records, 100)).toBe(1);
    expect(lengthOf(records.slice(1), 100)).toBe(2);
  });

  it('is 0 for no records', () => {
    expect(lengthOf([], 10)).toBe(0);
  });
});
