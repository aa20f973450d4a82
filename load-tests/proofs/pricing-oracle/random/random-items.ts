import type { SeededRandom } from '../../../harness/seeded-random.js';
import type { OracleMeter } from '../../usage-oracle/meter.js';
import type { Range } from '../../usage-oracle/windows.js';
import { monthsOf, type Length } from '../billing-grid.js';
import type { FixedItem, LineItem, OnetimeItem, Subscription, UsageItem } from '../subscription.js';
import { randomMeter } from './random-meter.js';
import { randomPrice } from './random-price.js';
import type { Theme } from './random-theme.js';
import { randomInstantIn } from './random-times.js';

/** A subscription to be, and the periods that are going to be invoiced. */
export type Outline = {
  readonly theme: Theme;
  readonly subscription: Subscription;
  readonly periods: readonly Range[];
};

export type Metered = {
  readonly meterId: string;
  readonly meter: OracleMeter;
  readonly items: readonly UsageItem[];
};

/** Few creation times, so that the order of ids decides now and then. */
function randomBasis(random: SeededRandom, { subscription }: Outline) {
  return {
    id: `item-${random.below(36 ** 4).toString(36)}`,
    createdAt: subscription.start + random.below(3),
    price: randomPrice(random),
    start: subscription.start,
    end: null,
  };
}

/** All of a subscription's life, or a part of it that begins or ends inside of a period. */
function randomLife(
  random: SeededRandom,
  { subscription, periods }: Outline,
  wholeProbability: number,
) {
  const whole = { start: subscription.start, end: null };
  if (random.chance(wholeProbability)) return whole;
  const middle = randomInstantIn(random, random.pick(periods));
  if (middle === subscription.start) return whole;
  return random.chance(0.4) ? { ...whole, end: middle } : { start: middle, end: null };
}

/** The subscription's own length, that in other words, or a multiple of it (docs/domain.md 9.4). */
function randomLength(random: SeededRandom, { length }: Subscription): Length {
  if (monthsOf(length) === 3) return { period: 'QUARTERLY', count: random.pick([1, 1, 2]) };
  return { ...length, count: length.count * random.pick([1, 1, 2, 3]) };
}

function randomFixed(random: SeededRandom, outline: Outline): FixedItem {
  const { subscription } = outline;
  const length = random.chance(0.7) ? subscription.length : randomLength(random, subscription);
  const isOwnLength = length === subscription.length;
  const whole = { start: subscription.start, end: null };
  return {
    ...randomBasis(random, outline),
    ...(isOwnLength ? randomLife(random, outline, 0.4) : whole),
    type: 'FIXED',
    cadence: random.pick(['ADVANCE', 'ARREAR']),
    quantity: random.pick(['0', '1', '1', '3', '2.5', '1000']),
    length,
  };
}

function randomOnetime(random: SeededRandom, outline: Outline): OnetimeItem {
  const { subscription, periods } = outline;
  const { end } = random.pick(periods);
  const isAtBoundary = random.chance(0.3) && end !== subscription.end;
  const start = isAtBoundary ? end : randomLife(random, outline, 0.5).start;
  const quantity = random.pick(['1', '1', '4']);
  return { ...randomBasis(random, outline), type: 'ONETIME', start, quantity };
}

export function randomFixedItems(random: SeededRandom, outline: Outline): readonly LineItem[] {
  const fixed = Array.from({ length: random.between(0, outline.theme.fixedItemsMax) }, () =>
    randomFixed(random, outline),
  );
  return random.chance(0.25) ? [...fixed, randomOnetime(random, outline)] : fixed;
}

function randomUsage(random: SeededRandom, outline: Outline, meterId: string): UsageItem {
  return {
    ...randomBasis(random, outline),
    ...randomLife(random, outline, 0.75),
    type: 'USAGE',
    meterId,
    filterValues: random.chance(0.1) ? [{ key: 'k', values: ['a', ''] }] : [],
    length: outline.subscription.length,
    commitment: null,
    predecessorIds: [],
  };
}

/** An item that another continues from the end of a period on. */
function randomLineage(
  random: SeededRandom,
  outline: Outline,
  meterId: string,
): readonly UsageItem[] {
  const { subscription, periods } = outline;
  const end = random.pick(periods).end;
  const whole = { start: subscription.start, end: null };
  const first = { ...randomUsage(random, outline, meterId), ...whole };
  if (end === subscription.end) return [first];
  const successor = { ...first, ...randomBasis(random, outline), start: end };
  return [
    { ...first, end },
    { ...successor, predecessorIds: [first.id] },
  ];
}

/** Items of one meter that differ in `filter_values`; some texts belong to both of them. */
function randomFamily(
  random: SeededRandom,
  outline: Outline,
  meterId: string,
): readonly UsageItem[] {
  const first = randomUsage(random, outline, meterId);
  const values = [['a', 'B'], random.chance(0.5) ? ['b'] : ['a', 'b'], ['']];
  return values.slice(0, random.between(2, 3)).map((texts) => ({
    ...first,
    ...randomBasis(random, outline),
    start: first.start,
    end: first.end,
    filterValues: [{ key: 'k', values: texts }],
  }));
}

/** The rule of shared allowances adds usage up, which not every aggregation allows. */
function addsUp({ type, bucketSize }: OracleMeter): boolean {
  return bucketSize !== null || ['COUNT', 'SUM', 'SUM_WITH_MULTIPLIER'].includes(type);
}

function randomItems(
  random: SeededRandom,
  outline: Outline,
  { meterId, meter }: Omit<Metered, 'items'>,
): readonly UsageItem[] {
  const { subscription, theme } = outline;
  if (random.chance(theme.lineage)) return randomLineage(random, outline, meterId);
  if (random.chance(0.25) && addsUp(meter)) return randomFamily(random, outline, meterId);
  const item = randomUsage(random, outline, meterId);
  const isLonger = random.chance(0.1) && item.start === subscription.start && item.end === null;
  return isLonger ? [{ ...item, length: randomLength(random, subscription) }] : [item];
}

/** A meter and the items that bill it. */
export function randomMetered(random: SeededRandom, outline: Outline, index: number): Metered {
  const meterId = `meter-${index}`;
  const meter = randomMeter(random, outline.subscription, outline.theme);
  return { meterId, meter, items: randomItems(random, outline, { meterId, meter }) };
}
