import { Decimal, ZERO } from '../../../contract/decimal.js';
import type { ValueRule } from '../../../contract/event-value.js';
import { addTally, createUsageCell, type Latest } from '../../../contract/usage-cell.js';
import { AssertionFailed } from '../../../runtime/failure.js';
import { EMPTY_CELL, type WindowCell } from '../../domain/usage/window-cell.js';

/**
 * One row of a usage statement, checked. By hand: there may be millions, and a schema takes twenty
 * times as long.
 */
export class UsageRow {
  constructor(private readonly row: readonly unknown[]) {
    if (row.length !== 14) throw new AssertionFailed(`a usage row of ${row.length} columns`);
  }

  #text(index: number): string {
    const value = this.row[index];
    if (typeof value === 'string') return value;
    throw new AssertionFailed(`column ${index} of a usage row is no text`);
  }

  #count(index: number): number {
    const value = Number(this.#text(index));
    if (Number.isSafeInteger(value) && value >= 0) return value;
    throw new AssertionFailed(`column ${index} of a usage row is no count`);
  }

  /** The number in the text; 0 where nobody asked for it. */
  #decimal(index: number): Decimal {
    const text = this.#text(index);
    return text === '' ? ZERO : new Decimal(text);
  }

  #texts(index: number): readonly string[] {
    const value = this.row[index];
    if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return value;
    throw new AssertionFailed(`column ${index} of a usage row is no list of texts`);
  }

  #valueTexts(): readonly (string | null)[] {
    const value: unknown = this.row[6];
    const isGood = (text: unknown): boolean => text === null || typeof text === 'string';
    if (Array.isArray(value) && value.every(isGood)) return value as (string | null)[];
    throw new AssertionFailed('the value texts of a usage row are no texts');
  }

  #latest(): Latest | null {
    const [at = '', received = '', eventId = '', value = ''] = this.#texts(12);
    if (eventId === '') return null;
    const number = value === '' ? ZERO : new Decimal(value);
    return { atMs: Number(at), receivedMs: Number(received), eventId, value: number };
  }

  get arm(): number {
    const value = this.row[0];
    if (typeof value === 'number') return value;
    throw new AssertionFailed('the arm of a usage row is no number');
  }

  /** Names the questions of the arm that the row is for. */
  get question(): string {
    return this.#text(1);
  }

  get slotMs(): number {
    return Number(this.#text(2));
  }

  get source(): string {
    return this.#text(3);
  }

  get group(): string {
    return this.#text(4);
  }

  get texts(): readonly string[] {
    return this.#texts(5);
  }

  /** The cell of a row of sums. */
  get cellOfSums(): WindowCell {
    return {
      eventCount: this.#count(7),
      unreadableCount: this.#count(8),
      valueSum: this.#decimal(9),
      valueTimeSum: this.#decimal(10),
      valueMax: this.#decimal(11),
      latest: this.#latest(),
      uniqueCount: this.#count(13),
    };
  }

  /** The cell of a row of events with the same texts, whose value the rule knows. */
  cellOfEvents(rule: ValueRule): WindowCell {
    const cell = createUsageCell();
    const place = this.#latest() ?? { atMs: 0, receivedMs: 0, eventId: '' };
    const timeSum = this.#text(10);
    addTally(cell, rule, {
      texts: this.#valueTexts(),
      count: this.#count(7),
      timeSumMs: timeSum === '' ? 0 : BigInt(timeSum),
      place,
    });
    const { eventCount, unreadableCount, valueSum, valueTimeSum, valueMax, latest } = cell;
    return { ...EMPTY_CELL, eventCount, unreadableCount, valueSum, valueTimeSum, valueMax, latest };
  }
}
