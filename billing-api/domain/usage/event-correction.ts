import type { Interval } from '../../../contract/instant.js';

/**
 * A correction of events of one name that is in force (docs/domain.md 7.10), and the stretch of
 * time in which it changes what counts.
 */
export type EventCorrection = Interval & { readonly id: string; readonly number: number };

/** Those that change what counts in a window. */
export function correctionsIn(
  corrections: readonly EventCorrection[],
  window: Interval,
): readonly EventCorrection[] {
  return corrections.filter(
    ({ startMs, endMs }) => startMs < window.endMs && endMs > window.startMs,
  );
}

/** More stretches than these are read as one that contains them all. */
const STRETCHES_MAX = 20;

/** The stretches of the corrections inside of a window, those that touch each other as one. */
export function correctedStretches(
  corrections: readonly EventCorrection[],
  window: Interval,
): readonly Interval[] {
  const inside = correctionsIn(corrections, window)
    .map(({ startMs, endMs }) => ({
      startMs: Math.max(startMs, window.startMs),
      endMs: Math.min(endMs, window.endMs),
    }))
    .sort((left, right) => left.startMs - right.startMs);
  const joined: Interval[] = [];
  for (const { startMs, endMs } of inside) {
    const last = joined.at(-1);
    if (last === undefined || startMs > last.endMs) joined.push({ startMs, endMs });
    else joined[joined.length - 1] = { ...last, endMs: Math.max(last.endMs, endMs) };
  }
  const [first] = joined;
  if (first === undefined || joined.length <= STRETCHES_MAX) return joined;
  const endMs = Math.max(...joined.map((stretch) => stretch.endMs));
  return [{ startMs: first.startMs, endMs }];
}
