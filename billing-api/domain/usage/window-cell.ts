import { maxOf, ZERO, type Decimal } from '../../../contract/decimal.js';
import { isLater, type Latest } from '../../../contract/usage-cell.js';

/**
 * What a stretch of time holds of one meter: the sums of the cells of its minutes and edges. Filled
 * only as far as the aggregation needs.
 */
export type WindowCell = {
  readonly eventCount: number;
  /** Events whose value was taken as 0 because it could not be read (domain.md 7.5). */
  readonly unreadableCount: number;
  readonly valueSum: Decimal;
  /** Σ value × milliseconds from 1970 to the event, so that cells of any minutes add up. */
  readonly valueTimeSum: Decimal;
  /** Greatest value; values are not below 0 where this is read, so 0 says nothing. */
  readonly valueMax: Decimal;
  readonly latest: Latest | null;
  /** Number of different texts; it adds up only over cells that have no text in common. */
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

/** A cell of nothing but events. Small ones are shared, as a month has 43,200 of them. */
export function cellOfCount(eventCount: number): WindowCell {
  return COUNT_CELLS[eventCount] ?? { ...EMPTY_CELL, eventCount };
}

function laterOf(left: Latest | null, right: Latest | null): Latest | null {
  if (left === null || right === null) return left ?? right;
  return isLater(right, left) ? right : left;
}

/** What an aggregation does not need is this very zero: nothing is to be added then. */
function sumOf(left: Decimal, right: Decimal): Decimal {
  if (left === ZERO) return right;
  return right === ZERO ? left : left.plus(right);
}

/** Both cells as one; the order does not matter. */
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
