import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseExpression } from './expression/parse-expression.js';
import { add, fraction, toText } from './fraction.js';
import { type AggregationType, type OracleMeter } from './meter.js';
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

  test('rounds an average half up, and cuts the value of an expression', () => {
    const three = ['1', '0', '1'].map((v, timestamp) => event({ v, timestamp }));
    expect(valueOf(three, { meter: meter('AVG') })).toBe('0.666666666666666667');
    const expression = parseExpression('v * 2 / 3');
    const origin = { kind: 'expression', expression } as const;
    expect(valueOf([event({ v: '1' })], { meter: meter('SUM', { origin }) })).toBe(
      '0.666666666666666666',
    );
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
});

describe('results', () => {
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
