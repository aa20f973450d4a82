import { describe, expect, it } from 'vitest';
import {
  AGGREGATION_TYPES,
  AGGREGATIONS,
  COUNT_EVENTS,
  type AggregationType,
} from '../../../contract/aggregation.js';
import { Decimal } from '../../../contract/number/decimal.js';
import { compileValueRule } from '../../../contract/event-value.js';
import { MINUTE_VALUES } from '../../../contract/minute-values.js';
import { AssertionFailed, assertPresent } from '../../../runtime/failure.js';
import { DAY_MS, MINUTE_MS, type InstantMs } from '../../../contract/instant.js';
import { NO_SPLIT } from '../../domain/usage/aggregation-spec.js';
import { EMPTY_CELL } from '../../domain/usage/window-cell.js';
import { ANSWER_COLUMNS, type AnswerName } from './answer-columns.js';
import { CELLS_MAX, type CellQuery } from './cell-query.js';
import { placesOf, UsageRow } from './parse-usage-rows.js';
import { tellsCustomers, usageStatementOf, type UsageStatement } from './usage-statement.js';

const START_MS = Date.UTC(2026, 0, 1);
const startsOf = (count: number, stepMs: number): readonly InstantMs[] =>
  Array.from({ length: count }, (_, index) => START_MS + index * stepMs);

const minutesOf = (meterId: string) => ({ meterId, generations: [7] });
const subject = {
  eventName: 'call',
  filters: [],
  aggregation: COUNT_EVENTS,
  ends: null,
  corrections: [],
};

function queryOf(slots: CellQuery['slots'], more: Partial<CellQuery> = {}) {
  return {
    customers: { kind: 'only', keys: ['e:a'] } as const,
    subject: { ...subject, minutes: minutesOf('meter_1') },
    window: { startMs: START_MS, endMs: START_MS + 30 * DAY_MS },
    narrowedBy: [],
    sources: null,
    slots,
    split: NO_SPLIT,
    isFirstSlotOnly: false,
    ...more,
  };
}

function statementOf(queries: readonly CellQuery[], withCustomerKeys = false): UsageStatement {
  const environment = { tenantId: 'tenant_1', environmentId: 'env_1' };
  const batch = { environment, queries, bound: null, withCustomerKeys };
  const statement = usageStatementOf(batch, { from: 0, to: queries.length });
  return assertPresent(statement, 'a statement');
}

function branchOf(queries: readonly CellQuery[]) {
  const { branches } = statementOf(queries);
  expect(branches).toHaveLength(1);
  return assertPresent(branches[0], 'a branch');
}

const MONTH_OF_MINUTES = startsOf(43_200, MINUTE_MS);

describe('rows of minutes', () => {
  it('have a place for every slot where counts are cut into slots of one length', () => {
    expect(branchOf([queryOf(MONTH_OF_MINUTES)]).run).toEqual([START_MS, MINUTE_MS, 43_200]);
    expect(branchOf([queryOf(startsOf(30, DAY_MS))]).run).toEqual([START_MS, DAY_MS, 30]);
  });

  it.each<[string, CellQuery]>([
    ['of one slot', queryOf(null)],
    ['of slots of several lengths', queryOf([START_MS, START_MS + DAY_MS, START_MS + 90_000_000])],
    ['told apart by source', queryOf(MONTH_OF_MINUTES, { split: { ...NO_SPLIT, source: true } })],
    ['told apart by group', queryOf(MONTH_OF_MINUTES, { split: { ...NO_SPLIT, group: true } })],
    [
      'of sums',
      queryOf(MONTH_OF_MINUTES, {
        subject: {
          ...subject,
          aggregation: { ...COUNT_EVENTS, type: 'SUM', field: 'n' },
          minutes: minutesOf('meter_1'),
        },
      }),
    ],
  ])('name their slots when they are %s', (_, query) => {
    expect(branchOf([query]).run).toBeNull();
  });

  it('have places up to as many as an answer holds', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        queryOf(MONTH_OF_MINUTES, {
          subject: { ...subject, minutes: minutesOf(`meter_${index}`) },
        }),
      );
    const most = Math.floor(CELLS_MAX / MONTH_OF_MINUTES.length);
    expect(branchOf(many(most)).run).not.toBeNull();
    expect(branchOf(many(most + 1)).run).toBeNull();
  });
});

