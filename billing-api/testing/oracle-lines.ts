import type { SeededRandom } from '../../load-tests/harness/seeded-random.js';
import type { Length } from '../../load-tests/proofs/pricing-oracle/billing-grid.js';
import type { OracleMeter } from '../../load-tests/proofs/usage-oracle/meter.js';
import { monthly, usageItem } from '../../load-tests/proofs/pricing-oracle/plain-subscription.js';
import type {
  Commitment,
  EntitlementSource,
  LineCommitment,
  LineItem,
  Price,
  Subscription,
  TimeBucket,
} from '../../load-tests/proofs/pricing-oracle/subscription.js';
import type { Database } from '../../sql/pool.js';
import type { BillingUnderTest } from './billing-harness.js';
import { generationOf } from './meter-generation.js';
import { drawPrice, priceBody } from './oracle-prices.js';
import type { UsageTarget } from './write-usage-minutes.js';

/*
 * Random usage lines of a plan in two forms: written down for the independent oracle, and as the
 * requests that make the same ones through the interface.
 */

export type DrawnMeter = Pick<
  OracleMeter,
  'type' | 'bucketSize' | 'groupBy' | 'reset' | 'pricesPeriod'
>;

const TYPES = [
  ...(['COUNT', 'SUM', 'MAX', 'MIN', 'AVG'] as const),
  ...(['LATEST', 'COUNT_UNIQUE', 'WEIGHTED_SUM'] as const),
];

export function randomMeter(random: SeededRandom): DrawnMeter {
  const reset = random.below(4) === 0 ? 'NEVER' : 'BILLING_PERIOD';
  if (random.below(2) === 0) {
    return { type: random.pick(TYPES), bucketSize: null, groupBy: null, reset };
  }
  const type = random.pick(['COUNT', 'SUM', 'MAX'] as const);
  return {
    type,
    bucketSize: random.pick(['30MIN', 'HOUR', 'DAY'] as const),
    groupBy: random.pick([null, 'host']),
    pricesPeriod: type !== 'MAX' && random.below(2) === 0,
    reset: 'BILLING_PERIOD',
  };
}

const randomCommitment = (random: SeededRandom): Commitment => ({
  type: random.pick(['amount', 'quantity']),
  value: random.pick(['0.5', '4', '33.33']),
  factor: random.pick(['1', '1.5', '2.25']),
  hasTrueUp: random.below(2) === 0,
});

function randomLineCommitment(
  random: SeededRandom,
  { bucketSize }: DrawnMeter,
): LineCommitment | null {
  if (random.below(3) === 0) return null;
  const isWindowed = bucketSize !== null;
  const own = randomCommitment(random);
  if (bucketSize !== 'HOUR') return { own, duration: null, isWindowed, timeBuckets: [] };
  const bucket = (id: string, start: number, end: number): TimeBucket => ({
    id,
    start,
    end,
    price: drawPrice(random),
    commitment: randomCommitment(random),
  });
  const timeBuckets = [bucket('night', 22 * 60, 3 * 60), bucket('day', 9 * 60, 17 * 60)];
  return { own: random.below(2) === 0 ? own : null, duration: null, isWindowed, timeBuckets };
}

const hourOf = (minutes: number) => ({ hour: minutes / 60 });

export function commitmentBody(
  { own, isWindowed, timeBuckets }: LineCommitment,
  currency = 'usd',
): object {
  return {
    ...(own === null
      ? {}
      : {
          [`commitment_${own.type}`]: own.value,
          commitment_overage_factor: own.factor,
          commitment_true_up_enabled: own.hasTrueUp,
        }),
    commitment_windowed: isWindowed,
    commitment_time_buckets: timeBuckets.map(({ start, end, price, commitment }) => ({
      start: hourOf(start),
      end: hourOf(end),
      commitment_type: commitment.type,
      commitment_value: commitment.value,
      overage_factor: Number(commitment.factor),
      true_up_enabled: commitment.hasTrueUp,
      price: { currency, ...priceBody(price) },
    })),
  };
}

const RESETS = [null, 'DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL', 'NEVER'] as const;

function randomEntitlement(random: SeededRandom): EntitlementSource | null {
  if (random.below(2) === 0) return null;
  return {
    id: 'entitlement',
    createdAt: 0,
    scope: 'PLAN',
    parentId: null,
    isEnabled: true,
    limit: random.pick([null, '0', '3', '12', '40']),
    reset: random.pick(RESETS),
    start: null,
    end: null,
    associations: [],
  };
}

