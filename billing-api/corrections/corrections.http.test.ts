import { describe, expect } from 'vitest';
import { AGGREGATION_TYPES, type MeterAggregation } from '../../contract/aggregation.js';
import { expectRefusals } from '../testing/billing-test.js';
import { test as billed } from '../testing/billed-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { correct, prepare, revert } from '../testing/correct-events.js';
import { completeBackfills } from '../testing/finish-partition.js';
import { generationOf } from '../testing/meter-generation.js';
import { storeEvents, type StoredEvent, type UsageTarget } from '../testing/write-usage-minutes.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = any;

const OCTOBER = { start_time: '2026-10-01T00:00:00Z', end_time: '2026-11-01T00:00:00Z' };

/** Four events of acme, and one of other, whose figures are checked by hand below. */
const EVENTS: readonly StoredEvent[] = [
  { id: 'e1', at: '2026-10-05T10:00:10.000Z', properties: { v: '10', region: 'eu' } },
  { id: 'e2', at: '2026-10-05T10:00:40.000Z', properties: { v: '4', region: 'us' } },
  { id: 'e3', at: '2026-10-07T08:30:00.000Z', properties: { v: '7', region: 'eu' } },
  { id: 'e4', at: '2026-10-20T00:00:00.000Z', properties: { v: '1', region: 'us' } },
  { id: 'e5', at: '2026-10-20T00:00:30.000Z', customerKey: 'e:other', properties: { v: '100' } },
];

type Correcting = {
  readonly world: Parameters<typeof correct>[0];
  readonly meters: ReadonlyMap<string, string>;
  /** What each meter counts of a customer in October. */
  readonly usage: (customer?: string) => Promise<Readonly<Record<string, string>>>;
};

async function makeMeters(api: BillingUnderTest, database: Body) {
  const targets: UsageTarget[] = [];
  const meters = new Map<string, string>();
  for (const type of AGGREGATION_TYPES) {
    const meter = await api.make('/v1/meters', {
      name: type,
      event_name: 'call',
      aggregation: {
        type,
        ...(type === 'COUNT' ? {} : { field: 'v' }),
        ...(type === 'SUM_WITH_MULTIPLIER' ? { multiplier: '2' } : {}),
      },
    });
    meters.set(type, meter.id);
    const generation = await generationOf(database, meter.id);
    const { field, expression, multiplier, group_by: groupBy } = meter.aggregation;
    const aggregation = { type, field, expression, multiplier, groupBy } as MeterAggregation;
    targets.push({ environment: api.environment, meterId: meter.id, generation, aggregation });
  }
  return { meters, targets };
}

const test = billed.extend<{ correcting: Correcting }>({
  correcting: async ({ api, database, clickhouse }, use) => {
    await api.make('/v1/customers', { external_id: 'acme' });
    await api.make('/v1/customers', { external_id: 'other' });
    const { meters, targets } = await makeMeters(api, database.database);
    await completeBackfills(database.database);
    const events = EVENTS.map((event) => ({ ...event, countsOn: targets }));
    await storeEvents({ database, clickhouse }, api.environment, events);
    const usage = async (customer = 'acme') => {
      const { items } = await api.make('/v1/meter-usage/query', {
        meter_ids: [...meters.values()],
        external_customer_ids: [customer],
        ...OCTOBER,
      });
      const names = [...meters.keys()];
      return Object.fromEntries(
        items.map((item: Body, at: number) => [names[at], item.total_value]),
      );
    };
    const world = { api, database: database.database, clickHouse: clickhouse.client };
    await use({ world, meters, usage });
  },
});

/** 10, 4, 7 and 1 from acme. */
const AS_SENT = { COUNT: '4', SUM: '22', MAX: '10', MIN: '1', LATEST: '1', COUNT_UNIQUE: '4' };

