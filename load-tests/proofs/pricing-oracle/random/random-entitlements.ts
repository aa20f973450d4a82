import type { SeededRandom } from '../../../harness/seeded-random.js';
import type { EntitlementSource, Feature, UsageItem } from '../subscription.js';
import type { Metered, Outline } from './random-items.js';
import { randomInstant } from './random-times.js';

type Reset = EntitlementSource['reset'];

const RESETS: readonly Reset[] = [
  ...([null, null, 'NEVER', 'NEVER', 'DAILY', 'WEEKLY'] as const),
  ...(['MONTHLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL'] as const),
];

function randomDates(random: SeededRandom, outline: Outline) {
  const instant = (): number => randomInstant(random, outline);
  const { start } = outline.subscription;
  return random.pick([
    { start: null, end: null },
    { start: null, end: null },
    { start, end: instant() },
    { start: instant(), end: null },
  ]);
}

function randomSource(
  random: SeededRandom,
  outline: Outline,
  { id, reset }: { readonly id: string; readonly reset: Reset },
): EntitlementSource {
  const { start } = outline.subscription;
  const scope = random.pick(['PLAN', 'ADDON', 'SUBSCRIPTION'] as const);
  const isAddon = scope === 'ADDON';
  const association = () => {
    const dates = randomDates(random, outline);
    return { start: dates.start ?? start, end: dates.end };
  };
  const count = isAddon ? random.between(1, 2) : 0;
  return {
    id,
    createdAt: random.below(2),
    scope,
    parentId: null,
    isEnabled: !random.chance(0.1),
    limit: random.chance(0.1)
      ? null
      : random.pick(['0', '1', '3', '5', '10', '20', '40', '100', '1000']),
    reset,
    ...(random.chance(0.7) ? { start: null, end: null } : randomDates(random, outline)),
    associations: Array.from({ length: count }, association),
  };
}

/** One source in three replaces the one before it, when it may. */
function withParents(
  random: SeededRandom,
  sources: readonly EntitlementSource[],
): readonly EntitlementSource[] {
  return sources.map((source, index) => {
    const parent = sources[index - 1];
    const mayReplace = source.scope === 'SUBSCRIPTION' && parent?.scope === 'PLAN';
    return mayReplace && random.chance(0.6) ? { ...source, parentId: parent.id } : source;
  });
}

const filterOf = ({ filterValues }: UsageItem): string => JSON.stringify(filterValues);

/** Whether items that exist at the same time count the same events, or begin and end together. */
function shareEventsOrLife(items: readonly UsageItem[]): boolean {
  const endOfItem = ({ end }: UsageItem): number => end ?? Infinity;
  return items.every((item) =>
    items.every((other) => {
      const overlaps = item.start < endOfItem(other) && other.start < endOfItem(item);
      const areOneLife = item.start === other.start && item.end === other.end;
      return !overlaps || filterOf(item) === filterOf(other) || areOneLife;
    }),
  );
}

/** What an item and its successors used can be told and added up, whatever they count. */
function addsUpOverLineages({ meter, items }: Metered): boolean {
  const filters = new Set(items.map(filterOf));
  const isAlike =
    filters.size === 1 || items.every(({ predecessorIds }) => predecessorIds.length === 0);
  return isAlike || ['COUNT', 'SUM', 'SUM_WITH_MULTIPLIER'].includes(meter.type);
}

/** One source that always counts, with a limit that usage comes near to. */
function plainFeature(random: SeededRandom, { theme }: Outline, meterId: string): Feature {
  const id = `${meterId}-feature-0`;
  const source: EntitlementSource = {
    id: `${id}-0`,
    createdAt: 0,
    scope: 'PLAN',
    parentId: null,
    isEnabled: true,
    limit: random.pick(['2', '5', '10', '20', '40', '100', '1000']),
    reset: random.chance(theme.longBuckets)
      ? random.pick(['DAILY', 'WEEKLY'])
      : random.pick(RESETS),
    start: null,
    end: null,
    associations: [],
  };
  return { id, meterId, sources: [source] };
}

/** The features of a meter; of several the reset periods are equal (docs/domain.md 10.2). */
export function randomFeatures(
  random: SeededRandom,
  outline: Outline,
  metered: Metered,
): readonly Feature[] {
  const { meterId, items } = metered;
  if (!random.chance(outline.theme.entitled)) return [];
  if (!shareEventsOrLife(items) || !addsUpOverLineages(metered)) return [];
  if (random.chance(outline.theme.plainlyEntitled)) return [plainFeature(random, outline, meterId)];
  const count = random.chance(0.2) ? 2 : 1;
  const { length } = outline.subscription;
  const resets = [...RESETS, length.period, length.period];
  const common = random.pick(resets);
  return Array.from({ length: count }, (_, index) => {
    const id = `${meterId}-feature-${index}`;
    const sources = Array.from({ length: random.between(1, 4) }, (__, number) =>
      randomSource(random, outline, {
        id: `${id}-${random.below(1000)}-${number}`,
        reset: count > 1 ? common : random.pick([common, random.pick(resets)]),
      }),
    );
    return { id, meterId, sources: withParents(random, sources) };
  });
}
