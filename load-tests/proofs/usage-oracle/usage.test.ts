import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseExpression } from './expression/parse-expression.js';
import { add, fraction, toText } from './fraction.js';
import { AGGREGATION_TYPES, type AggregationType, type OracleMeter } from './meter.js';
import { readNumber } from './numeric-text.js';
import { answerUsage, type UsageQuestion, type World } from './usage.js';
import type { OracleEvent } from './usage-event.js';

const DAY_MS = 86_400_000;
const ADA = { id: 'cust_1', externalId: 'ada' };

function event(given: Partial<OracleEvent> & { readonly v?: string }): OracleEvent {
  const { v, ...rest } = given;
  return {
    eventId: `id-${JSON.stringify([given.timestamp, v, given.source])}`,
    eventName: 'call',
    externalCustomerId: 'ada',
    customerId: null,
    source: '',
    timestamp: 0,
    receipt: 0,
    properties: new Map(v === undefined ? [] : [['v', v]]),
    ...rest,
  };
}

function meter(type: AggregationType, given: Partial<OracleMeter> = {}): OracleMeter {
  return {
    eventName: 'call',
    type,
    origin: { kind: 'field', name: 'v' },
    multiplier: null,
    filters: [],
    bucketSize: null,
    groupBy: null,
    reset: 'BILLING_PERIOD',
    ...given,
  };
}

function world(events: readonly OracleEvent[]): World {
  return { accepted: events, customers: [ADA] };
}

const question: UsageQuestion = {
  meter: meter('COUNT'),
  customerId: null,
  filters: [],
  range: { start: 0, end: 30 * DAY_MS },
  zone: 'UTC',
  anchor: null,
  windowSize: null,
  groupBy: [],
};

function valueOf(events: readonly OracleEvent[], given: Partial<UsageQuestion>): string {
  return answerUsage(world(events), { ...question, ...given }).value;
}

describe('the first accepted event of an id', () => {
  test('counts, whatever the duplicate says', () => {
    const first = event({ eventId: 'x', v: '1' });
    const duplicate = event({ eventId: 'x', v: '9', timestamp: 400 * DAY_MS });
    expect(valueOf([first, duplicate], { meter: meter('SUM') })).toBe('1');
    expect(valueOf([duplicate, first], { meter: meter('SUM') })).toBe('0');
  });
});

describe('a customer', () => {
  const events = [
    event({ externalCustomerId: 'ada', timestamp: 1 }),
    event({ externalCustomerId: 'later', timestamp: 2 }),
    event({ externalCustomerId: null, customerId: 'cust_1', timestamp: 3 }),
    event({ externalCustomerId: 'later', customerId: 'cust_1', timestamp: 4 }),
  ];

  test('counts only when it exists; the external id decides over the other', () => {
    expect(valueOf(events, {})).toBe('2');
    const later = { id: 'cust_2', externalId: 'later' };
    const both = { accepted: events, customers: [ADA, later] };
    expect(answerUsage(both, question).value).toBe('4');
    expect(answerUsage(both, { ...question, customerId: 'cust_2' }).value).toBe('2');
  });
});

describe('a filter', () => {
  const filters = [{ key: 'v', values: ['1.5', 'x'] }];

  test('compares texts: 1.50 is not 1.5, and a missing property equals nothing', () => {
    const events = [event({ v: '1.5' }), event({ v: '1.50' }), event({ v: 'x' }), event({})];
    expect(valueOf(events, { meter: meter('COUNT', { filters }) })).toBe('2');
    expect(valueOf(events, { filters })).toBe('2');
    const narrower = [{ key: 'v', values: ['1.5', '1.50'] }];
    expect(valueOf(events, { meter: meter('COUNT', { filters }), filters: narrower })).toBe('1');
  });

  test('and the event name are exact but for blanks around the name', () => {
    const events = [event({ eventName: ' call ', timestamp: 1 }), event({ eventName: 'Call' })];
    expect(valueOf(events, {})).toBe('1');
  });
});

