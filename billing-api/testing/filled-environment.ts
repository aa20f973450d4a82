import { sql } from 'slonik';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import type { ClickHouse } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import { encodeEventRecord } from '../../contract/usage-event.js';
import { integerColumn } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import { API_KEY, type BillingUnderTest } from './billing-harness.js';
import { finishPartition } from './finish-partition.js';
import {
  storeAccepted,
  storeLogEvents,
  storeLogDuplicates,
  usageEventOf,
  type LogEvent,
} from './log-rows.js';
import { insertLines } from './write-usage-minutes.js';

/** The instant at which everything is made; the clock of the API must stand there. */
export const FILLED_AT = '2026-01-20T10:00:00.000Z';

const LOG_ID = 'log';
const EVENT_TIMES = ['05T08:00:10', '05T08:00:40', '12T17:30:00', '19T23:59:59'];

/** The API and the engines through which an environment is filled. */
type FillingTools = {
  readonly api: BillingUnderTest;
  readonly database: Database;
  readonly clickhouse: ClickHouse;
};

export type FilledEnvironment = {
  readonly environment: Environment;
  readonly apiKey: string;
  /** One id, or key of the client's own, for everything that a request can name. */
  readonly ids: Readonly<Record<IdKind, string>>;
  /** As `api.call`, with the key of the environment. */
  readonly call: BillingUnderTest['call'];
};

export type IdKind =
  | 'meter'
  | 'spare_meter'
  | 'feature'
  | 'plan'
  | 'price'
  | 'price_key'
  | 'price_unit'
  | 'spare_price_unit'
  | 'customer'
  | 'external_customer'
  | 'subscription'
  | 'line_item'
  | 'entitlement'
  | 'spare_entitlement'
  | 'event'
  | 'dead_letter';

type Ids = Partial<Record<IdKind, string>>;

/** Makes a record through the API. */
type Make = (path: string, body: object) => Promise<{ readonly id: string }>;

async function makeCatalog(make: Make, suffix: string): Promise<Ids> {
  const calls = { event_name: 'api.request', aggregation: { type: 'COUNT' } };
  const filters = [{ key: 'region', values: ['eu', 'us'] }];
  const meter = await make('/v1/meters', { name: 'API calls', ...calls, filters });
  const spareMeter = await make('/v1/meters', { name: 'Exports', ...calls, event_name: 'export' });
  const feature = await make('/v1/features', {
    name: 'API calls',
    lookup_key: `api-calls${suffix}`,
    type: 'metered',
    meter_id: meter.id,
    unit_singular: 'call',
    unit_plural: 'calls',
  });
  const plan = await make('/v1/plans', {
    name: 'Pro',
    description: 'For growing teams',
    lookup_key: `pro${suffix}`,
  });
  const owned = { entity_id: plan.id, currency: 'usd' };
  const priceKey = `pro-calls${suffix}`;
  const price = await make('/v1/prices', {
    ...owned,
    meter_id: meter.id,
    amount: '0.25',
    display_name: 'API calls',
    lookup_key: priceKey,
  });
  await make('/v1/prices', { ...owned, amount: '49', display_name: 'Base fee' });
  const ids = { meter: meter.id, spare_meter: spareMeter.id, feature: feature.id, plan: plan.id };
  return { ...ids, price: price.id, price_key: priceKey };
}

async function makePriceUnits(make: Make, suffix: string): Promise<Ids> {
  const terms = { symbol: 'T', base_currency: 'usd', conversion_rate: '0.01' };
  const ending = suffix.replaceAll('-', '_');
  const unit = await make('/v1/prices/units', { name: 'Tokens', code: `TOK${ending}`, ...terms });
  const spare = await make('/v1/prices/units', { name: 'Credits', code: `CR${ending}`, ...terms });
  return { price_unit: unit.id, spare_price_unit: spare.id };
}

async function makeEntitlements(make: Make, { plan, feature }: Ids, suffix: string): Promise<Ids> {
  const entitlement = await make('/v1/entitlements', {
    plan_id: plan,
    feature_id: feature,
    usage_limit: 2,
  });
  const boolean = await make('/v1/features', {
    name: 'Single sign-on',
    lookup_key: `single-sign-on${suffix}`,
    type: 'boolean',
  });
  const spare = await make('/v1/entitlements', { plan_id: plan, feature_id: boolean.id });
  return { entitlement: entitlement.id, spare_entitlement: spare.id };
}

async function makeCustomer(make: Make, suffix: string): Promise<Ids> {
  const externalId = `acme${suffix}`;
  const customer = await make('/v1/customers', {
    external_id: externalId,
    name: 'Acme Ltd',
    email: 'billing@acme.example',
    address_country: 'DE',
    timezone: 'Europe/Berlin',
  });
  return { customer: customer.id, external_customer: externalId };
}

type Place = { readonly suffix: string; readonly partition: number };

/** Where and for which customer and meter usage is stored. */
type UsagePlace = Place & { readonly environment: Environment; readonly meterId: string };

/** Events of the customer as the aggregator stores them: rows, ids and a duplicate. */
async function storeRawEvents(
  clickhouse: ClickHouse,
  { environment, suffix, partition }: UsagePlace,
): Promise<readonly LogEvent[]> {
  const externalCustomerId = `acme${suffix}`;
  const source = 'gateway';
  const events = EVENT_TIMES.map((time, index) => ({
    id: `order-104${index}${suffix}`,
    at: `2026-01-${time}.000Z`,
    name: 'api.request',
    customer: { externalCustomerId },
    source,
    properties: { region: 'eu', status: '200' },
    place: { logId: LOG_ID, partition, offset: index },
  }));
  await storeLogEvents(clickhouse, environment, events);
  const conflict = {
    id: events[0]?.id ?? '',
    receivedAt: '2026-01-05T09:15:00.020Z',
    payload: {
      event_name: 'api.request',
      external_customer_id: externalCustomerId,
      customer_id: null,
      source,
      timestamp: '2026-01-05T08:00:10.000Z',
      properties: { region: 'us', status: '200' },
    },
    place: { logId: LOG_ID, partition, offset: 10 },
  };
  await storeLogDuplicates(clickhouse, environment, [conflict]);
  return events;
}

