import { describe, expect, it } from 'vitest';
import { Decimal, plain } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import { AssertionFailed } from '../../../runtime/failure.js';
import { aggregateUsage } from './aggregate-usage.js';
import {
  NO_SPLIT,
  type CellSeries,
  type UsageKey,
  type AggregationSpec,
  type UsageSlicing,
} from './aggregation-spec.js';
import { EMPTY_CELL, type WindowCell } from './window-cell.js';

const RANGE: Interval = { startMs: 1_000, endMs: 5_000 };
const windowsOf = (...bounds: readonly number[]): readonly Interval[] =>
  bounds.slice(1).map((endMs, index) => ({ startMs: bounds[index] ?? 0, endMs }));

const COUNT: AggregationSpec = {
  type: 'COUNT',
  resetUsage: 'BILLING_PERIOD',
  range: RANGE,
  buckets: null,
  hasGroups: false,
};
const WHOLE: UsageSlicing = { windows: null, split: NO_SPLIT };

const cellAt = (
  slotMs: number,
  members: Partial<WindowCell>,
  key: Partial<UsageKey> = {},
): CellSeries => ({
  slots: [slotMs],
  source: '',
  group: '',
  texts: [],
  cells: [{ ...EMPTY_CELL, ...members }],
  ...key,
});
const countAt = (slotMs: number, eventCount: number, key: Partial<UsageKey> = {}): CellSeries =>
  cellAt(slotMs, { eventCount }, key);
const maxAt = (slotMs: number, value: string, group = ''): CellSeries =>
  cellAt(slotMs, { eventCount: 1, valueMax: new Decimal(value) }, { group });

const tableOf = (spec: AggregationSpec, slicing: UsageSlicing, cells: readonly CellSeries[]) =>
  aggregateUsage(spec, slicing, cells).map(({ windows, ...key }) => [
    key.source || key.group || key.texts.join(),
    ...windows.map(({ window, value }) => [window.startMs, plain(value)]),
  ]);

