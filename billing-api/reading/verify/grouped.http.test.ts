import { describe, expect } from 'vitest';
import { test } from '../../testing/billed-test.js';
import { makeSubscription } from '../../testing/billing-test.js';
import { completeBackfills } from '../../testing/finish-partition.js';
import { generationOf } from '../../testing/meter-generation.js';
import { storeEvents, type StoredEvent } from '../../testing/write-usage-minutes.js';

const OCTOBER = { billing_cycle: 'calendar', start_date: '2026-10-01T00:00:00.000Z' };
const PERIOD = { period_start: '2026-10-01T00:00:00Z', period_end: '2026-11-01T00:00:00Z' };
const GROUPS = ['source', 'feature_id', 'properties.region'];

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Answer = any;

/** What a line says of its groups. */
const groupsOf = ({ line_items: [line] }: Answer): readonly unknown[] => [
  line.usage_analytics,
  line.usage_breakdown,
];

const queryOf = (names: readonly string[]): string =>
  names.map((name) => `group_by=${encodeURIComponent(name)}`).join('&');

const sumOf = (rows: readonly { readonly cost: string }[]): string =>
  rows.reduce((sum, { cost }) => sum + Number(cost), 0).toFixed(2);

describe('GET /invoices/{id}?group_by=', () => {
  test('splits stored lines as the preview did, and never changes', async ({
    api,
    bill,
    database,
    clickhouse,
  }) => {
    // Before this, the clock of the environment is the real one.
    await bill('2026-10-01T00:00:00.000Z');
    const { meterId, id, planId } = await makeSubscription(api, OCTOBER);
    await api.make('/v1/prices', { entity_id: planId, currency: 'usd', amount: '5' });
    const make = (name: string) =>
      api.make('/v1/features', { name, type: 'metered', meter_id: meterId });
    const feature = await make('First');
    await completeBackfills(database.database);
    const generation = await generationOf(database.database, meterId);
    const countsOn = [{ environment: api.environment, meterId, generation }];
    const store = (events: readonly Omit<StoredEvent, 'eventName'>[]) =>
      storeEvents(
        { database, clickhouse },
        api.environment,
        events.map((event) => ({ ...event, eventName: 'call', countsOn })),
      );
    const at = '2026-10-02T00:00:00.000Z';
    await store([
      { at, source: 'web', properties: { region: 'eu' } },
      { at, source: 'web', properties: { region: 'us' } },
      { at, source: 'app' },
    ]);
    const preview = await api.make('/v1/invoices/preview', {
      subscription_id: id,
      ...PERIOD,
      group_by: GROUPS,
    });
    await bill('2026-11-01T02:00:00.000Z');
    const found = await api.call('POST', '/v1/invoices/search', {
      body: { subscription_id: id, billing_reason: 'SUBSCRIPTION_CYCLE' },
    });
    const [invoice] = found.body.items;
    const path = `/v1/invoices/${invoice.id}`;
    const read = async (names: readonly string[]) =>
      (await api.call('GET', `${path}?${queryOf(names)}`)).body;
    const grouped = await read(GROUPS);
    expect(grouped.line_items[0]).toMatchObject({
      quantity: '3',
      amount: '0.75',
      usage_analytics: [
        { source: 'web', usage: '2', cost: '0.50', percentage: '66.67', event_count: 2 },
        { source: 'app', usage: '1', cost: '0.25', percentage: '33.33', event_count: 1 },
      ],
    });
    expect(groupsOf(grouped)).toEqual(groupsOf(preview));
    expect(groupsOf(grouped).map((rows) => sumOf(rows as []))).toEqual(['0.75', '0.75']);
    expect(grouped.line_items[0].usage_breakdown[0].grouped_by.feature_id).toBe(feature.id);
    // Nothing else of the answer differs, and without groups there are none.
    expect(groupsOf(await read(['source']))).toEqual([groupsOf(grouped)[0], []]);
    expect(groupsOf((await api.call('GET', path)).body)).toEqual([[], []]);

    // Late events, another definition of the meter, another price and feature change nothing.
    await store([{ at, source: 'late', properties: { region: 'eu' } }]);
    await api.call('PUT', `/v1/meters/${meterId}`, {
      body: { filters: [{ key: 'region', values: ['eu'] }] },
    });
    const [line] = invoice.line_items;
    await api.call('PUT', `/v1/prices/${line.price_id}`, { body: { amount: '9' } });
    await make('Second');
    await api.call('DELETE', `/v1/features/${feature.id}`);
    expect(await read(GROUPS)).toEqual(grouped);

    // What cannot be told is not told.
    await clickhouse.client.command("DELETE FROM events_v1 WHERE source = 'app'");
    const gone = await api.call('GET', `${path}?${queryOf(['source'])}`);
    expect([gone.status, gone.body.code]).toEqual([400, 'invalid_operation']);
    expect(gone.body.message).toMatch(/events behind the line .* have been removed/);
  });

  test('refuses what is no group, and too many of them', async ({ api }) => {
    const customer = await api.make('/v1/customers', { external_id: 'acme' });
    const invoice = await api.make('/v1/invoices', {
      customer_id: customer.id,
      currency: 'usd',
      subtotal: '1',
      total: '1',
      amount_due: '1',
      line_items: [{ display_name: 'A', amount: '1' }],
    });
    const path = `/v1/invoices/${invoice.id}`;
    // Lines that were given have no usage.
    expect((await api.call('GET', `${path}?group_by=source`)).body).toEqual(invoice);
    const many = Array.from({ length: 11 }, (_, index) => `properties.p${index}`);
    for (const names of [['region'], ['properties.'], many]) {
      const answer = await api.call('GET', `${path}?${queryOf(names)}`);
      expect([answer.status, Object.keys(answer.body.details)]).toEqual([400, ['group_by']]);
    }
    expect((await api.call('GET', '/v1/invoices/inv_0?group_by=source')).status).toBe(404);
  });
});
