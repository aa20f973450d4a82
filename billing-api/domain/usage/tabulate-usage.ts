import { ZERO, type Decimal } from '../../../contract/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import {
  isSplit,
  type KeyedCell,
  type UsageKey,
  type UsagePart,
  type UsageScope,
  type UsageView,
  type WindowFigures,
} from './usage-view.js';
import { addCells, EMPTY_CELL, type WindowCell } from './window-cell.js';
import { valueOfWindow, valueWithHistory } from './window-value.js';

/** Cells of one key by the index of their window; those before the first window apart. */
type KeyCells = UsageKey & {
  before: WindowCell;
  readonly inside: Map<number, KeyedCell[]>;
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

/** The key of a cell as far as a view tells cells apart; a view may ask for less than was read. */
function keyIn({ split }: UsageView, cell: KeyedCell): UsageKey {
  return {
    source: split.source ? cell.source : '',
    group: split.group ? cell.group : '',
    texts: split.properties.length > 0 ? cell.texts : [],
  };
}

function textOfKey({ source, group, texts }: UsageKey): string {
  return JSON.stringify([source, group, texts]);
}

function listOf(lists: Map<number, KeyedCell[]>, index: number): KeyedCell[] {
  const list = lists.get(index) ?? [];
  lists.set(index, list);
  return list;
}

type Viewed = {
  readonly scope: UsageScope;
  readonly view: UsageView;
  readonly windows: readonly Interval[];
};

/** Cells of another view may lie in a gap between the windows, or behind them. */
function isInside({ windows }: Viewed, index: number, instant: InstantMs): boolean {
  return instant < (windows[index]?.endMs ?? -Infinity);
}

const NO_KEY: UsageKey = { source: '', group: '', texts: [] };

/** A month of minutes has 43,200 cells: keys are made only where a view tells them apart. */
function gather(viewed: Viewed, cells: readonly KeyedCell[]): readonly KeyCells[] {
  const { scope, view, windows } = viewed;
  const parts = new Map<string, KeyCells>();
  const partOf = (key: UsageKey): KeyCells => {
    const name = textOfKey(key);
    const part = parts.get(name) ?? { ...key, before: EMPTY_CELL, inside: new Map() };
    parts.set(name, part);
    return part;
  };
  // A view of everything has its row also where nothing was used.
  const whole = isSplit(view.split) ? null : partOf(NO_KEY);
  for (const cell of cells) {
    const index = indexAt(windows, cell.slotMs);
    if (index < 0 && scope.resetUsage === 'NEVER') {
      const part = whole ?? partOf(keyIn(view, cell));
      part.before = addCells(part.before, cell.cell);
    } else if (isInside(viewed, index, cell.slotMs)) {
      listOf((whole ?? partOf(keyIn(view, cell))).inside, index).push(cell);
    }
  }
  return [...parts.values()];
}

function sumOf(cells: readonly KeyedCell[]): WindowCell {
  return cells.reduce((sum, { cell }) => addCells(sum, cell), EMPTY_CELL);
}

/** The cells of each bucket as one, those of each group apart where buckets have groups. */
function bucketCells(
  { hasGroups }: UsageScope,
  buckets: readonly Interval[],
  cells: readonly KeyedCell[],
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
  scope: UsageScope,
  buckets: readonly Interval[],
  cells: readonly KeyedCell[],
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
function rowsOf(
  scope: UsageScope,
  view: UsageView,
  part: KeyCells & { readonly of: readonly Interval[] },
): readonly WindowFigures[] {
  const hasEveryWindow = !isSplit(view.split) || scope.resetUsage === 'NEVER';
  const rows: WindowFigures[] = [];
  let { before } = part;
  for (const [index, window] of part.of.entries()) {
    const cells = part.inside.get(index) ?? [];
    if (cells.length === 0 && !hasEveryWindow) continue;
    const inside = sumOf(cells);
    if (scope.resetUsage === 'NEVER') {
      const value = valueWithHistory(scope.type, { before, inside }, window);
      before = addCells(before, inside);
      rows.push(figuresOf(value, window, before));
    } else if (scope.buckets === null) {
      rows.push(figuresOf(valueOfWindow(scope.type, inside, window), window, inside));
    } else {
      rows.push(figuresOf(valueOfBuckets(scope, scope.buckets, cells), window, inside));
    }
  }
  return rows;
}

function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/**
 * The rows of a view out of its cells, parts in the order of their texts. A bucket belongs to the
 * window in which it begins, so that the windows of a bucketed meter add up to its quantity. The
 * cells may be cut finer than the view, in time and by key, where they add up
 * (`areCellsAdditive`).
 */
export function tabulateUsage(
  scope: UsageScope,
  view: UsageView,
  cells: readonly KeyedCell[],
): readonly UsagePart[] {
  const of = view.windows ?? [scope.range];
  return gather({ scope, view, windows: of }, cells)
    .map(({ source, group, texts, ...part }) => {
      const key = { source, group, texts };
      return { ...key, windows: rowsOf(scope, view, { ...part, ...key, of }) };
    })
    .sort((left, right) => compareTexts(textOfKey(left), textOfKey(right)));
}
