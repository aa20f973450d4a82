import { AGGREGATIONS } from '../../../contract/aggregation.js';
import type { ValueRule } from '../../../contract/event-value.js';
import type { InstantMs } from '../../../contract/instant.js';
import {
  addedValue,
  type AddedValueName,
  type AddedValues,
  type EventPlace,
} from '../../../contract/minute-values.js';
import { addTally, createUsageCell } from '../../../contract/usage-cell.js';
import { AssertionFailed, assertPresent, assertThat } from '../../../runtime/failure.js';
import type { CellSeries } from '../../domain/usage/aggregation-spec.js';
import {
  cellOfCount,
  EMPTY_CELL,
  windowCellOf,
  type WindowCell,
} from '../../domain/usage/window-cell.js';
import { ANSWERED_VALUES, type AnswerName } from './answer-columns.js';
import type { Run } from './window-parts.js';

/** What a column must hold, in the words of a failure. */
type Kind<T> = { readonly name: string; readonly is: (value: unknown) => value is T };

const TEXT: Kind<string> = {
  name: 'text',
  is: (value): value is string => typeof value === 'string',
};
const TEXT_OR_NULL: Kind<string | null> = {
  name: 'text or null',
  is: (value): value is string | null => value === null || typeof value === 'string',
};
/** JSON numbers beyond 2^53 arrive rounded, and are not safe integers. */
const INTEGER: Kind<number> = {
  name: 'integer',
  is: (value): value is number => Number.isSafeInteger(value),
};

type Series = Pick<CellSeries, 'slots' | 'cells'>;

/** Where rows have each column; what no branch of the statement fills is empty. */
export type RowPlaces = ReadonlyMap<AnswerName, number>;

export function placesOf(columns: readonly AnswerName[]): RowPlaces {
  return new Map(columns.map((name, place) => [name, place]));
}
const NONE: readonly never[] = [];
const NO_PLACE: EventPlace = { atMs: 0, receivedMs: 0, eventId: '' };

/**
 * One row of a usage statement, checked: what it is split by, and beside it columns with a place
 * for every slot. A column that the type does not need is empty. Checked by hand: there may be
 * millions of places, and a schema takes twenty times as long.
 */
export class UsageRow {
  /** In any order, each once. */
  readonly slots: readonly InstantMs[];

  constructor(
    private readonly row: readonly unknown[],
    private readonly places: RowPlaces,
  ) {
    if (row.length !== places.size) {
      throw new AssertionFailed(`a usage row of ${row.length} columns`);
    }
    this.slots = this.#list('slots', INTEGER);
  }

