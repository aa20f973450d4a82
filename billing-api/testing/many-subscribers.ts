import { createSeededRandom, type SeededRandom } from '../../load-tests/harness/seeded-random.js';
import type { Database } from '../../sql/pool.js';
import type { BillingUnderTest } from './billing-harness.js';
import { completeBackfills } from './finish-partition.js';
import { generationOf } from './meter-generation.js';
import {
  storeEvents,
  type Engines,
  type StoredEvent,
  type UsageTarget,
} from './write-usage-minutes.js';

/*
 * Many customers with a subscription each, of three plans, with usage under both of their keys,
 * entitlements, coupons and taxes.
 */

const METERS = [
  { type: 'COUNT' },
  { type: 'SUM', field: 'n' },
  { type: 'COUNT_UNIQUE', field: 'host' },
  { type: 'MAX', field: 'n', bucket_size: 'HOUR' },
  { type: 'LATEST', field: 'n' },
  { type: 'SUM', field: 'n', group_by: 'host', bucket_size: 'DAY' },
] as const;

const PRICES = [
  { amount: '0.25' },
  {
    tier_mode: 'SLAB',
    tiers: [
      { unit_amount: '1', flat_amount: '0', up_to: 10 },
      { unit_amount: '0.125', flat_amount: '2' },
    ],
  },
  { amount: '7.77', transform_quantity: { divide_by: 3 } },
] as const;

const STARTS = [
  '2026-08-05T00:00:00Z',
  '2026-09-20T10:30:15.250Z',
  '2026-10-01T00:00:00Z',
] as const;
const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu'] as const;

async function makeMeter(
  api: BillingUnderTest,
  database: Database,
  aggregation: (typeof METERS)[number],
): Promise<UsageTarget> {
  const { id } = await api.make('/v1/meters', { name: 'Calls', event_name: 'call', aggregation });
  const { type } = aggregation;
  const field = 'field' in aggregation ? aggregation.field : null;
  const groupBy = 'group_by' in aggregation ? aggregation.group_by : null;
  return {
    environment: api.environment,
    meterId: id as string,
    generation: await generationOf(database, id as string),
    aggregation: { type, field, expression: null, multiplier: null, groupBy },
  };
}

/** A plan with a fixed price, three usage prices of which one is narrowed, and an entitlement. */
async function makePlan(
  api: BillingUnderTest,
  meters: readonly UsageTarget[],
  random: SeededRandom,
): Promise<string> {
  const { id: planId } = await api.make('/v1/plans', { name: 'Pro' });
  const owned = { entity_id: planId, currency: 'usd' };
  await api.make('/v1/prices', { ...owned, type: 'FIXED', amount: '10' });
  for (const place of [0, 1, 2]) {
    const { meterId } = random.pick(meters);
    const narrowed = place === 0 ? { filter_values: { host: 'a' } } : {};
    await api.make('/v1/prices', {
      ...owned,
      meter_id: meterId,
      ...random.pick(PRICES),
      ...narrowed,
    });
    if (place !== 1) continue;
    const lookupKey = `calls-${planId}`;
    const feature = await api.make('/v1/features', {
      name: 'Calls',
      lookup_key: lookupKey,
      type: 'metered',
      meter_id: meterId,
    });
    await api.make('/v1/entitlements', {
      feature_id: feature.id,
      plan_id: planId,
      usage_limit: 3,
      usage_reset_period: 'MONTHLY',
    });
  }
  return planId as string;
}

async function makeAdjustments(api: BillingUnderTest): Promise<void> {
  const tenth = { type: 'percentage', percentage_off: '10', cadence: 'forever' };
  await api.make('/v1/coupons', { name: 'Tenth', coupon_code: 'tenth', ...tenth });
  const two = { type: 'fixed', amount_off: '2', currency: 'usd', cadence: 'forever' };
  await api.make('/v1/coupons', { name: 'Two', coupon_code: 'two', ...two });
  await api.make('/v1/taxes/rates', { name: 'VAT', code: 'vat', percentage_value: '19' });
  await api.make('/v1/taxes/rates', { name: 'Fee', code: 'fee', fixed_value: '0.35' });
  await api.make('/v1/taxes/associations', { tax_rate_code: 'vat', entity_type: 'tenant' });
}

async function subscribe(
  api: BillingUnderTest,
  number: number,
  { random, planId }: { readonly random: SeededRandom; readonly planId: string },
): Promise<Subscriber> {
  const externalId = `customer ${number}`;
  const fee = { tax_rate_code: 'fee' };
  const customer = await api.make('/v1/customers', {
    external_id: externalId,
    ...(random.chance(0.3) ? { tax_rate_overrides: [fee] } : {}),
  });
  const { id } = await api.make('/v1/subscriptions', {
    customer_id: customer.id,
    plan_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: random.pick(STARTS),
    customer_timezone: random.pick(ZONES),
    coupons: ['tenth', 'two'].filter(() => random.chance(0.4)),
  });
  return { subscriptionId: id as string, keys: [`e:${externalId}`, `i:${customer.id}`] };
}

export type Subscriber = {
  readonly subscriptionId: string;
  /** Under which its events are stored. */
  readonly keys: readonly string[];
};

function randomEvent(random: SeededRandom, { keys }: Subscriber): StoredEvent {
  const atMs = Date.parse('2026-09-05T00:00:00Z') + random.below(45 * 1_440 * 60) * 1_000;
  const host = random.pick(['a', 'b', null]);
  return {
    at: new Date(atMs + random.below(1_000)).toISOString(),
    customerKey: random.pick(keys),
    properties: {
      n: random.pick(['1', '2.5', '12', '0.333', 'none']),
      ...(host === null ? {} : { host }),
    },
  };
}

/** Makes so many subscribers, out of a seed. */
export async function makeManySubscribers(
  api: BillingUnderTest,
  engines: Engines,
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<readonly Subscriber[]> {
  const random = createSeededRandom(seed);
  const { database } = engines.database;
  await makeAdjustments(api);
  const meters: UsageTarget[] = [];
  for (const meter of METERS) meters.push(await makeMeter(api, database, meter));
  const plans: string[] = [];
  while (plans.length < 3) plans.push(await makePlan(api, meters, random));
  const subscribers: Subscriber[] = [];
  for (let number = 0; number < count; number += 1) {
    subscribers.push(await subscribe(api, number, { random, planId: random.pick(plans) }));
  }
  const events = subscribers.flatMap((subscriber) =>
    Array.from({ length: 12 }, () => randomEvent(random, subscriber)),
  );
  const countsOn = meters;
  await storeEvents(
    engines,
    api.environment,
    events.map((event) => ({ ...event, countsOn })),
  );
  await completeBackfills(database);
  return subscribers;
}
