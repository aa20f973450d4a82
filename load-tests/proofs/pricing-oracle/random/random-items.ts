import type { SeededRandom } from '../../../harness/seeded-random.js';
import type { OracleMeter } from '../../usage-oracle/meter.js';
import type { Range } from '../../usage-oracle/windows.js';
import { monthsOf, type Length } from '../billing-grid.js';
import { endOf } from '../subscription.js';
import type { FixedItem, LineItem, OnetimeItem, Subscription, UsageItem } from '../subscription.js';
import { randomMeter } from './random-meter.js';
import { randomPrice } from './random-price.js';
import type { Theme } from './random-theme.js';
import { cutIntoSegments, randomHandovers } from './random-successors.js';
import { randomInstant } from './random-times.js';

/** A subscription to be, and the periods that are going to be invoiced. */
export type Outline = {
  readonly theme: Theme;
  /** With its history. */
  readonly subscription: Subscription;
  /** Rows of the ledger. */
  readonly periods: readonly Range[];
  /** Instants at which something happens. */
  readonly edges: readonly number[];
};

export type Metered = {
  readonly meterId: string;
  readonly meter: OracleMeter;
  readonly items: readonly UsageItem[];
};

/** Few creation times, so that the order of ids decides now and then. */
function randomBasis(random: SeededRandom, { subscription }: Outline) {
  const basis = {
    id: `item-${random.below(36 ** 6).toString(36)}`,
    createdAt: subscription.start + random.below(3),
    price: randomPrice(random),
    start: subscription.start,
    end: null,
  };
  return { ...basis, isLate: basis.createdAt > subscription.start };
}

/** All of a subscription's life, or a part of it that begins or ends somewhere in it. */
function randomLife(random: SeededRandom, outline: Outline, wholeProbability: number) {
  const whole = { start: outline.subscription.start, end: null };
  if (random.chance(wholeProbability)) return whole;
  const middle = randomInstant(random, outline);
  if (middle === whole.start) return whole;
  const roll = random.below(10);
  if (roll < 4) return { ...whole, end: middle };
  const end = randomInstant(random, outline);
  return { start: middle, end: roll < 5 && end > middle ? end : null };
}

/** The subscription's own length, that in other words, or a multiple of it (docs/domain.md 9.4). */
function randomLength(random: SeededRandom, { length }: Subscription): Length {
  if (monthsOf(length) === 3) return { period: 'QUARTERLY', count: random.pick([1, 1, 2]) };
  return { ...length, count: length.count * random.pick([1, 1, 2, 3]) };
}

function randomQuantity(random: SeededRandom): string {
  return random.pick(['0', '1', '1', '3', '2.5', '1000']);
}

function randomFixed(random: SeededRandom, outline: Outline): readonly FixedItem[] {
  const { subscription } = outline;
  const item: FixedItem = {
    ...randomBasis(random, outline),
    ...randomLife(random, outline, 0.4),
    type: 'FIXED',
    cadence: random.pick(['ADVANCE', 'ARREAR']),
    quantity: randomQuantity(random),
    length: random.chance(0.6) ? subscription.length : randomLength(random, subscription),
  };
  if (!random.chance(outline.theme.lineage)) return [item];
  return cutIntoSegments(item, randomHandovers(random, outline, item), () => ({
    ...item,
    ...randomBasis(random, outline),
    quantity: random.chance(0.5) ? item.quantity : randomQuantity(random),
  }));
}

/** Once; before the subscription ends. */
function randomOnetime(random: SeededRandom, outline: Outline): OnetimeItem {
  const { subscription } = outline;
  const chosen = random.chance(0.2) ? subscription.start : randomInstant(random, outline);
  const end = endOf(subscription);
  const start = end === null || chosen < end ? chosen : subscription.start;
  const quantity = random.pick(['1', '1', '4']);
  return { ...randomBasis(random, outline), type: 'ONETIME', start, quantity };
}

/**
 * Lines whose amounts are powers of ten: the shares of a coupon end in the same fraction of a unit,
 * behind different numbers of digits.
 */
