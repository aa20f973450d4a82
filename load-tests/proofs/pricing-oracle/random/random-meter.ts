import type { SeededRandom } from '../../../harness/seeded-random.js';
import { AGGREGATION_TYPES, type OracleMeter, type WindowSize } from '../../usage-oracle/meter.js';
import { exact } from '../exact.js';
import type { BillingPeriod } from '../billing-grid.js';
import type { Subscription } from '../subscription.js';
import type { Theme } from './random-theme.js';

/** Sizes of which a billing period has some hundred windows at most. */
const SIZES: Readonly<Record<BillingPeriod, readonly WindowSize[]>> = {
  DAILY: ['15MIN', '30MIN', 'HOUR', '3HOUR', '6HOUR', '12HOUR', 'DAY', 'WEEK', 'MONTH'],
  WEEKLY: ['30MIN', 'HOUR', '3HOUR', '6HOUR', '12HOUR', 'DAY', 'WEEK', 'MONTH'],
  MONTHLY: ['HOUR', '3HOUR', '6HOUR', '12HOUR', 'DAY', 'WEEK', 'MONTH'],
  QUARTERLY: ['6HOUR', '12HOUR', 'DAY', 'WEEK', 'MONTH'],
  HALF_YEARLY: ['12HOUR', 'DAY', 'WEEK', 'MONTH'],
  ANNUAL: ['DAY', 'WEEK', 'MONTH'],
};

/** Up to DAY, which time buckets ask for (docs/domain.md 11.5). */
export function isShort(size: WindowSize | null): boolean {
  return size !== null && size !== 'WEEK' && size !== 'MONTH';
}

function plainMeter(random: SeededRandom): OracleMeter {
  const type = random.pick(AGGREGATION_TYPES);
  const isMultiplied = type === 'SUM_WITH_MULTIPLIER';
  return {
    eventName: 'call',
    type,
    origin: type === 'COUNT' ? { kind: 'none' } : { kind: 'field', name: 'n' },
    multiplier: isMultiplied ? exact(random.pick(['0.3', '1', '2.5', '1000'])) : null,
    filters: random.chance(0.15) ? [{ key: 'region', values: ['eu'] }] : [],
    bucketSize: null,
    groupBy: null,
    reset: random.chance(0.2) ? 'NEVER' : 'BILLING_PERIOD',
  };
}

/**
 * In Chatham the clock goes back over 03:00 every autumn: slots of 3 hours have two stretches
 * there, and the product keeps a slot in one piece.
 */
function randomSize(
  random: SeededRandom,
  { length, zone }: Subscription,
  { longBuckets }: Theme,
): WindowSize {
  if (random.chance(longBuckets)) return random.pick(['DAY', 'WEEK', 'WEEK', 'MONTH']);
  const isMinutely = length.period === 'DAILY' && length.count === 1 && random.chance(0.1);
  const size = isMinutely ? 'MINUTE' : random.pick(SIZES[length.period]);
  return size === '3HOUR' && zone === 'Pacific/Chatham' ? '6HOUR' : size;
}

/** A meter with buckets small enough to be interesting in periods of a length. */
function bucketedMeter(
  random: SeededRandom,
  subscription: Subscription,
  theme: Theme,
): OracleMeter {
  const type = random.pick(['COUNT', 'SUM', 'MAX', 'MAX'] as const);
  return {
    ...plainMeter(random),
    type,
    origin: type === 'COUNT' ? { kind: 'none' } : { kind: 'field', name: 'n' },
    multiplier: null,
    bucketSize: randomSize(random, subscription, theme),
    groupBy: random.chance(theme.grouped) ? 'k' : null,
    pricesPeriod: type !== 'MAX' && random.chance(0.4),
    reset: 'BILLING_PERIOD',
  };
}

export function randomMeter(
  random: SeededRandom,
  subscription: Subscription,
  theme: Theme,
): OracleMeter {
  const isBucketed = random.chance(theme.bucketed);
  return isBucketed ? bucketedMeter(random, subscription, theme) : plainMeter(random);
}
