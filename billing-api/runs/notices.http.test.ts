import { describe, expect } from 'vitest';
import { test as billedTest } from '../testing/billed-test.js';
import { expectBalancedBooks } from '../testing/check-books.js';
import type { Answer } from '../testing/money-test.js';

type World = {
  /** A subscription of 31.00 a month in advance from 1 Jan 2026, due a day later. */
  readonly subscribe: (members?: object) => Promise<Answer>;
  readonly read: (id: string) => Promise<Answer>;
  readonly post: (path: string, body: object) => Promise<Answer>;
  /** The instants of the system events of this name, with the subscription's end of period. */
  readonly told: (name: string) => Promise<readonly string[]>;
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill }, use) => {
    await bill('2026-01-01T00:00:00Z');
    await api.make('/v1/customers', { external_id: 'acme' });
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd', amount: '31' };
    await api.make('/v1/prices', { ...price, invoice_cadence: 'ADVANCE' });
    await api.make('/v1/prices', { ...price, invoice_cadence: 'ADVANCE', billing_period: 'DAILY' });
    await use({
      subscribe: (members = {}) =>
        api.make('/v1/subscriptions', {
          external_customer_id: 'acme',
          plan_id: plan.id,
          currency: 'usd',
          billing_period: 'MONTHLY',
          start_date: '2026-01-01T00:00:00Z',
          ...members,
        }),
      read: async (id) => (await api.call('GET', `/v1/subscriptions/${id}`)).body,
      post: async (path, body) => (await api.call('POST', `/v1/${path}`, { body })).body,
      told: async (name) => {
        const { items } = (await api.call('GET', '/v1/webhooks/events?limit=1000')).body;
        return items
          .filter((one: Answer) => one.event_name === name)
          .map((one: Answer) => {
            const { current_period_end: end } = one.payload.subscription;
            return `${one.created_at.slice(0, 19)} ${end.slice(0, 10)}`;
          })
          .sort();
      },
    });
    await expectBalancedBooks(api);
  },
});

const RENEWAL = 'subscription.renewal.due';

describe('the notice of a renewal (32.3)', () => {
  test('is given once per period, 24 hours before its end', async ({ bill, world }) => {
    await world.subscribe();
    await bill('2026-01-30T23:59:59.999Z');
    expect(await world.told(RENEWAL)).toEqual([]);
    await bill('2026-01-31T00:00:00Z');
    await bill('2026-01-31T12:00:00Z');
    await bill('2026-02-01T00:00:00Z');
    expect(await world.told(RENEWAL)).toEqual(['2026-01-31T00:00:00 2026-02-01']);
    await bill('2026-02-28T01:00:00Z');
    expect(await world.told(RENEWAL)).toEqual([
      '2026-01-31T00:00:00 2026-02-01',
      '2026-02-28T01:00:00 2026-03-01',
    ]);
  });

  test('is not given of a period that has ended, that is the last, or in a trial', async ({
    bill,
    world,
  }) => {
    await world.subscribe({ end_date: '2026-02-01T00:00:00Z' });
    await world.subscribe({ billing_cadence: 'ONETIME' });
    await world.subscribe({ trial_period_days: 10 });
    const { id } = await world.subscribe();
    await world.post(`subscriptions/${id}/cancel`, { cancellation_type: 'end_of_period' });
    await bill('2026-01-09T12:00:00Z');
    await bill('2026-01-31T12:00:00Z');
    await bill('2026-02-01T00:00:00Z');
    expect(await world.told(RENEWAL)).toEqual([]);
    await world.subscribe({ start_date: '2026-02-01T00:00:00Z' });
    await bill('2026-03-01T00:00:00Z');
    // The trial ended on 11 Jan, and its second period began on 11 Feb.
    expect(await world.told(RENEWAL)).toEqual([]);
  });

  test('is given once of a period that a pause has made longer, and of one of a day', async ({
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    await bill('2026-01-31T01:00:00Z');
    await world.post(`subscriptions/${id}/pause`, { pause_mode: 'immediate', pause_days: 10 });
    await bill('2026-02-10T12:00:00Z');
    const { current_period_end: end } = await world.read(id);
    expect(end).toBe('2026-02-11T00:00:00.000Z');
    expect(await world.told(RENEWAL)).toEqual(['2026-01-31T01:00:00 2026-02-01']);
    const start = '2026-02-10T18:00:00Z';
    await world.subscribe({ billing_period: 'DAILY', start_date: start });
    await bill('2026-02-10T18:30:00Z');
    await bill('2026-02-10T20:00:00Z');
    expect((await world.told(RENEWAL)).slice(1)).toEqual(['2026-02-10T18:30:00 2026-02-11']);
  });
});

describe('the cancellation of an overdue subscription (30.2)', () => {
  const setting = { value: { enabled: true, grace_period_days: 5 } };

  test('comes when the days of grace are over, once, with a final invoice', async ({
    api,
    bill,
    world,
  }) => {
    const { id, latest_invoice: opening } = await world.subscribe({ payment_terms: '15 NET' });
    const paid = await world.subscribe({ payment_terms: '15 NET' });
    await api.call('PUT', `/v1/invoices/${paid.latest_invoice.id}/payment`, {
      body: { payment_status: 'SUCCEEDED' },
    });
    await bill('2026-01-25T00:00:00Z');
    expect((await world.read(id)).subscription_status).toBe('active');
    await api.call('PUT', '/v1/settings/subscription_auto_cancel', { body: setting });
    await bill('2026-01-21T00:00:00Z');
    expect((await world.read(id)).subscription_status).toBe('active');
    await bill('2026-01-21T00:00:00.001Z');
    await bill('2026-01-21T00:00:01Z');
    const after = await world.read(id);
    expect(after).toMatchObject({
      subscription_status: 'cancelled',
      cancelled_at: '2026-01-21T00:00:00.001Z',
      end_date: '2026-01-21T00:00:00.001Z',
      metadata: {
        cancellation_type: 'immediate',
        cancellation_reason: expect.stringContaining(opening.invoice_number),
      },
    });
    expect(await world.told('subscription.cancelled')).toEqual(['2026-01-21T00:00:00 2026-01-21']);
    expect((await world.read(paid.id)).subscription_status).toBe('active');
  });

  test('is off by default, and needs an amount that is open', async ({ api, bill, world }) => {
    const { id } = await world.subscribe();
    await bill('2026-01-20T00:00:00Z');
    expect((await world.read(id)).subscription_status).toBe('active');
    const free = await world.subscribe({ trial_period_days: 10, start_date: undefined });
    await api.call('PUT', '/v1/settings/subscription_auto_cancel', { body: setting });
    await bill('2026-01-28T00:00:00Z');
    expect((await world.read(id)).subscription_status).toBe('cancelled');
    expect((await world.read(free.id)).subscription_status).toBe('trialing');
  });

  test('ends a paused subscription too', async ({ api, bill, world }) => {
    const { id } = await world.subscribe();
    await api.call('PUT', '/v1/settings/subscription_auto_cancel', { body: setting });
    await world.post(`subscriptions/${id}/pause`, { pause_mode: 'immediate' });
    await bill('2026-01-08T00:00:00Z');
    const { subscription_status: status, pause_status: pause } = await world.read(id);
    expect([status, pause]).toEqual(['cancelled', 'none']);
  });
});
