import type { AggregationType } from '../../contract/aggregation.js';
import type { Database } from '../../sql/pool.js';
import type { BillingUnderTest } from './billing-harness.js';
import {
  storeEvents,
  storeUnfinished,
  type Engines,
  type StoredEvent,
  type UsageTarget,
} from './write-usage-minutes.js';
import { generationOf } from './meter-generation.js';

/** A meter of the event `call`, as POST /meters takes it and as usage rows are made with it. */
export type MeterOptions = {
  readonly type: AggregationType;
  readonly field?: string;
  readonly groupBy?: string;
  readonly bucketSize?: string;
  readonly resetUsage?: 'BILLING_PERIOD' | 'NEVER';
  readonly filters?: readonly { readonly key: string; readonly values: readonly string[] }[];
};

async function makeMeter(
  api: BillingUnderTest,
  database: Database,
  options: MeterOptions,
): Promise<UsageTarget> {
  const { type, field, groupBy, bucketSize, resetUsage, filters } = options;
  const { id } = await api.make('/v1/meters', {
    name: 'Calls',
    event_name: 'call',
    aggregation: {
      type,
      field,
      group_by: groupBy,
      bucket_size: bucketSize,
      // Tests of buckets are about their prices.
      bucket_pricing: bucketSize === undefined ? undefined : 'bucket',
    },
    reset_usage: resetUsage,
    filters,
  });
  const generation = await generationOf(database, id);
  const aggregation = {
    type,
    field: field ?? null,
    expression: null,
    multiplier: null,
    groupBy: groupBy ?? null,
  };
  return { environment: api.environment, meterId: id, generation, aggregation };
}

export type PricedPlan = {
  readonly planId: string;
  readonly meterId: string;
  readonly priceId: string;
  readonly target: UsageTarget;
  /** Stores events of the customer `acme` that the meter has counted. */
  readonly count: (events: readonly StoredEvent[]) => Promise<void>;
  /** The same, of a batch that is intended and not finished. */
  readonly countUnfinished: (events: readonly StoredEvent[]) => Promise<void>;
  /** Subscribes the customer `acme`; the id of the subscription. */
  readonly subscribe: (members?: object) => Promise<string>;
};

/** A plan with one usage price of one meter, and the customer `acme`. */
export async function makePricedPlan(
  api: BillingUnderTest,
  { database, clickhouse }: Engines,
  options: { readonly meter: MeterOptions; readonly price: object },
): Promise<PricedPlan> {
  const target = await makeMeter(api, database.database, options.meter);
  const { meterId } = target;
  const plan = await api.make('/v1/plans', { name: 'Pro' });
  const owner = { entity_id: plan.id, meter_id: meterId };
  const price = await api.make('/v1/prices', { currency: 'usd', ...owner, ...options.price });
  await api.call('POST', '/v1/customers', { body: { external_id: 'acme' } });
  const counted = (events: readonly StoredEvent[]) =>
    events.map((event) => ({ ...event, countsOn: [target] }));
  const engines = { database, clickhouse };
  return {
    planId: plan.id,
    meterId,
    priceId: price.id,
    target,
    count: (events) => storeEvents(engines, api.environment, counted(events)),
    countUnfinished: (events) => storeUnfinished(engines, api.environment, counted(events)),
    subscribe: async (members = {}) => {
      const subscription = await api.make('/v1/subscriptions', {
        external_customer_id: 'acme',
        plan_id: plan.id,
        currency: 'usd',
        billing_period: 'MONTHLY',
        start_date: '2026-10-01T00:00:00Z',
        ...members,
      });
      return subscription.id as string;
    },
  };
}

/** Events with the number `n`, at instants of October 2026. */
export function numbersAt(
  ...pairs: readonly (readonly [at: string, n: string])[]
): readonly StoredEvent[] {
  return pairs.map(([at, n]) => ({ at: `2026-10-${at}Z`, properties: { n } }));
}