describe('rows of everybody', () => {
  const isTold = (slots: CellQuery['slots'], more: Partial<CellQuery> = {}) =>
    tellsCustomers([queryOf(slots, more)]);
  const sums = { ...subject, aggregation: { ...COUNT_EVENTS, type: 'SUM', field: 'n' } as const };

  it('tell their customers where there are few of them', () => {
    const sum = { subject: { ...sums, minutes: minutesOf('meter_1') } };
    expect([isTold(null), isTold(null, sum), isTold(startsOf(30, DAY_MS))]).toEqual([
      true,
      true,
      true,
    ]);
    const told = statementOf([queryOf(null)], true);
    expect(told.columns).toContain('customerKeys');
  });

  it.each<[string, CellQuery['slots'], Partial<CellQuery>]>([
    ['of slots of several lengths', [START_MS, START_MS + DAY_MS, START_MS + 90_000_000], {}],
    ['of minutes', MONTH_OF_MINUTES, {}],
    ['split by source', null, { split: { ...NO_SPLIT, source: true } }],
    ['narrowed by a property', null, { narrowedBy: [{ key: 'a', values: ['b'] }] }],
    ['of events only', null, { subject: { ...subject, minutes: null } }],
    [
      'of sums by day',
      startsOf(30, DAY_MS),
      { subject: { ...sums, minutes: minutesOf('meter_1') } },
    ],
    [
      'of different texts',
      null,
      {
        subject: {
          ...subject,
          aggregation: { ...COUNT_EVENTS, type: 'COUNT_UNIQUE', field: 'n' },
          minutes: minutesOf('meter_1'),
        },
      },
    ],
  ])('do not when they are %s', (_, slots, more) => {
    expect(isTold(slots, more)).toBe(false);
  });
});

describe('the columns of a statement', () => {
  const ofMeter = (meterId: string, generations: readonly number[]) =>
    queryOf(null, { subject: { ...subject, minutes: { meterId, generations } } });

  it('are those that a branch fills, and no others', () => {
    expect(statementOf([queryOf(null)]).columns).toEqual(['slots', 'eventCount']);
    expect(statementOf([queryOf(MONTH_OF_MINUTES)]).columns).toEqual(['eventCount']);
    const edge = queryOf(null, { window: { startMs: START_MS + 1, endMs: START_MS + DAY_MS } });
    const both = statementOf([edge]);
    expect(both.branches).toHaveLength(2);
    expect(both.columns).toEqual([
      'branch',
      'source',
      'group',
      'texts',
      'valueTexts',
      'timeSum',
      'slots',
      'eventCount',
    ]);
    const filled = both.columns.map((name) => ANSWER_COLUMNS.findIndex((one) => one.name === name));
    expect(filled).toEqual([...filled].sort((left, right) => left - right));
  });

  it('tell generations apart only where a branch answers several queries', () => {
    const one = statementOf([ofMeter('meter_1', [7, 9])]);
    expect(one.text).not.toContain('GROUP BY');
    expect([...(one.branches[0]?.queryIndexes ?? [])]).toEqual([['', [0]]]);
    const two = statementOf([ofMeter('meter_1', [7, 9]), ofMeter('meter_2', [8])]);
    expect(two.columns).toContain('query');
    expect([...(two.branches[0]?.queryIndexes ?? [])]).toEqual([
      ['7', [0]],
      ['9', [0]],
      ['8', [1]],
    ]);
  });
});

describe('a statement about minutes', () => {
  const textOf = (type: AggregationType, slots: CellQuery['slots']): string => {
    const aggregation = { ...COUNT_EVENTS, type, field: type === 'COUNT' ? null : 'n' };
    const query = queryOf(slots, {
      subject: { ...subject, aggregation, minutes: minutesOf('meter_1') },
    });
    return statementOf([query]).text;
  };

  it.each(AGGREGATION_TYPES)('reads the columns that a %s needs and no others', (type) => {
    const needed = ['eventCount', ...AGGREGATIONS[type].values];
    for (const slots of [null, MONTH_OF_MINUTES]) {
      const text = textOf(type, slots).replaceAll(/AS (answered|slot)_\w+|u\.slot_\w+/gu, '');
      for (const [name, { column }] of Object.entries(MINUTE_VALUES)) {
        const isRead = new RegExp(`\\b${column}\\b`, 'u').test(text);
        expect([name, isRead]).toEqual([name, needed.includes(name)]);
      }
    }
  });
});

