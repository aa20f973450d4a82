import { DAY_MS } from '../usage-oracle/calendar.js';
import { add, zero, type Fraction } from '../usage-oracle/fraction.js';
import type { Range } from '../usage-oracle/windows.js';
import { greater, smaller, subtract, sum } from './exact.js';
import { bucketUsageIn, quantityIn, type BucketUsage, type Measured } from './measured-usage.js';

/** A usage line whose allowance is asked for. */
export type AllowedLine = { readonly measured: Measured; readonly window: Range };

/** What an allowance leaves of a line. */
export type Remaining = {
  readonly billed: Fraction;
  /** What is left of every bucket; null when the meter has no buckets. */
  readonly buckets: readonly BucketUsage[] | null;
};

type Limited = {
  readonly limit: Fraction;
  /** In time order, the first cut where billing begins. */
  readonly resetWindows: readonly Range[];
  /** Where the rows of the ledger start: there, usage windows cut buckets. */
  readonly rowStarts: readonly number[];
};

/** Longer than any bucket. */
const BUCKET_MS_MAX = 35 * DAY_MS;

function notNegative(value: Fraction): Fraction {
  return greater(value, zero);
}

function usageBetween(measured: Measured, { start, end }: Range): Fraction {
  return start < end ? quantityIn(measured, { start, end }) : zero;
}

function partInside(window: Range, resetWindow: Range): Range {
  return {
    start: Math.max(window.start, resetWindow.start),
    end: Math.min(window.end, resetWindow.end),
  };
}

/** Σ max(0, T − L) − max(0, B − L), between 0 and the quantity (docs/domain.md 10.2). */
function billedAlone(
  { measured, window }: AllowedLine,
  { limit, resetWindows }: Limited,
): Fraction {
  const above = (range: Range): Fraction =>
    notNegative(subtract(usageBetween(measured, range), limit));
  const billed = resetWindows.map(({ start, end }) =>
    subtract(above({ start, end: Math.min(end, window.end) }), above({ start, end: window.start })),
  );
  return smaller(notNegative(sum(billed)), quantityIn(measured, window));
}

/** What is still free of an amount after usages in their order: 0 or more of each is billed. */
class FreeQuantity {
  #free: Fraction;

  constructor(free: Fraction) {
    this.#free = free;
  }

