import type { InstantMs } from '../../contract/instant.js';
import { zip } from '../../runtime/failure.js';

/** Every event that was received before the instant, and accepted, lies below these offsets. */
export type ReceivedMark = {
  readonly receivedBeforeMs: InstantMs;
  /** One offset for each partition. */
  readonly ends: readonly number[];
};

/** A quarter of a second apart, these reach four minutes back. */
const MARKS_MAX = 1_000;

const higher = (ends: readonly number[], others: readonly number[]): readonly number[] =>
  zip(ends, others).map(([end, other]) => Math.max(end, other));

const isBelow = (ends: readonly number[], others: readonly number[]): boolean =>
  zip(ends, others).every(([end, other]) => end <= other);

/** Marks of the log that are not counted yet, oldest first. */
export class ReceivedMarks {
  #marks: ReceivedMark[] = [];

  constructor(private readonly marksMax = MARKS_MAX) {}

  /** A mark without another offset takes the place of the last one. */
  note({ receivedBeforeMs, ends: seen }: ReceivedMark): void {
    const last = this.#marks.at(-1);
    // Offsets of a log only rise, whichever broker answers.
    const ends = last === undefined ? seen : higher(seen, last.ends);
    const isFull = this.#marks.length >= this.marksMax;
    if (last !== undefined && (isFull || isBelow(ends, last.ends))) this.#marks.pop();
    this.#marks.push({ receivedBeforeMs, ends });
  }

  /**
   * Forgets the marks that lie below the offsets to which each partition is finished. @returns the
   * latest instant of them; null when there is none.
   */
  takeFinished(finished: readonly number[]): InstantMs | null {
    const count = this.#marks.findLastIndex(({ ends }) => isBelow(ends, finished)) + 1;
    const taken = this.#marks.slice(0, count);
    this.#marks = this.#marks.slice(count);
    return taken.at(-1)?.receivedBeforeMs ?? null;
  }
}