/** The minutes that the events make, and the end of their partition. */
async function storeUsage({ clickhouse, database }: FillingTools, place: UsagePlace): Promise<Ids> {
  const { environment, suffix, partition, meterId } = place;
  const events = await storeRawEvents(clickhouse, place);
  const generation = await generationOf(database, meterId);
  const counts = new Map<string, number>();
  for (const { at } of events) {
    const minute = at.slice(0, 16);
    counts.set(minute, (counts.get(minute) ?? 0) + 1);
  }
  const minutes = [...counts].map(([minute, count]) =>
    JSON.stringify({
      tenant_id: environment.tenantId,
      environment_id: environment.environmentId,
      customer_key: `e:acme${suffix}`,
      meter_id: meterId,
      generation,
      minute: `${minute.replace('T', ' ')}:00`,
      source: 'gateway',
      group_key: '',
      event_count: count,
    }),
  );
  await insertLines(clickhouse, 'usage_minute_v1', minutes);
  await storeAccepted(clickhouse, environment, {
    source: `${LOG_ID}:${partition}`,
    start: 0,
    end: 11,
    hour: '2026-01-05T08:00:00.000Z',
    events: 2,
  });
  await finishPartition(database, { logId: LOG_ID, partition, nextOffset: 11 });
  return { event: events[0]?.id ?? '' };
}

async function generationOf(database: Database, meterId: string): Promise<number> {
  return ownerOf(database).oneFirst(sql.type(z.object({ generation: integerColumn }))`
    SELECT generation FROM meter_versions WHERE meter_id = ${meterId}`);
}

/** A record that today's decoder reads, as an older release would have given it up. */
async function storeDeadLetter(
  { clickhouse }: FillingTools,
  environment: Environment,
  { suffix, partition }: Place,
): Promise<Ids> {
  const offset = 1_041;
  const event = usageEventOf({
    id: `late-order${suffix}`,
    at: '2026-01-19T12:00:00.000Z',
    name: 'api.request',
    customer: { externalCustomerId: `acme${suffix}` },
    source: 'gateway',
    properties: { region: 'eu' },
  });
  const receivedAtMs = Date.parse('2026-01-19T12:00:01.000Z');
  const letter = {
    log_id: LOG_ID,
    log_partition: partition,
    log_offset: offset,
    reason: 'unknown_version',
    payload: encodeEventRecord({ environment, receivedAtMs, events: [event] }),
    appended_at: '2026-01-20 09:00:00.000',
  };
  await insertLines(clickhouse, 'dead_letters_v1', [JSON.stringify(letter)]);
  return { dead_letter: `${LOG_ID}:${partition}:${offset}` };
}

function withKey(api: BillingUnderTest, apiKey: string): BillingUnderTest['call'] {
  return (method, path, options = {}) =>
    api.call(method, path, { ...options, headers: { 'x-api-key': apiKey, ...options.headers } });
}

/**
 * Makes at least one row of everything that an environment can hold, through the API where it has
 * an operation for it.
 * @param place `suffix` ends every key that the client chooses; `partition` is one of its own.
 */
export async function fillEnvironment(
  tools: FillingTools,
  key: { readonly environment: Environment; readonly apiKey?: string },
  place: Place,
): Promise<FilledEnvironment> {
  const { environment, apiKey = API_KEY } = key;
  const { suffix } = place;
  const call = withKey(tools.api, apiKey);
  const make: Make = async (path, body) => {
    const answer = await call('POST', path, { body });
    if (answer.status === 201) return answer.body as { readonly id: string };
    throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  };
  const catalog = await makeCatalog(make, suffix);
  const units = await makePriceUnits(make, suffix);
  const customer = await makeCustomer(make, suffix);
  const entitlements = await makeEntitlements(make, catalog, suffix);
  const subscription = await call('POST', '/v1/subscriptions', {
    headers: { 'idempotency-key': `subscribe${suffix}` },
    body: {
      customer_id: customer.customer,
      plan_id: catalog.plan,
      currency: 'usd',
      billing_period: 'MONTHLY',
      billing_cycle: 'calendar',
      start_date: '2026-01-01T00:00:00.000Z',
      lookup_key: `contract${suffix}`,
    },
  });
  const usage = await storeUsage(tools, {
    ...place,
    environment,
    meterId: catalog.meter ?? '',
  });
  const letters = await storeDeadLetter(tools, environment, place);
  const replay = { body: { ids: [letters.dead_letter] } };
  await call('POST', '/v1/events/dead-letters/replay', replay);
  // A change of filters makes a second version of the meter and its backfill.
  const change = { filters: [{ key: 'region', values: ['eu'] }] };
  await call('PUT', `/v1/meters/${catalog.spare_meter}`, { body: change });
  const line = subscription.body.line_items.find(
    ({ price_id: priceId }: { price_id: string }) => priceId === catalog.price,
  );
  const made: Ids = { subscription: subscription.body.id, line_item: line.id };
  const ids = { ...catalog, ...units, ...customer, ...entitlements, ...made, ...usage, ...letters };
  return { environment, apiKey, ids: ids as FilledEnvironment['ids'], call };
}
