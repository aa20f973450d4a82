import { compareTexts } from '../../../contract/compare-texts.js';
import { ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import { assertPresent, assertThat } from '../../../runtime/failure.js';
import {
  isSplit,
  type CellSeries,
  type UsageKey,
  type UsagePart,
  type AggregationSpec,
  type UsageSlicing,
  type WindowFigures,
} from './aggregation-spec.js';
import { addCells, EMPTY_CELL, type WindowCell } from './window-cell.js';
import { valueOfWindow, valueWithHistory } from './window-value.js';

/** A cell of one slot, with the text of its group if the buckets have groups. */
type SlotCell = {
  readonly slotMs: InstantMs;
  readonly group: string;
  readonly cell: WindowCell;
};

/** The cells of one key by the index of their window. */
type KeyWindows = UsageKey & {
  /** The sum of all cells before the first window. */
  before: WindowCell;
  /** The sum of the cells of each window; windows without cells are holes. */
  readonly sums: WindowCell[];
  /** The single cells of each window, where buckets add up. */
  readonly cells: SlotCell[][];
};

/** Index of the last interval that starts at or before the instant; -1 before the first. */
function indexAt(intervals: readonly Interval[], instant: InstantMs): number {
  let low = -1;
  let high = intervals.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((intervals[middle]?.startMs ?? Infinity) <= instant) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Like `indexAt`, but fast for instants that mostly ascend: it tries near the last result. */
function createIndexFinder(intervals: readonly Interval[]): (instant: InstantMs) => number {
  const isAt = (index: number, instant: InstantMs): boolean =>
    index < intervals.length &&
    (intervals[index]?.startMs ?? -Infinity) <= instant &&
    instant < (intervals[index + 1]?.startMs ?? Infinity);
  let last = -1;
  return (instant) => {
    if (!isAt(last, instant))
      last = isAt(last + 1, instant) ? last + 1 : indexAt(intervals, instant);
    return last;
  };
}

/** The part of a key that the answer is split by; cells may have been read with a finer key. */
function keyIn({ split }: UsageSlicing, { source, group, texts }: UsageKey): UsageKey {
  return {
    source: split.source ? source : '',
    group: split.group ? group : '',
    texts: split.properties.length > 0 ? texts : [],
  };
}

function textOfKey({ source, group, texts }: UsageKey): string {
  return JSON.stringify([source, group, texts]);
}

type Sliced = {
  readonly spec: AggregationSpec;
  readonly slicing: UsageSlicing;
  readonly windows: readonly Interval[];
};

const NO_KEY: UsageKey = { source: '', group: '', texts: [] };

function sumAt({ sums }: KeyWindows, index: number): WindowCell {
  // Absent means zero: a window without cells has no events.
  return sums[index] ?? EMPTY_CELL;
}

function addToList(part: KeyWindows, index: number, cell: SlotCell): void {
  const list = part.cells[index];
  if (list === undefined) part.cells[index] = [cell];
  else list.push(cell);
}

/** Adds the cells of a series to their windows; drops cells in gaps and after the last window. */
function addSeries(
  { spec, windows }: Sliced,
  { slots, cells, group }: CellSeries,
  openPart: () => KeyWindows,
): void {
  assertThat(slots.length === cells.length, 'a series has a cell for every slot');
  const indexOf = createIndexFinder(windows);
  for (let place = 0; place < slots.length; place += 1) {
    const slotMs = assertPresent(slots[place], 'the slot of a cell');
    const cell = assertPresent(cells[place], 'the cell of a slot');
    const index = indexOf(slotMs);
    if (index < 0 && spec.resetUsage === 'NEVER') {
      const part = openPart();
      part.before = addCells(spec.type, part.before, cell);
    } else if (slotMs < (windows[index]?.endMs ?? -Infinity)) {
      const part = openPart();
      part.sums[index] = addCells(spec.type, sumAt(part, index), cell);
      if (spec.buckets !== null) addToList(part, index, { slotMs, group, cell });
    }
  }
}

function gather(sliced: Sliced, found: readonly CellSeries[]): readonly KeyWindows[] {
  const { slicing } = sliced;
  const parts = new Map<string, KeyWindows>();
  const open = (key: UsageKey): KeyWindows => {
    const name = textOfKey(key);
    const part = parts.get(name) ?? { ...key, before: EMPTY_CELL, sums: [], cells: [] };
    parts.set(name, part);
    return part;
  };
  // Without a split there is one row even when nothing was used.
  if (!isSplit(slicing.split)) open(NO_KEY);
  for (const series of found) {
    let part: KeyWindows | null = null;
    addSeries(sliced, series, () => (part ??= open(keyIn(slicing, series))));
  }
  return [...parts.values()];
}

/** The sum of the cells of each bucket, or of each group of each bucket. */
function bucketCells(
  { type, hasGroups }: AggregationSpec,
  buckets: readonly Interval[],
  cells: readonly SlotCell[],
): readonly WindowCell[] {
  const groups = new Map<string, Map<number, WindowCell>>();
  for (const { slotMs, group, cell } of cells) {
    const text = hasGroups ? group : '';
    const ofGroup = groups.get(text) ?? new Map<number, WindowCell>();
    groups.set(text, ofGroup);
    const index = indexAt(buckets, slotMs);
    // Absent means zero: this is the first cell of the bucket.
    ofGroup.set(index, addCells(type, ofGroup.get(index) ?? EMPTY_CELL, cell));
  }
  return [...groups.values()].flatMap((ofGroup) => [...ofGroup.values()]);
}

/**
 * The sum of the values of the buckets and their groups (docs/domain.md 7.8). No type that may have
 * buckets is weighted by time, so the value of a bucket does not need its start and end.
 */
function valueOfBuckets(
  spec: AggregationSpec,
  buckets: readonly Interval[],
  cells: readonly SlotCell[],
): Decimal {
  const [only] = cells;
  if (only === undefined) return ZERO;
  if (cells.length === 1) return valueOfWindow(spec.type, only.cell, spec.range);
  let sum = ZERO;
  for (const cell of bucketCells(spec, buckets, cells)) {
    sum = sum.plus(valueOfWindow(spec.type, cell, spec.range));
  }
  return sum;
}

function figuresOf(value: Decimal, window: Interval, cell: WindowCell): WindowFigures {
  const { eventCount, unreadableCount } = cell;
  return { window, value, eventCount, unreadableCount };
}

/** One row per window; without events only if the meter never resets or nothing is split. */
function rowsOf({ spec, slicing, windows }: Sliced, part: KeyWindows): readonly WindowFigures[] {
  const hasEveryWindow = !isSplit(slicing.split) || spec.resetUsage === 'NEVER';
  const rows: WindowFigures[] = [];
  let { before } = part;
  for (const [index, window] of windows.entries()) {
    const sum = part.sums[index];
    if (sum === undefined && !hasEveryWindow) continue;
    // Absent means zero: a window without cells has no events.
    const inside = sum ?? EMPTY_CELL;
    if (spec.resetUsage === 'NEVER') {
      const value = valueWithHistory(spec.type, { before, inside }, window);
      before = addCells(spec.type, before, inside);
      rows.push(figuresOf(value, window, before));
    } else if (spec.buckets === null) {
      rows.push(figuresOf(valueOfWindow(spec.type, inside, window), window, inside));
    } else {
      const cells = sum === undefined ? [] : assertPresent(part.cells[index], 'cells of buckets');
      const value = valueOfBuckets(spec, spec.buckets, cells);
      rows.push(figuresOf(value, window, inside));
    }
  }
  return rows;
}

/**
 * Aggregates cells to the values of windows, parts in the order of their texts. A bucket belongs to
 * the window in which it begins, so the windows of a bucketed meter add up to its quantity. Cells
 * that add up (`hasAdditiveCells`) may be finer than the slicing, in time and by key.
 */
export function aggregateUsage(
  spec: AggregationSpec,
  slicing: UsageSlicing,
  found: readonly CellSeries[],
): readonly UsagePart[] {
  const sliced = { spec, slicing, windows: slicing.windows ?? [spec.range] };
  return gather(sliced, found)
    .map((part) => {
      const { source, group, texts } = part;
      return { source, group, texts, windows: rowsOf(sliced, part) };
    })
    .sort((left, right) => compareTexts(textOfKey(left), textOfKey(right)));
}
