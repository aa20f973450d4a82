import type { SeededRandom } from '../../../harness/seeded-random.js';
import type { LineItem } from '../subscription.js';
import type { Outline } from './random-items.js';
import { randomInstant } from './random-times.js';

/** Instants inside of an item's life at which others follow it, in order. */
export function randomHandovers(
  random: SeededRandom,
  outline: Outline,
  { start, end }: Pick<LineItem, 'start' | 'end'>,
): readonly number[] {
  const count = random.pick([1, 1, 1, 2, 3]);
  const instants = Array.from({ length: count }, () => randomInstant(random, outline));
  const inside = instants.filter((at) => at > start && (end === null || at < end));
  return [...new Set(inside)].sort((left, right) => left - right);
}

/** An item cut into pieces, each of which continues the ones before it. */
export function cutIntoSegments<Item extends LineItem>(
  item: Item,
  handovers: readonly number[],
  next: (before: readonly Item[]) => Item,
): readonly Item[] {
  return handovers.reduce<readonly Item[]>(
    (segments, at) => {
      const last = segments.at(-1) ?? item;
      return [
        ...segments.slice(0, -1),
        { ...last, end: at },
        { ...next(segments), start: at, end: item.end },
      ];
    },
    [item],
  );
}