  billedOf(usage: Fraction): Fraction {
    const used = smaller(this.#free, usage);
    this.#free = subtract(this.#free, used);
    return subtract(usage, used);
  }
}

function addBuckets(
  left: readonly BucketUsage[],
  right: readonly BucketUsage[],
): readonly BucketUsage[] {
  const known = new Map(right.map(({ bucket, groups }) => [bucket.identity, groups]));
  return left.map(({ bucket, groups }) => {
    const others = known.get(bucket.identity) ?? [];
    return {
      bucket,
      groups: groups.map(({ group, value }) => ({
        group,
        value: add(value, others.find((other) => other.group === group)?.value ?? zero),
      })),
    };
  });
}

/** The buckets of a reset window with what is left of them, in time order, groups in text order. */
function billedBuckets(
  buckets: readonly BucketUsage[],
  free: FreeQuantity,
): readonly BucketUsage[] {
  return buckets.map(({ bucket, groups }) => ({
    bucket,
    groups: groups.map(({ group, value }) => ({ group, value: free.billedOf(value) })),
  }));
}

function billedOfBuckets(buckets: readonly BucketUsage[]): Fraction {
  return sum(buckets.flatMap(({ groups }) => groups.map(({ value }) => value)));
}

/** The same buckets with nothing in them, to add to. */
function emptied(line: AllowedLine): readonly BucketUsage[] {
  return bucketUsageIn(line.measured, line.window).map(({ bucket, groups }) => ({
    bucket,
    groups: groups.map(({ group }) => ({ group, value: zero })),
  }));
}

/** A greatest value cannot be divided: it belongs where its bucket begins (docs/domain.md 10.2). */
function isIndivisible({ meter, division }: Measured): boolean {
  return division !== null && meter.type === 'MAX';
}

function bucketsThatBeginIn(
  measured: Measured,
  range: Range,
  resetWindow: Range,
): readonly BucketUsage[] {
  return bucketUsageIn(measured, range).filter(
    ({ bucket }) => bucket.start >= resetWindow.start && bucket.start < resetWindow.end,
  );
}

/** What a reset window has used up before the usage window. */
function usageBefore(
  { measured, window }: AllowedLine,
  resetWindow: Range,
  rowStarts: readonly number[],
): Fraction {
  const { start } = resetWindow;
  if (start >= window.start) return zero;
  if (!isIndivisible(measured)) return usageBetween(measured, { start, end: window.start });
  // From so far back that a bucket which only reaches into the reset window is seen to do so.
  const cut = rowStarts.findLast((rowStart) => rowStart <= start) ?? start;
  const from = Math.max(cut, start - BUCKET_MS_MAX);
  const range = { start: from, end: window.start };
  return billedOfBuckets(bucketsThatBeginIn(measured, range, resetWindow));
}

function bucketsOfPart(
  { measured, window }: AllowedLine,
  resetWindow: Range,
): readonly BucketUsage[] {
  return isIndivisible(measured)
    ? bucketsThatBeginIn(measured, window, resetWindow)
    : bucketUsageIn(measured, partInside(window, resetWindow));
}

/** One reset window: the lines take from what is free in their order. */
function billedInWindow(
  lines: readonly AllowedLine[],
  resetWindow: Range,
  { limit, rowStarts }: Limited,
): readonly Remaining[] {
  const before = lines.map((line) => usageBefore(line, resetWindow, rowStarts));
  const free = new FreeQuantity(notNegative(subtract(limit, sum(before))));
  return lines.map((line) => {
    const { measured, window } = line;
    if (measured.division === null) {
      const usage = usageBetween(measured, partInside(window, resetWindow));
      return { billed: free.billedOf(usage), buckets: null };
    }
    const buckets = billedBuckets(bucketsOfPart(line, resetWindow), free);
    return { billed: billedOfBuckets(buckets), buckets };
  });
}

function addRemaining(left: Remaining, right: Remaining | undefined): Remaining {
  if (right === undefined) return left;
  return {
    billed: add(left.billed, right.billed),
    buckets: left.buckets && right.buckets ? addBuckets(left.buckets, right.buckets) : null,
  };
}

/**
 * What an allowance leaves of lines that share it, in line order (docs/domain.md 10.2). A single
 * line of a meter without buckets follows the formula of T and B, which also holds for meters whose
 * windows do not add up.
 */
export function remainingOf(lines: readonly AllowedLine[], limited: Limited): readonly Remaining[] {
  const [only] = lines;
  if (lines.length === 1 && only !== undefined && only.measured.division === null) {
    return [{ billed: billedAlone(only, limited), buckets: null }];
  }
  const nothing = lines.map((line) => ({
    billed: zero,
    buckets: line.measured.division === null ? null : emptied(line),
  }));
  return limited.resetWindows.reduce<readonly Remaining[]>((known, resetWindow) => {
    const next = billedInWindow(lines, resetWindow, limited);
    return known.map((remaining, index) => addRemaining(remaining, next[index]));
  }, nothing);
}

/** For meters with reset_usage NEVER: what is above the limit, shared in line order. */
export function remainingOfLifetime(
  lines: readonly AllowedLine[],
  limit: Fraction,
): readonly Remaining[] {
  const free = new FreeQuantity(limit);
  return lines.map(({ measured, window }) => ({
    billed: free.billedOf(quantityIn(measured, window)),
    buckets: null,
  }));
}

/** What an unlimited allowance leaves. */
export function nothingOf(line: AllowedLine): Remaining {
  const buckets = line.measured.division === null ? null : emptied(line);
  return { billed: zero, buckets };
}

/** What is billed without an allowance. */
export function everythingOf(line: AllowedLine): Remaining {
  const { measured, window } = line;
  const buckets = measured.division === null ? null : bucketUsageIn(measured, window);
  return { billed: quantityIn(measured, window), buckets };
}
