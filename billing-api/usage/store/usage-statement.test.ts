import { describe, expect, it } from 'vitest';
import { COUNT_EVENTS } from '../../../contract/aggregation.js';
import { assertPresent } from '../../../runtime/failure.js';
import { DAY_MS, MINUTE_MS, type InstantMs } from '../../../contract/instant.js';
import { NO_SPLIT } from '../../domain/usage/aggregation-spec.js';
import { CELLS_MAX, type CellQuery } from './cell-query.js';
import { UsageRow } from './parse-usage-rows.js';
import { usageStatementOf } from './usage-statement.js';

const START_MS = Date.UTC(2026, 0, 1);
const startsOf = (count: number, stepMs: number): readonly InstantMs[] =>
  Array.from({ length: count }, (_, index) => START_MS + index * stepMs);

const minutesOf = (meterId: string) => ({ meterId, generations: [7] });
const subject = { eventName: 'call', filters: [], aggregation: COUNT_EVENTS, ends: null };

function queryOf(slots: CellQuery['slots'], more: Partial<CellQuery> = {}) {
  return {
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

function branchOf(queries: readonly CellQuery[]) {
  const environment = { tenantId: 'tenant_1', environmentId: 'env_1' };
  const batch = { environment, customers: { kind: 'only', keys: ['e:a'] }, queries } as const;
  const statement = usageStatementOf(batch, { from: 0, to: queries.length });
  expect(statement?.branches).toHaveLength(1);
  const [branch] = assertPresent(statement, 'a statement').branches;
  return assertPresent(branch, 'a branch');
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

describe('a row with places', () => {
  const rowOf = (counts: readonly number[]): UsageRow =>
    new UsageRow([0, '7', '', '', [], [], [], counts, [], [], [], [], [], []]);

  it('tells the slots that have events, and how many', () => {
    const { slots, cells } = rowOf([0, 3, 0, 1_234]).countsOf([START_MS, MINUTE_MS, 4]);
    expect(slots).toEqual([START_MS + MINUTE_MS, START_MS + 3 * MINUTE_MS]);
    expect(cells.map(({ eventCount }) => eventCount)).toEqual([3, 1_234]);
  });

  it('is refused with a place too few or too many', () => {
    expect(() => rowOf([1, 2, 3]).countsOf([START_MS, MINUTE_MS, 4])).toThrow('3 of 4 counts');
    expect(() => rowOf([1, 2, 3]).countsOf([START_MS, MINUTE_MS, 2])).toThrow('3 of 2 counts');
  });
});
