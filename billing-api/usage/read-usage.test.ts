import { describe, expect, it } from 'vitest';
import { COUNT_EVENTS } from '../../contract/aggregation.js';
import { plain } from '../../contract/number/decimal.js';
import { AssertionFailed, mustGet } from '../../runtime/failure.js';
import { NO_SPLIT, type CellSeries } from '../domain/usage/aggregation-spec.js';
import { cellOfCount } from '../domain/usage/window-cell.js';
import { meterUsageItemOf, type PointsQuery } from './meter-points.js';
import { answersOf, partsOf, type UsageQuery } from './read-usage.js';
import { slicingsOfAnswer } from './usage-answer.js';

const RANGE = { startMs: 0, endMs: 120_000 };
const WINDOWS = [
  { startMs: 0, endMs: 60_000 },
  { startMs: 60_000, endMs: 120_000 },
];

const queryOf = (): PointsQuery => ({
  subject: {
    eventName: 'call',
    filters: [],
    aggregation: COUNT_EVENTS,
    minutes: { meterId: 'meter_1', generations: [1] },
    ends: null,
    corrections: [],
  },
  spec: {
    type: 'COUNT',
    resetUsage: 'BILLING_PERIOD',
    range: RANGE,
    buckets: null,
    hasGroups: false,
  },
  narrowedBy: [],
  sources: null,
  slicings: slicingsOfAnswer(WINDOWS, NO_SPLIT),
});
const counted = (count: number): readonly CellSeries[] => [
  { source: '', group: '', texts: [], slots: [0], cells: [cellOfCount(count)] },
];
const METER = {
  meterId: 'meter_1',
  version: 1,
  eventName: 'call',
  filters: [],
  aggregation: COUNT_EVENTS,
  bucketSize: null,
  resetUsage: 'BILLING_PERIOD',
  generations: [1],
  ends: null,
  corrections: [],
} as const;

const totalOf = (queries: readonly UsageQuery<'whole' | 'results'>[], found: CellSeries[][]) => {
  const answers = answersOf(queries, found);
  return queries.map((query) => {
    const [whole] = mustGet(mustGet(answers, query, 'a query'), 'whole', 'the whole range');
    return whole?.windows.map(({ value }) => plain(value));
  });
};

describe('answers of several queries', () => {
  it('belong to the query that was asked', () => {
    const queries = [queryOf(), queryOf()];
    expect(totalOf(queries, [[...counted(3)], [...counted(5)]])).toEqual([['3'], ['5']]);
  });

  it('fail when one of the queries was not answered, in place of a usage of 0', () => {
    const queries = [queryOf(), queryOf()];
    expect(() => answersOf(queries, [counted(3)])).toThrow(AssertionFailed);
    expect(() => answersOf(queries, [])).toThrow(AssertionFailed);
  });
});

describe('the points of a meter', () => {
  const sliced = () => {
    const query = queryOf();
    const answers = answersOf([query], [counted(3)]);
    return { query, slices: new Map(mustGet(answers, query, 'a query')) };
  };

  it('are the windows that were asked for', () => {
    const { query, slices } = sliced();
    const { points } = meterUsageItemOf(METER, query, slices);
    expect(points.map(({ value }) => plain(value))).toEqual(['3', '0']);
  });

  it.each(['whole', 'results'] as const)('fail when the rows of %s were not read', (name) => {
    const { query, slices } = sliced();
    slices.delete(name);
    expect(() => meterUsageItemOf(METER, query, slices)).toThrow(AssertionFailed);
  });

  it('are none where nobody asked for windows', () => {
    const query = { ...queryOf(), slicings: slicingsOfAnswer(null, NO_SPLIT) };
    expect(partsOf(query, new Map(), 'results')).toEqual([]);
  });
});
