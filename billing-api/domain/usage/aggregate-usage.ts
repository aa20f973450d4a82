import { ZERO, type Decimal } from '../../../contract/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
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

/** A cell of one slot, of a bucketed scope with the text of its group. */
type SlotCell = {
  readonly slotMs: InstantMs;
  readonly group: string;
  readonly cell: WindowCell;
};

/** What is known of one key. Windows have the index that they have in their view. */
type KeyWindows = UsageKey & {
  /** What lies before the first window. */
  before: WindowCell;
  /** All cells of a window as one; a window without cells is a hole. */
  readonly sums: WindowCell[];
  /** The cells of a window one by one, where buckets add up. */
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

/** Like `indexAt`, for instants that mostly come in the order of time: it looks near the last. */
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

/** The key of a series as far as a view tells keys apart: it may ask for less than was read. */
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

type Viewed = {
  readonly scope: AggregationSpec;
  readonly view: UsageSlicing;
  readonly windows: readonly Interval[];
};

const NO_KEY: UsageKey = { source: '', group: '', texts: [] };

function addInside(part: KeyWindows, index: number, cell: WindowCell): void {
  const known = part.sums[index];
  part.sums[index] = known === undefined ? cell : addCells(known, cell);
}

function addToList(part: KeyWindows, index: number, cell: SlotCell): void {
  const list = part.cells[index];
  if (list === undefined) part.cells[index] = [cell];
  else list.push(cell);
}

/** Puts the cells of a series where they belong; those in a gap or behind the windows nowhere. */
function addSeries(
  { scope, windows }: Viewed,
  { slots, cells, group }: CellSeries,
  openPart: () => KeyWindows,
): void {
  const indexOf = createIndexFinder(windows);
  for (let place = 0; place < slots.length; place += 1) {
    const slotMs = slots[place] ?? 0;
    const cell = cells[place] ?? EMPTY_CELL;
    const index = indexOf(slotMs);
    if (index < 0 && scope.resetUsage === 'NEVER') {
      const part = openPart();
      part.before = addCells(part.before, cell);
    } else if (slotMs < (windows[index]?.endMs ?? -Infinity)) {
      const part = openPart();
      addInside(part, index, cell);
      if (scope.buckets !== null) addToList(part, index, { slotMs, group, cell });
    }
  }
}

function gather(viewed: Viewed, found: readonly CellSeries[]): readonly KeyWindows[] {
  const { view } = viewed;
  const parts = new Map<string, KeyWindows>();
  const open = (key: UsageKey): KeyWindows => {
    const name = textOfKey(key);
    const part = parts.get(name) ?? { ...key, before: EMPTY_CELL, sums: [], cells: [] };
    parts.set(name, part);
    return part;
  };
  // A view of everything has its row also where nothing was used.
  if (!isSplit(view.split)) open(NO_KEY);
  for (const series of found) {
    let part: KeyWindows | null = null;
    addSeries(viewed, series, () => (part ??= open(keyIn(view, series))));
  }
  return [...parts.values()];
}

/** The cells of each bucket as one, those of each group apart where buckets have groups. */
function bucketCells(
  { hasGroups }: AggregationSpec,
  buckets: readonly Interval[],
  cells: readonly SlotCell[],
): readonly WindowCell[] {
  const groups = new Map<string, Map<number, WindowCell>>();
  for (const { slotMs, group, cell } of cells) {
    const text = hasGroups ? group : '';
    const ofGroup = groups.get(text) ?? new Map<number, WindowCell>();
    groups.set(text, ofGroup);
    const index = indexAt(buckets, slotMs);
    ofGroup.set(index, addCells(ofGroup.get(index) ?? EMPTY_CELL, cell));
  }
  return [...groups.values()].flatMap((ofGroup) => [...ofGroup.values()]);
}

/**
 * Σ of the values of the buckets, each with its own value per group (domain.md 7.8). Such values,
 * of COUNT, SUM and MAX, do not depend on when a bucket begins and ends.
 */
function valueOfBuckets(
  scope: AggregationSpec,
  buckets: readonly Interval[],
  cells: readonly SlotCell[],
): Decimal {
  const [only] = cells;
  if (only === undefined) return ZERO;
  if (cells.length === 1) return valueOfWindow(scope.type, only.cell, scope.range);
  let sum = ZERO;
  for (const cell of bucketCells(scope, buckets, cells)) {
    sum = sum.plus(valueOfWindow(scope.type, cell, scope.range));
  }
  return sum;
}

function figuresOf(value: Decimal, window: Interval, cell: WindowCell): WindowFigures {
  const { eventCount, unreadableCount } = cell;
  return { window, value, eventCount, unreadableCount };
}

/** The rows of one key; none where it has no events, unless history or the whole view counts. */
function rowsOf({ scope, view, windows }: Viewed, part: KeyWindows): readonly WindowFigures[] {
  const hasEveryWindow = !isSplit(view.split) || scope.resetUsage === 'NEVER';
  const rows: WindowFigures[] = [];
  let { before } = part;
  for (const [index, window] of windows.entries()) {
    const sum = part.sums[index];
    if (sum === undefined && !hasEveryWindow) continue;
    const inside = sum ?? EMPTY_CELL;
    if (scope.resetUsage === 'NEVER') {
      const value = valueWithHistory(scope.type, { before, inside }, window);
      before = addCells(before, inside);
      rows.push(figuresOf(value, window, before));
    } else if (scope.buckets === null) {
      rows.push(figuresOf(valueOfWindow(scope.type, inside, window), window, inside));
    } else {
      const value = valueOfBuckets(scope, scope.buckets, part.cells[index] ?? []);
      rows.push(figuresOf(value, window, inside));
    }
  }
  return rows;
}

function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/**
 * The rows of a view out of what was read, parts in the order of their texts. A bucket belongs to
 * the window in which it begins, so that the windows of a bucketed meter add up to its quantity.
 * The cells may be cut finer than the view, in time and by key, where they add up
 * (`areCellsAdditive`).
 */
export function aggregateUsage(
  scope: AggregationSpec,
  view: UsageSlicing,
  found: readonly CellSeries[],
): readonly UsagePart[] {
  const viewed = { scope, view, windows: view.windows ?? [scope.range] };
  return gather(viewed, found)
    .map((part) => {
      const { source, group, texts } = part;
      return { source, group, texts, windows: rowsOf(viewed, part) };
    })
    .sort((left, right) => compareTexts(textOfKey(left), textOfKey(right)));
}
