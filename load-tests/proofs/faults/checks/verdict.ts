import { Decimal } from 'decimal.js';

/** Counts of one run, and everything that is wrong about them. */
export type Counts = {
  readonly accepted: number;
  /** Occurrences in the log whose sender was never told. */
  readonly landedUnknown: number;
  readonly counted: number;
  readonly unmatched: number;
  readonly duplicates: number;
  readonly conflicts: number;
  /** Malformed records of the log; each is a dead letter, or a problem says so. */
  readonly deadLetters: number;
  readonly buckets: number;
  readonly batches: number;
  /** How often a program could not start because an engine was away, and was started again. */
  readonly restarts: number;
};

export type Verdict = {
  readonly counts: Counts;
  /** Events or usage that are missing. */
  readonly lost: number;
  /** Events or usage that are there more than once. */
  readonly double: number;
  /** `check: what is wrong`, one line each; empty when all is right. */
  readonly problems: readonly string[];
  /** Programs that ended and were not meant to, among the problems, too. */
  readonly crashes: readonly string[];
};

/** Collects what is wrong; at most a few lines of each check are kept. */
export class Findings {
  lost = 0;
  double = 0;
  readonly problems: string[] = [];
  readonly #shown = new Map<string, number>();

  note(check: string, fact: string): void {
    const shown = this.#shown.get(check) ?? 0;
    this.#shown.set(check, shown + 1);
    if (shown < 3) this.problems.push(`${check}: ${fact}`);
  }

  noteLost(check: string, fact: string): void {
    this.lost += 1;
    this.note(check, fact);
  }

  noteDouble(check: string, fact: string): void {
    this.double += 1;
    this.note(check, fact);
  }

  /** Compares two maps of exact decimals, key by key. */
  compare(
    check: string,
    expected: ReadonlyMap<string, string>,
    found: ReadonlyMap<string, string>,
  ): void {
    for (const key of new Set([...expected.keys(), ...found.keys()])) {
      const wanted = new Decimal(expected.get(key) ?? '0');
      const is = new Decimal(found.get(key) ?? '0');
      const fact = `${key} is ${is.toFixed()} instead of ${wanted.toFixed()}`;
      if (is.lt(wanted)) this.noteLost(check, fact);
      else if (is.gt(wanted)) this.noteDouble(check, fact);
    }
  }
}
