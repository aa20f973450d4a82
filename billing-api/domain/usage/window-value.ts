import { AGGREGATIONS, type AggregationType } from '../../../contract/aggregation.js';
import { Decimal, decimalOfCount, maxOf, ZERO } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import { addCells, type WindowCell } from './window-cell.js';

/** Fraction digits of quotients (docs/domain.md 7.5). */
const FRACTION_DIGITS = 18;

function rounded(value: Decimal): Decimal {
  return value.toDecimalPlaces(FRACTION_DIGITS, Decimal.ROUND_HALF_UP);
}

function meanOf({ valueSum, eventCount }: WindowCell): Decimal {
  return eventCount === 0 ? ZERO : rounded(valueSum.dividedBy(eventCount));
}

/**
 * Σ value × time from the event to the window end ÷ length of the window, plus `level`, the sum of
 * all changes before the window. Negative changes lower the result, but never below 0.
 */
function weightedOf(cell: WindowCell, { startMs, endMs }: Interval, level: Decimal): Decimal {
  if (endMs <= startMs) return ZERO;
  const weighted = cell.valueSum.times(endMs).minus(cell.valueTimeSum);
  return maxOf(ZERO, rounded(level.plus(weighted.dividedBy(endMs - startMs))));
}

type ValueOf = (cell: WindowCell, window: Interval) => Decimal;

const sumOf: ValueOf = (cell) => cell.valueSum;

const VALUE_OF: Readonly<Record<AggregationType, ValueOf>> = {
  COUNT: (cell) => decimalOfCount(cell.eventCount),
  SUM: sumOf,
  SUM_WITH_MULTIPLIER: sumOf,
  AVG: meanOf,
  MAX: (cell) => cell.valueMax,
  // Absent means zero: there was no event with a readable value (docs/domain.md 7.5).
  MIN: (cell) => cell.valueMin ?? ZERO,
  // Absent means zero: there was no event (docs/domain.md 7.5).
  LATEST: (cell) => cell.latest?.value ?? ZERO,
  COUNT_UNIQUE: (cell) => decimalOfCount(cell.uniqueCount),
  WEIGHTED_SUM: (cell, window) => weightedOf(cell, window, ZERO),
};

/**
 * The value of a window whose events are all in one cell (docs/domain.md 7.5): 0 without events,
 * AVG and WEIGHTED_SUM half-up to 18 fraction digits, every other value exact. Never below 0.
 */
export function valueOfWindow(type: AggregationType, cell: WindowCell, window: Interval): Decimal {
  return VALUE_OF[type](cell, window);
}

/** The usage of a meter that never resets: before a window, and inside it. */
export type History = { readonly before: WindowCell; readonly inside: WindowCell };

/**
 * The value of a window of a meter with reset_usage NEVER (docs/domain.md 7.6): one aggregation
 * over all history up to the window end, except that earlier changes of a WEIGHTED_SUM count for
 * the whole window. For COUNT_UNIQUE each text must be counted only in the cell of its first
 * window.
 */
export function valueWithHistory(
  type: AggregationType,
  { before, inside }: History,
  window: Interval,
): Decimal {
  if (AGGREGATIONS[type].isTimeWeighted) return weightedOf(inside, window, before.valueSum);
  return valueOfWindow(type, addCells(type, before, inside), window);
}
