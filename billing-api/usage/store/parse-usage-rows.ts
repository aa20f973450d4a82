import { Decimal, ZERO } from '../../../contract/decimal.js';
import type { ValueRule } from '../../../contract/event-value.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { Latest } from '../../../contract/minute-values.js';
import { addTally, createUsageCell } from '../../../contract/usage-cell.js';
import { AssertionFailed } from '../../../runtime/failure.js';
import type { CellSeries } from '../../domain/usage/aggregation-spec.js';
import { cellOfCount, EMPTY_CELL, type WindowCell } from '../../domain/usage/window-cell.js';
import type { Run } from './window-parts.js';

const COLUMNS = 14;

/** What a place of a column must hold, in the words of a failure. */
type Kind<T> = { readonly name: string; readonly is: (value: unknown) => value is T };

const TEXT: Kind<string> = {
  name: 'text',
  is: (value): value is string => typeof value === 'string',
};
const TEXT_OR_NULL: Kind<string | null> = {
  name: 'text or null',
  is: (value): value is string | null => value === null || typeof value === 'string',
};
/** JSON numbers beyond 2^53 arrive rounded, and no longer safe. */
const INTEGER: Kind<number> = {
  name: 'integer',
  is: (value): value is number => Number.isSafeInteger(value),
};
const TEXTS: Kind<readonly string[]> = {
  name: 'list of texts',
  is: (value): value is readonly string[] => Array.isArray(value) && value.every(TEXT.is),
};

/**
 * One row of a usage statement, checked: what is told apart, and beside it columns with a place for
 * every slot. A column that nobody asked for is empty. Checked by hand: there may be millions of
 * places, and a schema takes twenty times as long.
 */
export class UsageRow {
  /** In any order, each once. */
  readonly slots: readonly InstantMs[];

  constructor(private readonly row: readonly unknown[]) {
    if (row.length !== COLUMNS) throw new AssertionFailed(`a usage row of ${row.length} columns`);
    this.slots = this.#column(6, INTEGER);
  }

  #value<T>(index: number, { name, is }: Kind<T>): T {
    const value = this.row[index];
    if (is(value)) return value;
    throw new AssertionFailed(`column ${index} of a usage row is no ${name}`);
  }

  #column<T>(index: number, { name, is }: Kind<T>): readonly T[] {
    const column = this.row[index];
    if (Array.isArray(column) && column.every(is)) return column;
    throw new AssertionFailed(`column ${index} of a usage row is no list, each a ${name}`);
  }

  /** A column with a place for every slot, or the empty one. */
  #perSlot<T>(index: number, kind: Kind<T>): readonly T[] {
    const column = this.#column(index, kind);
    if (column.length === 0 || column.length === this.slots.length) return column;
    throw new AssertionFailed(`column ${index} of a usage row does not go with its slots`);
  }

  get branch(): number {
    return this.#value(0, INTEGER);
  }

  /** Names the queries of the branch that the row is for. */
  get query(): string {
    return this.#value(1, TEXT);
  }

  get source(): string {
    return this.#value(2, TEXT);
  }

  get group(): string {
    return this.#value(3, TEXT);
  }

  get texts(): readonly string[] {
    return this.#column(4, TEXT);
  }

  /** The slots of a row of sums, and a cell for each. */
  get sums(): Pick<CellSeries, 'slots' | 'cells'> {
    return { slots: this.slots, cells: this.#cellsOfSums() };
  }

  #cellsOfSums(): readonly WindowCell[] {
    const counts = this.#perSlot(7, INTEGER);
    const unreadable = this.#perSlot(8, INTEGER);
    const sums = this.#perSlot(9, TEXT);
    const timeSums = this.#perSlot(10, TEXT);
    const maxima = this.#perSlot(11, TEXT);
    const latest = this.#perSlot(12, TEXTS);
    const uniques = this.#perSlot(13, INTEGER);
    const further = [unreadable, sums, timeSums, maxima, latest, uniques];
    if (further.every((column) => column.length === 0)) return counts.map(cellOfCount);
    return this.slots.map((_, place) => ({
      eventCount: counts[place] ?? 0,
      unreadableCount: unreadable[place] ?? 0,
      valueSum: numberOf(sums[place]),
      valueTimeSum: numberOf(timeSums[place]),
      valueMax: numberOf(maxima[place]),
      latest: latestOf(latest[place]),
      uniqueCount: uniques[place] ?? 0,
    }));
  }

  /** The slots of a run that have events, of a row with a place for every one. */
  countsOf([startMs, stepMs, count]: Run): Pick<CellSeries, 'slots' | 'cells'> {
    const counts = this.#column(7, INTEGER);
    if (counts.length !== count) throw new AssertionFailed(`${counts.length} of ${count} counts`);
    const slots: InstantMs[] = [];
    const cells: WindowCell[] = [];
    for (let place = 0; place < count; place += 1) {
      const eventCount = counts[place] ?? 0;
      if (eventCount === 0) continue;
      slots.push(startMs + place * stepMs);
      cells.push(cellOfCount(eventCount));
    }
    return { slots, cells };
  }

  /** The cell of a row of events with the same texts, whose value the rule knows; of one slot. */
  cellOfEvents(rule: ValueRule): WindowCell {
    const cell = createUsageCell(rule.type);
    const place = latestOf(this.#perSlot(12, TEXTS)[0]) ?? { atMs: 0, receivedMs: 0, eventId: '' };
    addTally(cell, rule, {
      texts: this.#column(5, TEXT_OR_NULL),
      count: this.#perSlot(7, INTEGER)[0] ?? 0,
      timeSumMs: BigInt(this.#perSlot(10, TEXT)[0] ?? 0),
      place,
    });
    const { eventCount, unreadableCount, valueSum, valueTimeSum, valueMax, latest } = cell;
    return { ...EMPTY_CELL, eventCount, unreadableCount, valueSum, valueTimeSum, valueMax, latest };
  }
}

/** 0 where nobody asked for it. */
function numberOf(text: string | undefined): Decimal {
  return text === undefined ? ZERO : new Decimal(text);
}

function latestOf(texts: readonly string[] | undefined): Latest | null {
  const [at = '', received = '', eventId = '', value = ''] = texts ?? [];
  if (eventId === '') return null;
  const number = value === '' ? ZERO : new Decimal(value);
  return { atMs: Number(at), receivedMs: Number(received), eventId, value: number };
}
