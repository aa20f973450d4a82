import { describe, expect } from 'vitest';
import { test as billed } from '../testing/billed-test.js';
import { makeSubscription } from '../testing/billing-test.js';
import { correct, prepare, revert } from '../testing/correct-events.js';
import { completeBackfills } from '../testing/finish-partition.js';
import { generationOf } from '../testing/meter-generation.js';
import { storeAccepted, storeLogDuplicates } from '../testing/log-rows.js';
import { storeEvents, type StoredEvent } from '../testing/write-usage-minutes.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = any;

const OCTOBER = { billing_cycle: 'calendar', start_date: '2026-10-01T00:00:00.000Z' };

type World = Parameters<typeof correct>[0] & {
  readonly subscriptionId: string;
  readonly store: (events: readonly StoredEvent[]) => Promise<void>;
  readonly preview: (start?: string, end?: string) => Promise<Body>;
};

/** A call costs 0.25; there are four in October and none later. */
const test = billed.extend<{ world: World }>({
  world: async ({ api, database, clickhouse }, use) => {
    const { meterId, id } = await makeSubscription(api, OCTOBER);
    await completeBackfills(database.database);
    const generation = await generationOf(database.database, meterId);
    const target = { environment: api.environment, meterId, generation };
    const store = (events: readonly StoredEvent[]) =>
      storeEvents(
        { database, clickhouse },
        api.environment,
        events.map((event) => ({ ...event, countsOn: [target] })),
      );
    await store([
      { id: 'o1', at: '2026-10-05T10:00:10.000Z' },
      { id: 'o2', at: '2026-10-05T10:00:20.000Z' },
      { id: 'o3', at: '2026-10-20T00:00:00.000Z' },
      { id: 'o4', at: '2026-10-31T23:59:59.000Z' },
    ]);
    const preview = (period_start = '2026-10-01T00:00:00Z', period_end = '2026-11-01T00:00:00Z') =>
      api.make('/v1/invoices/preview', { subscription_id: id, period_start, period_end });
    const engines = { database: database.database, clickHouse: clickhouse.client };
    await use({ api, ...engines, subscriptionId: id, store, preview });
  },
});

const SAME = { same_from_inputs: true, same_from_events: true, reason: null, differences: [] };