function powersOfTen(random: SeededRandom, outline: Outline): readonly FixedItem[] {
  const cadence = random.pick(['ADVANCE', 'ARREAR'] as const);
  return Array.from({ length: random.between(2, 5) }, () => ({
    ...randomBasis(random, outline),
    price: { model: 'FLAT_FEE', amount: '1', unitRate: null },
    type: 'FIXED',
    cadence,
    quantity: random.pick(['1', '1', '10', '10', '100']),
    length: outline.subscription.length,
  }));
}

export function randomFixedItems(random: SeededRandom, outline: Outline): readonly LineItem[] {
  if (random.chance(outline.theme.powersOfTen)) return powersOfTen(random, outline);
  const count = random.between(0, outline.theme.fixedItemsMax);
  const fixed = Array.from({ length: count }, () => randomFixed(random, outline));
  const onetime = random.chance(0.25) ? [randomOnetime(random, outline)] : [];
  return [...fixed.flat(), ...onetime];
}

function randomFilterValues(random: SeededRandom): UsageItem['filterValues'] {
  return random.chance(0.1) ? [{ key: 'k', values: ['a', ''] }] : [];
}

function randomUsage(random: SeededRandom, outline: Outline, meterId: string): UsageItem {
  const { subscription } = outline;
  return {
    ...randomBasis(random, outline),
    ...randomLife(random, outline, 0.7),
    type: 'USAGE',
    meterId,
    filterValues: randomFilterValues(random),
    length: random.chance(0.1) ? randomLength(random, subscription) : subscription.length,
    commitment: null,
    ...(random.chance(0.15) ? { maximum: random.pick(['1', '3', '10', '25', '100']) } : {}),
    predecessorIds: [],
  };
}

/** An item that others continue, with another price; filter values stay (docs/domain.md 27). */
function randomLineage(
  random: SeededRandom,
  outline: Outline,
  { first, handovers }: { readonly first: UsageItem; readonly handovers: readonly number[] },
): readonly UsageItem[] {
  return cutIntoSegments(first, handovers, (before) => {
    const last = before.at(-1) ?? first;
    return {
      ...last,
      ...randomBasis(random, outline),
      predecessorIds: before.map(({ id }) => id),
    };
  });
}

/**
 * Items of one meter that differ in `filter_values`; some texts belong to both of them. Others may
 * follow, on all of them at once, or on each when it comes.
 */
function randomFamily(
  random: SeededRandom,
  outline: Outline,
  first: UsageItem,
): readonly UsageItem[] {
  const values = [['a', 'B'], random.chance(0.5) ? ['b'] : ['a', 'b'], ['']];
  const members = values.slice(0, random.between(2, 3)).map((texts) => ({
    ...first,
    ...randomBasis(random, outline),
    start: first.start,
    end: first.end,
    filterValues: [{ key: 'k', values: texts }],
  }));
  if (!random.chance(outline.theme.lineage)) return members;
  const common = randomHandovers(random, outline, first);
  const isTogether = random.chance(0.7);
  return members.flatMap((member) => {
    const handovers = isTogether ? common : randomHandovers(random, outline, member);
    return cutIntoSegments(member, handovers, (before) => ({
      ...member,
      ...randomBasis(random, outline),
      predecessorIds: before.map(({ id }) => id),
    }));
  });
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
  const first = randomUsage(random, outline, meterId);
  if (random.chance(0.2) && addsUp(meter)) return randomFamily(random, outline, first);
  if (random.chance(0.15)) {
    // Another price of the same events, as an addon may bring one later.
    const { filterValues } = first;
    return [first, { ...randomUsage(random, outline, meterId), filterValues }];
  }
  if (!random.chance(outline.theme.lineage)) return [first];
  const handovers = randomHandovers(random, outline, first);
  return randomLineage(random, outline, { first, handovers });
}

/** A meter and the items that bill it. */
export function randomMetered(random: SeededRandom, outline: Outline, index: number): Metered {
  const meterId = `meter-${index}`;
  const meter = randomMeter(random, outline.subscription, outline.theme);
  return { meterId, meter, items: randomItems(random, outline, { meterId, meter }) };
}
