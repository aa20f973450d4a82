import { maxOf, ZERO, type Decimal } from '../../../contract/decimal.js';
import { isLater, type Latest } from '../../../contract/minute-values.js';

/**
 * The usage of one meter in an interval, as sums over its minutes and partial minutes. Only the
 * members that the aggregation needs are filled.
 */
export type WindowCell = {
  readonly eventCount: number;
  /** Events whose value was taken as 0 because it could not be read (docs/domain.md 7.5). */
  readonly unreadableCount: number;
  readonly valueSum: Decimal;
  /** Σ value × milliseconds from 1970 to the event, so that cells of any minutes add up. */
  readonly valueTimeSum: Decimal;
  /** Greatest value; 0 without events, since a MAX never has values below 0. */
  readonly valueMax: Decimal;
  readonly latest: Latest | null;
  /** Number of distinct texts; it adds up only over cells that share no text. */
  readonly uniqueCount: number;
};

export const EMPTY_CELL: WindowCell = {
  eventCount: 0,
  unreadableCount: 0,
  valueSum: ZERO,
  valueTimeSum: ZERO,
  valueMax: ZERO,
  latest: null,
  uniqueCount: 0,
};

const COUNT_CELLS = Array.from({ length: 1_000 }, (_, eventCount) => ({
  ...EMPTY_CELL,
  eventCount,
}));

/** A cell that only counts events. Small counts share one cell: a month has 43,200 minutes. */
export function cellOfCount(eventCount: number): WindowCell {
  return COUNT_CELLS[eventCount] ?? { ...EMPTY_CELL, eventCount };
}

function laterOf(left: Latest | null, right: Latest | null): Latest | null {
  if (left === null || right === null) return left ?? right;
  return isLater(right, left) ? right : left;
}

/** Members that an aggregation does not need are the shared `ZERO`, which saves an addition. */
function sumOf(left: Decimal, right: Decimal): Decimal {
  if (left === ZERO) return right;
  return right === ZERO ? left : left.plus(right);
}

/** The sum of two cells; commutative. */
export function addCells(left: WindowCell, right: WindowCell): WindowCell {
  if (left === EMPTY_CELL) return right;
  return {
    eventCount: left.eventCount + right.eventCount,
    unreadableCount: left.unreadableCount + right.unreadableCount,
    valueSum: sumOf(left.valueSum, right.valueSum),
    valueTimeSum: sumOf(left.valueTimeSum, right.valueTimeSum),
    valueMax:
      left.valueMax === right.valueMax ? left.valueMax : maxOf(left.valueMax, right.valueMax),
    latest: laterOf(left.latest, right.latest),
    uniqueCount: left.uniqueCount + right.uniqueCount,
  };
}
