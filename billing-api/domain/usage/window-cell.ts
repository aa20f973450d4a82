import { forEachAggregation, type AggregationType } from '../../../contract/aggregation.js';
import {
  addedValue,
  NO_VALUES,
  type AddedValueName,
  type AddedValues,
  type MinuteValueName,
  type UsageCell,
} from '../../../contract/minute-values.js';

/**
 * The usage of one meter in an interval: the values of its minutes and partial minutes, added up.
 * Only the members that the aggregation needs are filled. `valueTimeSum` counts milliseconds from
 * 1970 to the event, so that cells of any minutes add up.
 */
export type WindowCell = Readonly<AddedValues> & {
  /** Number of different texts; it adds up only over cells that share no text. */
  readonly uniqueCount: number;
};

export const EMPTY_CELL: WindowCell = { ...NO_VALUES, uniqueCount: 0 };

const COUNT_CELLS = Array.from({ length: 1_000 }, (_, eventCount) => ({
  ...EMPTY_CELL,
  eventCount,
}));

/** A cell that only counts events. Small counts share one cell: a month has 43,200 minutes. */
export function cellOfCount(eventCount: number): WindowCell {
  return COUNT_CELLS[eventCount] ?? { ...EMPTY_CELL, eventCount };
}

/** Values that add up, beside the number of events. */
function addedOf(values: readonly MinuteValueName[]): readonly AddedValueName[] {
  return values.filter((name) => name !== 'uniques');
}
const ADDED_NAMES = forEachAggregation(({ values }) => addedOf(values));

function copyValue<Name extends AddedValueName>(
  cell: AddedValues,
  name: Name,
  from: AddedValues,
): void {
  cell[name] = from[name];
}

/** The cell of events whose values have been added up. ClickHouse counts their distinct texts. */
export function windowCellOf(type: AggregationType, events: UsageCell): WindowCell {
  const cell = { ...EMPTY_CELL, eventCount: events.eventCount };
  for (const name of ADDED_NAMES[type]) copyValue(cell, name, events);
  return cell;
}

function addValue<Name extends AddedValueName>(
  cell: AddedValues,
  name: Name,
  added: AddedValues,
): void {
  const { combine } = addedValue(name);
  if (combine !== null) cell[name] = combine(cell[name], added[name]);
}

type AddCells = (left: WindowCell, right: WindowCell) => WindowCell;

/** Adds only what a type is made of: a month of minutes has 43,200 cells to add. */
function addNamed(names: readonly AddedValueName[]): AddCells {
  return (left, right) => {
    const eventCount = left.eventCount + right.eventCount;
    const uniqueCount = left.uniqueCount + right.uniqueCount;
    const sum = { ...left, eventCount, uniqueCount };
    for (const name of names) addValue(sum, name, right);
    return sum;
  };
}
const addCounts: AddCells = (left, right) => cellOfCount(left.eventCount + right.eventCount);

const ADD_CELLS = forEachAggregation(({ values }) =>
  values.length === 0 ? addCounts : addNamed(addedOf(values)),
);

/** The sum of two cells of one aggregation; commutative. */
export function addCells(type: AggregationType, left: WindowCell, right: WindowCell): WindowCell {
  return left === EMPTY_CELL ? right : ADD_CELLS[type](left, right);
}
