/**
 * Numbers that one seed determines: a run is planned from them alone, so its seed replays the plan.
 */
export type SeededRandom = {
  /** A number of `[0, 1)`. */
  readonly next: () => number;
  /** An integer of `[0, below)`. */
  readonly below: (below: number) => number;
  /** An integer of `[from, to]`. */
  readonly between: (from: number, to: number) => number;
  readonly chance: (probability: number) => boolean;
  /** One of the items. @throws RangeError when there are none. */
  readonly pick: <T>(items: readonly T[]) => T;
};

/** Mulberry32: 32 bits of state are enough for plans, and every seed gives another sequence. */
export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    below,
    between: (from, to) => from + below(to - from + 1),
    chance: (probability) => next() < probability,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new RangeError('nothing to pick from');
      return item;
    },
  };
}