/** One line of the world, as both sides are told. */
export type DrawnLine = {
  readonly meter: DrawnMeter;
  readonly price: Price;
  readonly narrowed: boolean;
  readonly commitment: LineCommitment | null;
  readonly entitlement: EntitlementSource | null;
};

/** As many lines as a plan of the tests has; none has a commitment where the subscription has. */
export function drawLines(random: SeededRandom, mayCommit: boolean): readonly DrawnLine[] {
  return Array.from({ length: 3 }, (): DrawnLine => {
    const meter = randomMeter(random);
    return {
      meter,
      price: drawPrice(random),
      narrowed: random.below(4) === 0,
      commitment: mayCommit ? randomLineCommitment(random, meter) : null,
      entitlement: randomEntitlement(random),
    };
  });
}

const originOf = ({ type }: DrawnMeter): OracleMeter['origin'] =>
  type === 'COUNT' ? { kind: 'none' } : { kind: 'field', name: 'n' };

/** For the oracle: the items of the lines, named by their index, and their meters. */
export function linesWrittenDown(
  lines: readonly DrawnLine[],
  start: number,
  length: Length = monthly,
): Pick<Subscription, 'meters'> & { readonly items: readonly LineItem[] } {
  return {
    items: lines.map((line, index) =>
      usageItem(`item${index}`, {
        createdAt: index,
        start,
        price: line.price,
        meterId: `meter${index}`,
        filterValues: line.narrowed ? [{ key: 'host', values: ['a'] }] : [],
        length,
        commitment: line.commitment,
      }),
    ),
    meters: new Map(
      lines.map(({ meter }, index): [string, OracleMeter] => [
        `meter${index}`,
        { ...meter, eventName: 'call', origin: originOf(meter), multiplier: null, filters: [] },
      ]),
    ),
  };
}

async function makeTarget(
  api: BillingUnderTest,
  database: Database,
  { type, bucketSize, groupBy, reset, pricesPeriod = false }: DrawnMeter,
): Promise<UsageTarget> {
  const field = type === 'COUNT' ? undefined : 'n';
  const { id } = await api.make('/v1/meters', {
    name: 'Calls',
    event_name: 'call',
    aggregation: {
      type,
      field,
      bucket_size: bucketSize,
      group_by: groupBy,
      ...(bucketSize === null ? {} : { bucket_pricing: pricesPeriod ? 'period' : 'bucket' }),
    },
    reset_usage: reset,
  });
  const generation = await generationOf(database, id);
  const aggregation = { type, field: field ?? null, expression: null, multiplier: null, groupBy };
  return { environment: api.environment, meterId: id, generation, aggregation };
}

export type MadeLine = {
  readonly priceId: string;
  readonly featureId: string | null;
  /** Where events are counted. */
  readonly target: UsageTarget;
};

/** The plan of a line, and what its price has in common with the others of the plan. */
type PlanOfLine = {
  readonly planId: string;
  readonly line: DrawnLine;
  readonly terms?: { readonly currency: string; readonly billing_period: string };
};

/** Makes the line's meter, price and entitlement. */
export async function makeDrawnLine(
  api: BillingUnderTest,
  database: Database,
  { planId, line, terms = { currency: 'usd', billing_period: 'MONTHLY' } }: PlanOfLine,
): Promise<MadeLine> {
  const target = await makeTarget(api, database, line.meter);
  const price = await api.make('/v1/prices', {
    entity_id: planId,
    meter_id: target.meterId,
    ...terms,
    ...priceBody(line.price),
    ...(line.narrowed ? { filter_values: { host: 'a' } } : {}),
  });
  const { entitlement } = line;
  let featureId: string | null = null;
  if (entitlement !== null) {
    const metered = { type: 'metered', meter_id: target.meterId };
    const lookupKey = `feature-${target.meterId}`;
    const feature = await api.make('/v1/features', {
      name: 'Calls',
      lookup_key: lookupKey,
      ...metered,
    });
    featureId = feature.id as string;
    await api.make('/v1/entitlements', {
      feature_id: featureId,
      plan_id: planId,
      usage_limit: entitlement.limit === null ? undefined : Number(entitlement.limit),
      usage_reset_period: entitlement.reset,
    });
  }
  return { priceId: price.id as string, featureId, target };
}