describe('invoices of corrected events', () => {
  test('previews follow, and a finalized invoice stays as it was computed', async ({
    world,
    bill,
  }) => {
    const { api, preview, subscriptionId } = world;
    expect(await preview()).toMatchObject({ total: '1.00' });
    await bill('2026-11-01T02:00:00.000Z');
    const { body } = await api.call('POST', '/v1/invoices/search', {
      body: { subscription_id: subscriptionId, invoice_status: ['FINALIZED'] },
    });
    const [invoice] = body.items;
    expect(invoice.total).toBe('1.00');
    const events = [{ event_id: 'o1' }, { event_id: 'o4', timestamp: '2026-11-02T00:00:00Z' }];
    const ready = await prepare(world, {
      type: 'withdraw',
      events: [{ event_id: 'o1' }, { event_id: 'o3' }],
    });
    expect(ready.summary).toMatchObject({
      invoice_count: 1,
      invoices: [
        {
          invoice_id: invoice.id,
          invoice_status: 'FINALIZED',
          currency: 'usd',
          total_before: '1.00',
          total_after: '0.50',
          problem: null,
        },
      ],
    });
    const amended = await correct(world, { type: 'amend', events: events.slice(1) });
    expect(await preview()).toMatchObject({ total: '0.75' });
    const november = await preview('2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z');
    expect(november).toMatchObject({ total: '0.25' });
    const { body: verified } = await api.call('GET', `/v1/invoices/${invoice.id}/verify`);
    expect(verified).toMatchObject(SAME);
    const [line] = invoice.line_items;
    const path = `/v1/invoices/${invoice.id}/line_items/${line.id}/events`;
    const { body: stored } = await api.call('GET', path);
    expect(stored).toMatchObject({ quantity: '4', event_count: 4 });
    expect(stored.items.map((item: Body) => item.event_id)).toEqual(['o1', 'o2', 'o3', 'o4']);
    // The amendment was of another time, so the preview of the withdrawal still holds.
    await api.make(`/v1/corrections/${ready.id}/apply`, { token: ready.token });
    expect(await preview()).toMatchObject({ total: '0.25' });
    await revert(world, ready.id);
    await revert(world, amended.id);
    expect(await preview()).toMatchObject({ total: '1.00' });
  });

  test('the events of a line add up to its quantity, and the look-up tells of both', async ({
    world,
  }) => {
    const { api, subscriptionId } = world;
    const { id } = await correct(world, {
      type: 'amend',
      events: [{ event_id: 'o2', timestamp: '2026-10-06T00:00:00Z', properties: { by: 'hand' } }],
    });
    await correct(world, { type: 'withdraw', events: [{ event_id: 'o3' }] });
    const { body: subscription } = await api.call('GET', `/v1/subscriptions/${subscriptionId}`);
    const [line] = subscription.line_items;
    const { body } = await api.call(
      'GET',
      `/v1/subscriptions/lineitems/${line.id}/events?period_start=2026-10-01T00:00:00Z&period_end=2026-11-01T00:00:00Z`,
    );
    expect(body).toMatchObject({ quantity: '3', event_count: 3 });
    expect(body.items).toMatchObject([
      { event_id: 'o1', correction_id: null },
      { event_id: 'o2', timestamp: '2026-10-06T00:00:00.000Z', correction_id: id },
      { event_id: 'o4', correction_id: null },
    ]);
    const { body: amended } = await api.call('GET', '/v1/events/lookup?id=o2');
    expect(amended).toMatchObject({
      event: { id: 'o2', timestamp: '2026-10-05T10:00:20.000Z', properties: {} },
      status: 'counted',
      minute: '2026-10-06T00:00:00.000Z',
      corrections: [
        {
          correction_id: id,
          type: 'amend',
          is_in_force: true,
          effect: 'amended',
          reason: 'a test',
          timestamp: '2026-10-06T00:00:00.000Z',
          properties: { by: 'hand' },
        },
      ],
    });
    const { body: gone } = await api.call('GET', '/v1/events/lookup?id=o3');
    expect(gone).toMatchObject({
      status: 'withdrawn',
      meters: [],
      corrections: [{ effect: 'withdrawn', timestamp: null, properties: null }],
    });
    // The event itself is listed as it was sent.
    const listed = await api.make('/v1/events/query', {
      event_id: 'o3',
      start_time: '2026-10-01T00:00:00Z',
      end_time: '2026-11-01T00:00:00Z',
    });
    expect(listed.events).toMatchObject([{ id: 'o3' }]);
  });

  test('a backfill goes through the log, counts once, and is reverted as a whole', async ({
    world,
  }) => {
    const { api, preview, store } = world;
    const event = (event_id: string, timestamp: string) => ({
      event_id,
      event_name: 'call',
      external_customer_id: 'acme',
      timestamp,
    });
    const events = [
      event('b1', '2026-10-07T00:00:00Z'),
      event('b2', '2026-10-08T00:00:00.500Z'),
      event('b3', '2026-10-09T00:00:00Z'),
    ];
    const known = await prepare(world, {
      type: 'backfill',
      events: [...events, event('o1', '2026-10-09T00:00:00Z')],
    });
    expect(known).toMatchObject({ correction_status: 'failed' });
    expect(known.error).toContain('o1');
    const ready = await prepare(world, { type: 'backfill', events });
    expect(ready.summary).toMatchObject({
      events: 3,
      quantities: [{ quantity_before: '0', quantity_after: '3' }],
    });
    expect(await preview()).toMatchObject({ total: '1.00' });
    await api.make(`/v1/corrections/${ready.id}/apply`, { token: ready.token });
    const reader = await api.eventLog.reader();
    const bounds = await Promise.all([reader.bounds(0), reader.bounds(1)]);
    expect(bounds.some(({ endOffset }) => endOffset > 0)).toBe(true);
    // As the aggregator counts them; one of them had come by itself meanwhile.
    const receivedAt = ready.prepared_at;
    await store([
      { id: 'b1', at: '2026-10-07T00:00:00.000Z', receivedAt },
      { id: 'b2', at: '2026-10-08T00:00:00.500Z', receivedAt },
      { id: 'b3', at: '2026-10-09T00:00:00.000Z', receivedAt: '2026-10-09T00:00:01.000Z' },
    ]);
    expect(await preview()).toMatchObject({ total: '1.75' });
    const reverted = await revert(world, ready.id);
    expect(reverted).toMatchObject({
      correction_status: 'reverted',
      revert_reason: 'it was wrong',
    });
    expect(await preview()).toMatchObject({ total: '1.25' });
  });

  test('the books balance with withdrawn, amended and reverted events', async ({
    world,
    database,
    clickhouse,
  }) => {
    const { api, store } = world;
    await api.make('/v1/customers', { external_id: 'other' });
    const receivedAt = '2026-10-31T22:30:00.000Z';
    const at = '2026-10-10T00:00:00.000Z';
    await store(['r1', 'r2', 'r3', 'r4'].map((id) => ({ id, at, receivedAt })));
    await storeEvents({ database, clickhouse }, api.environment, [
      { id: 'r5', at, receivedAt, eventName: 'nobody-counts-it' },
      { id: 'r6', at, receivedAt, customerKey: 'e:ghost' },
      { id: 'r7', at, receivedAt, customerKey: 'e:ghost' },
    ]);
    const again = { id: 'r2', receivedAt, payload: null };
    const place = { logId: 'log', partition: 0, offset: 12 };
    await storeLogDuplicates(clickhouse.client, api.environment, [{ ...again, place }]);
    const hour = '2026-10-31T22:00:00.000Z';
    const batch = { source: 'log:0', start: 5, end: 13, hour, events: 8 };
    await storeAccepted(clickhouse.client, api.environment, batch);
    const balance = async () => {
      const query = `start_time=${hour}&end_time=2026-10-31T23:00:00Z`;
      return (await api.call('GET', `/v1/events/reconciliation?${query}`)).body.totals;
    };
    const same = { accepted: 8, duplicate: 1, pending: 0, difference: 0 };
    const before = { ...same, counted: 4, withdrawn: 0, unmatched: 3 };
    expect(await balance()).toMatchObject(before);
    const amended = [
      { event_id: 'r2', properties: { x: '1' } },
      { event_id: 'r3', external_customer_id: 'other' },
      { event_id: 'r6', external_customer_id: 'other' },
    ];
    await correct(world, { type: 'amend', events: amended });
    const counted = { ...same, counted: 5, withdrawn: 0, unmatched: 2 };
    expect(await balance()).toMatchObject(counted);
    // One that was amended, one that no meter counts, and one of nobody.
    const withdrawn = ['r2', 'r5', 'r7'].map((id) => ({ event_id: id }));
    const { id } = await correct(world, { type: 'withdraw', events: withdrawn });
    expect(await balance()).toMatchObject({ ...same, counted: 4, withdrawn: 3, unmatched: 0 });
    await revert(world, id);
    expect(await balance()).toMatchObject(counted);
  });
});