describe('a correction of events', () => {
  test('that withdraws events counts on no meter from its application to its revert', async ({
    correcting: { world, usage, meters },
  }) => {
    expect(await usage()).toMatchObject({ ...AS_SENT, AVG: '5.5', SUM_WITH_MULTIPLIER: '44' });
    const events = [{ event_id: 'e1' }, { event_id: 'e4' }];
    const ready = await prepare(world, { type: 'withdraw', events });
    expect(ready).toMatchObject({ correction_status: 'ready', error: null, applied_at: null });
    expect(ready.summary).toMatchObject({
      events: 2,
      customers: 1,
      event_names: ['call'],
      start_time: '2026-10-05T10:00:00.000Z',
      end_time: '2026-10-20T00:01:00.000Z',
      invoices: [],
      invoice_count: 0,
    });
    const of = (type: string) =>
      ready.summary.quantities.find((one: Body) => one.meter_id === meters.get(type));
    expect(of('SUM')).toMatchObject({ quantity_before: '22', quantity_after: '11' });
    expect(of('MAX')).toMatchObject({ quantity_before: '10', quantity_after: '7' });
    // A preview changes nothing.
    expect(await usage()).toMatchObject(AS_SENT);
    await world.api.make(`/v1/corrections/${ready.id}/apply`, { token: ready.token });
    const withdrawn = { COUNT: '2', SUM: '11', MAX: '7', MIN: '4', LATEST: '7', COUNT_UNIQUE: '2' };
    expect(await usage()).toMatchObject({ ...withdrawn, AVG: '5.5', SUM_WITH_MULTIPLIER: '22' });
    expect(await usage('other')).toMatchObject({ COUNT: '1', SUM: '100' });
    const reverted = await revert(world, ready.id);
    expect(reverted).toMatchObject({
      correction_status: 'reverted',
      revert_reason: 'it was wrong',
    });
    expect(await usage()).toMatchObject({ ...AS_SENT, AVG: '5.5', SUM_WITH_MULTIPLIER: '44' });
  });

  test('that amends events counts their new values, times and customers', async ({
    correcting: { world, usage },
  }) => {
    await correct(world, {
      type: 'amend',
      events: [
        { event_id: 'e1', properties: { v: '3' } },
        { event_id: 'e3', timestamp: '2026-10-25T12:00:00Z' },
        { event_id: 'e4', external_customer_id: 'other' },
      ],
    });
    // acme: 3 and 4 on 5 October, 7 on the 25th; other: 1 and 100.
    const acme = { COUNT: '3', SUM: '14', MAX: '7', MIN: '3', LATEST: '7', COUNT_UNIQUE: '3' };
    expect(await usage()).toMatchObject(acme);
    const other = { COUNT: '2', SUM: '101', MAX: '100', MIN: '1', LATEST: '100' };
    expect(await usage('other')).toMatchObject(other);
  });

  test('by a filter takes the events that count as it says', async ({
    correcting: { world, usage },
  }) => {
    const filter = { event_name: 'call', ...OCTOBER, property_filters: { region: ['us'] } };
    const amended = await correct(world, {
      type: 'amend',
      filter: { ...filter, external_customer_id: 'acme' },
      change: { properties: { v: '20' }, remove_properties: ['region'] },
    });
    expect(amended.summary).toMatchObject({ events: 2, customers: 1 });
    expect(await usage()).toMatchObject({ COUNT: '4', SUM: '57', MAX: '20', MIN: '7' });
    // They have no region any more, so that a second correction finds none of them.
    const none = await prepare(world, { type: 'withdraw', filter });
    expect(none).toMatchObject({
      correction_status: 'failed',
      error: 'no event that counts matches the filter',
    });
  });

  test('is reverted before one that it was made of, and not behind its back', async ({
    correcting: { world, usage },
  }) => {
    const amend = (v: string) => ({
      type: 'amend',
      events: [{ event_id: 'e1', properties: { v } }],
    });
    const stale = await prepare(world, amend('1'));
    const first = await correct(world, amend('50'));
    const refused = await world.api.call('POST', `/v1/corrections/${stale.id}/apply`, {
      body: { token: stale.token },
    });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
    const second = await correct(world, { type: 'withdraw', events: [{ event_id: 'e1' }] });
    expect(await usage()).toMatchObject({ COUNT: '3', SUM: '12' });
    const early = await world.api.call('POST', `/v1/corrections/${first.id}/revert`, {
      body: { reason: 'too early' },
    });
    expect(early.status).toBe(400);
    expect(early.body.message).toContain(second.id);
    await revert(world, second.id);
    expect(await usage()).toMatchObject({ COUNT: '4', SUM: '62' });
    await revert(world, first.id);
    expect(await usage()).toMatchObject(AS_SENT);
  });

  test('is applied by the token of its preview alone, once', async ({
    correcting: { world, usage },
  }) => {
    const { api } = world;
    const ready = await prepare(world, { type: 'withdraw', events: [{ event_id: 'e2' }] });
    const path = `/v1/corrections/${ready.id}/apply`;
    await expectRefusals(api, path, [['another token', { token: 'preview_other' }, 'token']]);
    await api.make(path, { token: ready.token });
    const again = await api.call('POST', path, { body: { token: ready.token } });
    expect(again).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
    expect(await usage()).toMatchObject({ COUNT: '3', SUM: '18' });
  });
});
