import type { SeededRandom } from '../../../harness/seeded-random.js';
import { monthsOf, type BillingPeriod, type Length } from '../billing-grid.js';
import type { OracleMeter, WindowSize } from '../../usage-oracle/meter.js';
import { SLOT_MINUTES } from '../../usage-oracle/windows.js';
import type { Commitment, LineCommitment, TimeBucket } from '../subscription.js';
import { isShort } from './random-meter.js';
import { randomFactor, randomPositive } from './random-numbers.js';
import { randomPrice } from './random-price.js';
import type { Theme } from './random-theme.js';

/** `near`: amounts that the usage comes close to, so that it meets the commitment now and then. */
function randomCommitment(random: SeededRandom, near: readonly string[]): Commitment {
  const isNear = near.length > 0 && random.chance(0.5);
  const type = isNear ? 'amount' : random.pick(['amount', 'quantity'] as const);
  return {
    type,
    value: isNear ? random.pick(near) : randomPositive(random),
    factor: randomFactor(random),
    hasTrueUp: random.chance(0.6),
  };
}

/**
 * Durations that are equal to the billing period or a whole multiple of it (docs/domain.md 11.2).
 */
function durationsOf(length: Length): readonly BillingPeriod[] {
  const months = monthsOf(length);
  if (months === null) return length.count === 1 ? [length.period] : [];
  const all: readonly BillingPeriod[] = ['MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL'];
  return all.filter((period) => (monthsOf({ period, count: 1 }) ?? 0) % months === 0);
}

export function randomDuration(
  random: SeededRandom,
  length: Length,
  { longer }: Theme,
): BillingPeriod | null {
  const durations = durationsOf(length);
  return durations.length > 0 && random.chance(longer) ? random.pick(durations) : null;
}

function boundariesFrom(random: SeededRandom, stepMinutes: number): readonly number[] {
  const slots = 1440 / stepMinutes;
  const chosen = new Set<number>();
  const count = Math.min(slots, random.pick([2, 2, 3, 4]));
  while (chosen.size < count) chosen.add(random.below(slots) * stepMinutes);
  return [...chosen].sort((left, right) => left - right);
}

/** Buckets between chosen times of the day, some left out as gaps, the last one past midnight. */
function randomTimeBuckets(
  random: SeededRandom,
  size: WindowSize,
  near: readonly string[],
): readonly TimeBucket[] {
  // The boundaries of time buckets are those of slots (docs/domain.md 11.5).
  const step = SLOT_MINUTES[size];
  const boundaries = step === undefined ? [0, 1440] : boundariesFrom(random, step);
  return boundaries.flatMap((start, index) => {
    const end = boundaries[index + 1] ?? boundaries[0] ?? 0;
    if (start === end || start === 1440 || (index > 0 && random.chance(0.3))) return [];
    const isMidnight = end === 0;
    return [
      {
        id: `bucket-${index}`,
        start,
        end: isMidnight ? 1440 : end,
        price: randomPrice(random),
        commitment: randomCommitment(random, near),
      },
    ];
  });
}

export type CommittedLine = {
  readonly meter: OracleMeter;
  readonly length: Length;
  readonly theme: Theme;
};

export function randomLineCommitment(
  random: SeededRandom,
  { meter, length, theme }: CommittedLine,
  near: readonly string[],
): LineCommitment {
  const own = randomCommitment(random, near);
  const { bucketSize } = meter;
  if (bucketSize === null || !random.chance(theme.windowed)) {
    const duration = randomDuration(random, length, theme);
    return { own, duration, isWindowed: false, timeBuckets: [] };
  }
  const hasTimes = isShort(bucketSize) && random.chance(0.6);
  const timeBuckets = hasTimes ? randomTimeBuckets(random, bucketSize, near) : [];
  const isOwnLeftOut = timeBuckets.length > 0 && random.chance(0.5);
  return { own: isOwnLeftOut ? null : own, duration: null, isWindowed: true, timeBuckets };
}