describe('the value of a window', () => {
  const mixed = ['2', '-7', 'abc', '0.5', '2.0'].map((v, index) => event({ v, timestamp: index }));
  const events = [...mixed, event({ timestamp: 5 })];

  test.each([
    ['COUNT', '6'],
    ['SUM', '4.5'],
    ['AVG', '0.75'],
    ['MAX', '2'],
    ['LATEST', '0'],
    ['COUNT_UNIQUE', '5'],
  ] as const)('of %s is %s: negatives and what is no number are 0, and count', (type, value) => {
    expect(valueOf(events, { meter: meter(type) })).toBe(value);
  });

  test.each([
    [['2', 'abc', '0.5', null], '0.5'],
    [['abc', null, '1e39'], '0'],
    [['3', '-7'], '0'],
    [['3', '0'], '0'],
    [[], '0'],
  ] as const)('of MIN is the least of what can be read: of %j it is %s', (texts, value) => {
    const read = texts.map((v, timestamp) => event({ ...(v === null ? {} : { v }), timestamp }));
    expect(valueOf(read, { meter: meter('MIN') })).toBe(value);
  });

  test('multiplies each value and cuts it to 18 digits', () => {
    const multiplier = readNumber('0.3');
    const tiny = ['2', '9e-18', '9e-18'].map((v, timestamp) => event({ v, timestamp }));
    expect(valueOf(tiny, { meter: meter('SUM_WITH_MULTIPLIER', { multiplier }) })).toBe(
      '0.600000000000000004',
    );
    const thousand = meter('SUM', { multiplier: readNumber('1000') });
    expect(valueOf([event({ v: '1.9e-20' })], { meter: thousand })).toBe('0.000000000000000019');
  });

  test('rounds an average half up, and cuts the value of an expression', () => {
    const three = ['1', '0', '1'].map((v, timestamp) => event({ v, timestamp }));
    expect(valueOf(three, { meter: meter('AVG') })).toBe('0.666666666666666667');
    const expression = parseExpression('v * 2 / 3');
    const origin = { kind: 'expression', expression } as const;
    expect(valueOf([event({ v: '1' })], { meter: meter('SUM', { origin }) })).toBe(
      '0.666666666666666666',
    );
  });

  test('of LATEST is that of the greatest timestamp, then receipt, then id', () => {
    const ties = [
      event({ v: '1', timestamp: 5, receipt: 1, eventId: 'c' }),
      event({ v: '2', timestamp: 5, receipt: 2, eventId: 'a' }),
      event({ v: '3', timestamp: 5, receipt: 2, eventId: 'b' }),
      event({ v: '4', timestamp: 4, receipt: 9, eventId: 'z' }),
    ];
    expect(valueOf(ties, { meter: meter('LATEST') })).toBe('3');
    expect(valueOf(ties.slice(0, 2), { meter: meter('LATEST') })).toBe('2');
  });

  test('of WEIGHTED_SUM weighs changes by the time that is left', () => {
    const change = (v: string, day: number): OracleEvent => event({ v, timestamp: day * DAY_MS });
    const weighted = { meter: meter('WEIGHTED_SUM') };
    expect(valueOf([change('10', 0), change('10', 15)], weighted)).toBe('15');
    expect(valueOf([change('10', 0), change('-4', 15)], weighted)).toBe('8');
    expect(valueOf([change('-10', 0), change('4', 15)], weighted)).toBe('0');
    expect(valueOf([change('1', 20)], weighted)).toBe('0.333333333333333333');
    expect(valueOf([change('2', 20)], weighted)).toBe('0.666666666666666667');
  });

  test.each(AGGREGATION_TYPES)('of %s without events is 0', (type) => {
    expect(valueOf([], { meter: meter(type) })).toBe('0');
  });

  test('begins with its first instant and ends before its last', () => {
    const range = { start: 10, end: 20 };
    const edges = [9, 10, 19, 20].map((timestamp) => event({ timestamp }));
    expect(valueOf(edges, { range })).toBe('2');
  });
});

describe('a meter that is never reset', () => {
  const range = { start: 10 * DAY_MS, end: 20 * DAY_MS };
  const changes = [
    ['6', 0],
    ['2', 15],
    ['100', 20],
  ] as const;
  const events = changes.map(([v, day]) => event({ v, timestamp: day * DAY_MS }));

  test.each([
    ['COUNT', '2'],
    ['SUM', '8'],
    ['SUM_WITH_MULTIPLIER', '8'],
    ['AVG', '4'],
    ['MAX', '6'],
    ['MIN', '2'],
    ['LATEST', '2'],
    ['COUNT_UNIQUE', '2'],
    ['WEIGHTED_SUM', '7'],
  ] as const)('takes the history of %s into account: %s', (type, value) => {
    expect(valueOf(events, { meter: meter(type, { reset: 'NEVER' }), range })).toBe(value);
  });
});