describe('aggregateUsage', () => {
  it('leaves out what lies in a gap between windows, before them and behind them', () => {
    const slicing = {
      windows: [...windowsOf(0, 1_000), ...windowsOf(3_000, 4_000)],
      split: NO_SPLIT,
    };
    const cells = [-500, 0, 1_000, 2_999, 3_000, 4_000].map((slotMs, n) =>
      countAt(slotMs, 10 ** n),
    );
    expect(tableOf(COUNT, slicing, cells)).toEqual([['', [0, '10'], [3_000, '10000']]]);
    const bySource = { ...slicing, split: { ...NO_SPLIT, source: true } };
    const keyed = [countAt(500, 1, { source: 'a' }), countAt(2_000, 1, { source: 'b' })];
    expect(tableOf(COUNT, bySource, keyed)).toEqual([['a', [0, '1']]]);
  });

  it('finds the window of every cell, in whatever order the slots come and however they are read', () => {
    const slicing = { windows: windowsOf(1_000, 2_000, 3_000, 5_000), split: NO_SPLIT };
    const slots = [4_000, 0, 2_000, 1_000, 5_000, 3_500, 1_500, -1, 2_999];
    const cells = slots.map((_, n) => ({ ...EMPTY_CELL, eventCount: 10 ** n }));
    const expected = [['', [1_000, '1001000'], [2_000, '100000100'], [3_000, '100001']]];
    const key = { source: '', group: '', texts: [] };
    expect(tableOf(COUNT, slicing, [{ ...key, slots, cells }])).toEqual(expected);
    const apart = slots.map((slotMs, n) => countAt(slotMs, 10 ** n));
    expect(tableOf(COUNT, slicing, apart)).toEqual(expected);
    expect(tableOf(COUNT, slicing, apart.toReversed())).toEqual(expected);
    const whole = [['', [1_000, '101101101']]];
    expect(tableOf(COUNT, WHOLE, [{ ...key, slots, cells }])).toEqual(whole);
  });

  it('gives the whole range one row, also when nothing was used', () => {
    expect(tableOf(COUNT, WHOLE, [])).toEqual([['', [1_000, '0']]]);
    expect(tableOf(COUNT, WHOLE, [countAt(1_000, 2), countAt(3_000, 3)])).toEqual([
      ['', [1_000, '5']],
    ]);
  });

  it('gives every window a row, with slots of any width inside them', () => {
    const slicing = { ...WHOLE, windows: windowsOf(1_000, 2_000, 4_000, 5_000) };
    const cells = [countAt(1_500, 1), countAt(2_000, 2), countAt(3_999, 3)];
    expect(tableOf(COUNT, slicing, cells)).toEqual([
      ['', [1_000, '1'], [2_000, '5'], [4_000, '0']],
    ]);
  });

  it('tells groups apart and gives them rows only where they have events', () => {
    const split = { ...NO_SPLIT, source: true };
    const slicing = { windows: windowsOf(1_000, 3_000, 5_000), split };
    const cells = [
      countAt(1_000, 1, { source: 'b' }),
      countAt(3_000, 2, { source: 'b' }),
      countAt(3_000, 4, { source: 'a' }),
    ];
    expect(tableOf(COUNT, slicing, cells)).toEqual([
      ['a', [3_000, '4']],
      ['b', [1_000, '1'], [3_000, '2']],
    ]);
    expect(tableOf(COUNT, WHOLE, cells)).toEqual([['', [1_000, '7']]]);
  });

  it.each([
    ['a cell', { cells: [] }],
    ['a slot', { slots: [] }],
  ])('fails for a series that lacks %s: its usage would be lost, or count in 1970', (_, lost) => {
    const series = { ...countAt(1_000, 4), ...lost };
    expect(() => aggregateUsage(COUNT, WHOLE, [series])).toThrow(AssertionFailed);
  });

  it('adds the values of buckets, one for each group', () => {
    const buckets = windowsOf(1_000, 2_000, 3_000, 4_000, 5_000);
    const spec: AggregationSpec = { ...COUNT, type: 'MAX', buckets };
    // MAX per HOUR of docs/domain.md 8.5: 3, 5, none, 2.
    const hours = [maxAt(1_000, '3'), maxAt(1_000, '1'), maxAt(2_000, '5'), maxAt(4_000, '2')];
    expect(tableOf(spec, WHOLE, hours)).toEqual([['', [1_000, '10']]]);
    const groups = [maxAt(1_000, '3', 'x'), maxAt(1_000, '1', 'y'), maxAt(2_000, '5', 'x')];
    expect(tableOf({ ...spec, hasGroups: true }, WHOLE, groups)).toEqual([['', [1_000, '9']]]);
    expect(tableOf(spec, WHOLE, groups)).toEqual([['', [1_000, '8']]]);
    const slicing = { windows: null, split: { ...NO_SPLIT, group: true } };
    expect(tableOf({ ...spec, hasGroups: true }, slicing, groups)).toEqual([
      ['x', [1_000, '8']],
      ['y', [1_000, '1']],
    ]);
  });

  it('counts a bucket in the window in which it begins', () => {
    const spec: AggregationSpec = {
      ...COUNT,
      type: 'MAX',
      buckets: windowsOf(1_000, 3_000, 5_000),
    };
    const slicing = { ...WHOLE, windows: windowsOf(1_000, 2_000, 5_000) };
    const cells = [maxAt(1_000, '3'), maxAt(3_000, '4')];
    expect(tableOf(spec, slicing, cells)).toEqual([['', [1_000, '3'], [2_000, '4']]]);
  });

  it('counts history in every window of a meter that never resets', () => {
    const spec: AggregationSpec = { ...COUNT, resetUsage: 'NEVER' };
    const slicing = { ...WHOLE, windows: windowsOf(1_000, 3_000, 5_000) };
    const cells = [countAt(0, 10), countAt(1_000, 1), countAt(3_000, 2)];
    expect(tableOf(spec, slicing, cells)).toEqual([['', [1_000, '11'], [3_000, '13']]]);
    expect(tableOf(spec, WHOLE, cells)).toEqual([['', [1_000, '13']]]);
  });
});