type Filled = Readonly<Partial<Record<AnswerName, unknown>>>;
const rowOf = (filled: Filled): UsageRow =>
  new UsageRow(
    ANSWER_COLUMNS.map(({ name, type }) => filled[name] ?? (type.startsWith('Array') ? [] : '')),
    placesOf(ANSWER_COLUMNS.map(({ name }) => name)),
  );

describe('a row with places', () => {
  const countsOf = (eventCount: readonly number[]): UsageRow => rowOf({ eventCount });

  it('tells the slots that have events, and how many', () => {
    const { slots, cells } = countsOf([0, 3, 0, 1_234]).countsOf([START_MS, MINUTE_MS, 4]);
    expect(slots).toEqual([START_MS + MINUTE_MS, START_MS + 3 * MINUTE_MS]);
    expect(cells.map(({ eventCount }) => eventCount)).toEqual([3, 1_234]);
  });

  it('is refused with a place too few or too many', () => {
    const row = countsOf([1, 2, 3]);
    expect(() => row.countsOf([START_MS, MINUTE_MS, 4])).toThrow('3 of 4 counts');
    expect(() => row.countsOf([START_MS, MINUTE_MS, 2])).toThrow('3 of 2 counts');
  });
});

describe('a row of values', () => {
  const filled = { slots: [60_000, 0], eventCount: [2, 5] };

  it('has a cell for every slot, with the members that are filled', () => {
    const latest = [
      ['60001', '7', 'id', '1.5'],
      ['0', '0', '', '0'],
    ];
    const { slots, cells } = rowOf({ ...filled, unreadableCount: [1, 0], latest }).values;
    expect(slots).toEqual([60_000, 0]);
    const last = { atMs: 60_001, receivedMs: 7, eventId: 'id', value: new Decimal('1.5') };
    expect(cells).toEqual([
      { ...EMPTY_CELL, eventCount: 2, unreadableCount: 1, latest: last },
      { ...EMPTY_CELL, eventCount: 5 },
    ]);
    expect(rowOf({ slots: [0], uniqueCount: [3] }).values.cells).toEqual([
      { ...EMPTY_CELL, uniqueCount: 3 },
    ]);
  });

  it.each<[string, Filled]>([
    ['a column too short', { ...filled, valueMax: ['1'] }],
    ['a value of another type', { ...filled, valueMax: ['1', 2] }],
    ['a count that lost digits', { ...filled, unreadableCount: [1, 2 ** 53] }],
    ['a slot that is no number', { ...filled, slots: ['0', 1] }],
    ['a latest event that lacks its value', { ...filled, latest: [['1', '1', 'id'], []] }],
  ])('is refused with %s', (_, columns) => {
    expect(() => rowOf(columns).values).toThrow('of a usage row');
  });

  it('is refused with slots and no values, which would count as nothing', () => {
    expect(() => rowOf({ slots: [0] }).values).toThrow(AssertionFailed);
  });
});

describe('a row of events', () => {
  const ruleOf = (type: AggregationType) =>
    compileValueRule({ ...COUNT_EVENTS, type, field: type === 'COUNT' ? null : 'n' }, () => '');
  const filled = { slots: [0], eventCount: [3], valueTexts: ['2'], timeSum: '6' };
  const latestEvent = ['5', '7', 'id'];

  it('has the values of its events', () => {
    const { eventCount, valueSum } = rowOf(filled).cellOfEvents(ruleOf('SUM'));
    expect([eventCount, valueSum.toFixed()]).toEqual([3, '6']);
    const last = rowOf({ ...filled, latestEvent }).cellOfEvents(ruleOf('LATEST')).latest;
    expect(last).toEqual({ atMs: 5, receivedMs: 7, eventId: 'id', value: new Decimal(2) });
  });

  it.each<[string, AggregationType, Filled]>([
    ['the count', 'COUNT', { ...filled, eventCount: [] }],
    ['the sum of times', 'WEIGHTED_SUM', { ...filled, timeSum: '' }],
    ['the latest event', 'LATEST', { ...filled, latestEvent: [] }],
    ['the id of the latest event', 'LATEST', { ...filled, latestEvent: ['5', '7'] }],
  ])('is refused when it lacks %s', (_, type, columns) => {
    expect(() => rowOf(columns).cellOfEvents(ruleOf(type))).toThrow(AssertionFailed);
  });
});