describe('buckets', () => {
  const hourly = ['3', '5', '2'].map((v, index) =>
    event({ v, timestamp: [0, 3_600_000, 3 * 3_600_000][index] ?? 0 }),
  );

  test('add up: hourly maxima 3, 5, none, 2 are a quantity of 10', () => {
    const events = [...hourly, event({ v: '1', timestamp: 1 })];
    expect(valueOf(events, { meter: meter('MAX', { bucketSize: 'HOUR' }) })).toBe('10');
    const range = { start: 1, end: 3_600_001 };
    expect(valueOf(events, { meter: meter('MAX', { bucketSize: 'HOUR' }), range })).toBe('6');
  });

  test('are divided by the text of a property, missing ones together', () => {
    const of = (v: string, pod: string | null): OracleEvent =>
      event({
        eventId: `${v}${pod}`,
        properties: new Map([['v', v], ...(pod === null ? [] : [['pod', pod] as const])]),
      });
    const events = [of('3', 'a'), of('5', 'b'), of('4', 'b'), of('1', null), of('2', '')];
    const grouped = meter('MAX', { bucketSize: 'DAY', groupBy: 'pod' });
    expect(valueOf(events, { meter: grouped })).toBe('10');
  });
});

describe('results', () => {
  test('are the windows of the range, cut to it, empty ones included', () => {
    const events = [event({ v: '3', timestamp: 50 }), event({ v: '5', timestamp: 120_000 })];
    const answer = answerUsage(world(events), {
      ...question,
      meter: meter('SUM'),
      range: { start: 50, end: 120_001 },
      windowSize: 'MINUTE',
    });
    expect(answer.results).toEqual([
      { start: 50, end: 60_000, group: null, value: '3' },
      { start: 60_000, end: 120_000, group: null, value: '0' },
      { start: 120_000, end: 120_001, group: null, value: '5' },
    ]);
  });

  test('are divided by source and property', () => {
    const events = [
      event({ v: 'x', source: 's1', timestamp: 1 }),
      event({ v: 'x', source: 's1', timestamp: 2 }),
      event({ source: 's2' }),
    ];
    const answer = answerUsage(world(events), { ...question, groupBy: ['source', 'properties.v'] });
    expect(answer.results.map(({ group, value }) => [group, value])).toEqual([
      [{ source: 's1', 'properties.v': 'x' }, '2'],
      [{ source: 's2', 'properties.v': '' }, '1'],
    ]);
  });

  test('are those of whole buckets, and of the texts that divide them', () => {
    const events = ['a', 'b', 'a'].map((v, index) => event({ v, timestamp: index * 3_600_000 }));
    const answer = answerUsage(world(events), {
      ...question,
      meter: meter('COUNT', { bucketSize: 'DAY', groupBy: 'v' }),
      windowSize: 'HOUR',
      range: { start: 1, end: 2 * DAY_MS },
    });
    expect(answer.results).toEqual([
      { start: 1, end: DAY_MS, group: { 'properties.v': 'a' }, value: '1' },
      { start: 1, end: DAY_MS, group: { 'properties.v': 'b' }, value: '1' },
    ]);
  });

  const timestamps = fc.array(fc.integer({ min: 0, max: 3 * DAY_MS }), { maxLength: 12 });

  test('of additive meters add up to the value, buckets or not, in any order of sending', () => {
    fc.assert(
      fc.property(timestamps, fc.constantFrom('HOUR', '6HOUR', 'DAY'), (times, size) => {
        const events = times.map((timestamp, index) =>
          event({ eventId: String(index), v: String(index), timestamp }),
        );
        for (const bucketSize of [null, size] as const) {
          const asked = {
            ...question,
            meter: meter('SUM', { bucketSize }),
            range: { start: 1, end: 3 * DAY_MS },
            windowSize: size,
          };
          const answer = answerUsage(world(events), asked);
          const values = answer.results.map(({ value }) => readNumber(value) ?? fraction(0n));
          expect(toText(values.reduce(add, fraction(0n)))).toBe(answer.value);
          expect(answerUsage(world(events.toReversed()), asked)).toEqual(answer);
        }
      }),
      { numRuns: 30 },
    );
  });
});