  #column(name: AnswerName, empty: unknown): unknown {
    const place = this.places.get(name);
    return place === undefined ? empty : this.row[place];
  }

  #value<T>(name: AnswerName, kind: Kind<T>, empty: T): T {
    const value = this.#column(name, empty);
    if (kind.is(value)) return value;
    throw new AssertionFailed(`the column ${name} of a usage row is no ${kind.name}`);
  }

  #list<T>(name: AnswerName, kind: Kind<T>): readonly T[] {
    const column = this.#column(name, NONE);
    if (Array.isArray(column) && column.every(kind.is)) return column;
    throw new AssertionFailed(`the column ${name} of a usage row is no list, each a ${kind.name}`);
  }

  /** A column with a place for every slot, or the empty one. */
  #perSlot(name: AnswerName): readonly unknown[] {
    const column = this.#column(name, NONE);
    if (Array.isArray(column) && (column.length === 0 || column.length === this.slots.length)) {
      return column;
    }
    throw new AssertionFailed(`the column ${name} of a usage row does not go with its slots`);
  }

  /** Index of the branch of the statement that answered the row. */
  get branch(): number {
    return this.#value('branch', INTEGER, 0);
  }

  /** Names the queries of the branch that the row is for. */
  get query(): string {
    return this.#value('query', TEXT, '');
  }

  /** Whose usage the row holds; empty where the branch is about the same customers. */
  get customer(): string {
    return this.#value('customer', TEXT, '');
  }

  get source(): string {
    return this.#value('source', TEXT, '');
  }

  get group(): string {
    return this.#value('group', TEXT, '');
  }

  /** Whose usage the row holds; empty where nobody asked. */
  get customerKeys(): readonly string[] {
    return this.#list('customerKeys', TEXT);
  }

  get texts(): readonly string[] {
    return this.#list('texts', TEXT);
  }

  /** The slots of a row of values, and a cell for each. */
  get values(): Series {
    return { slots: this.slots, cells: this.#cells() };
  }

  #cells(): readonly WindowCell[] {
    const values = ANSWERED_VALUES.filter((name) => this.#perSlot(name).length > 0);
    const uniques = this.#perSlot('uniqueCount').length > 0;
    const isFilled = values.length > 0 || uniques || this.slots.length === 0;
    assertThat(isFilled, 'a usage row with slots has values');
    if (values.length === 1 && values[0] === 'eventCount' && !uniques) {
      return this.#list('eventCount', INTEGER).map(cellOfCount);
    }
    const cells = this.slots.map(() => ({ ...EMPTY_CELL }));
    for (const name of values) this.#fill(cells, name);
    const uniqueCounts = uniques ? this.#list('uniqueCount', INTEGER) : [];
    for (const [place, count] of uniqueCounts.entries()) {
      const cell = cells[place];
      if (cell !== undefined) cell.uniqueCount = count;
    }
    return cells;
  }

  /** Fills one value of every cell. */
  #fill<Name extends AddedValueName>(cells: readonly AddedValues[], name: Name): void {
    const { read } = addedValue(name).kind;
    const column = this.#perSlot(name);
    for (const [place, cell] of cells.entries()) {
      const value = read?.decode(column[place]);
      if (value === undefined) {
        throw new AssertionFailed(`the column ${name} of a usage row holds another type`);
      }
      cell[name] = value;
    }
  }

  /** The slots of a run that have events, of a row with a place for every one. */
  countsOf([startMs, stepMs, count]: Run): Series {
    const counts = this.#list('eventCount', INTEGER);
    if (counts.length !== count) throw new AssertionFailed(`${counts.length} of ${count} counts`);
    const slots: InstantMs[] = [];
    const cells: WindowCell[] = [];
    counts.forEach((eventCount, place) => {
      if (eventCount === 0) return;
      slots.push(startMs + place * stepMs);
      cells.push(cellOfCount(eventCount));
    });
    return { slots, cells };
  }

  /** The cell of a row of events with the same texts, of which the rule makes the value. */
  cellOfEvents(rule: ValueRule): WindowCell {
    const cell = createUsageCell(rule.type);
    const [count] = this.#list('eventCount', INTEGER);
    const timeSum = this.#value('timeSum', TEXT, '');
    if (timeSum === '') throw new AssertionFailed('a row of events has no sum of times');
    addTally(cell, rule, {
      texts: this.#list('valueTexts', TEXT_OR_NULL),
      count: assertPresent(count, 'the count of a row of events'),
      timeSumMs: BigInt(timeSum),
      place: this.#latestEvent(rule),
    });
    return windowCellOf(rule.type, cell);
  }

  /** Where the latest event lies: only LATEST asks for it. */
  #latestEvent({ type }: ValueRule): EventPlace {
    if (!AGGREGATIONS[type].values.includes('latest')) return NO_PLACE;
    const [atMs, receivedMs, eventId] = this.#list('latestEvent', TEXT);
    return {
      atMs: Number(assertPresent(atMs, 'the instant of the latest event')),
      receivedMs: Number(assertPresent(receivedMs, 'the receipt of the latest event')),
      eventId: assertPresent(eventId, 'the id of the latest event'),
    };
  }
}
