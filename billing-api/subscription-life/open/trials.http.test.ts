import { describe, expect } from 'vitest';
import { test as billedTest } from '../../testing/billed-test.js';
import type { Answer } from '../../testing/money-test.js';

type World = {
  readonly planId: string;
  /** A subscription to the plan, from 1 Jan 2026. */
  readonly subscribe: (members?: object) => Promise<Answer>;
  readonly read: (id: string) => Promise<Answer>;
  /** Reason, period, total and status of each invoice, oldest first. */
  readonly invoices: (id: string) => Promise<readonly string[]>;
};

/** A plan of 100.00 in advance with a trial of 14 days, and 5.00 in arrear. */
const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill }, use) => {
    await bill('2026-01-01T00:00:00Z');
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd' };
    const advance = { invoice_cadence: 'ADVANCE', trial_period_days: 14 };
    await api.make('/v1/prices', { ...price, amount: '100', ...advance });
    await api.make('/v1/prices', { ...price, amount: '5', invoice_cadence: 'ARREAR' });
    await api.make('/v1/customers', { external_id: 'acme' });
    const ofPlan = { external_customer_id: 'acme', plan_id: plan.id, currency: 'usd' };
    await use({
      planId: plan.id as string,
      subscribe: (members = {}) =>
        api.make('/v1/subscriptions', {
          ...ofPlan,
          billing_period: 'MONTHLY',
          start_date: '2026-01-01T00:00:00Z',
          ...members,
        }),
      read: async (id) => (await api.call('GET', `/v1/subscriptions/${id}`)).body,
      invoices: async (id) => {
        const { items } = await api.make('/v1/invoices/search', { subscription_id: id });
        return items
          .sort((a: Answer, b: Answer) => a.billing_sequence - b.billing_sequence)
          .map((one: Answer) =>
            [
              one.period_start.slice(0, 10),
              one.period_end.slice(0, 10),
              one.billing_reason,
              one.total,
              one.invoice_status,
              one.payment_status,
            ].join(' '),
          );
      },
    });
  },
});

const TRIAL_START = '2026-01-01 2026-01-15 SUBSCRIPTION_TRIAL_START 0.00 FINALIZED SUCCEEDED';
const TRIAL_END = '2026-01-15 2026-02-15 SUBSCRIPTION_TRIAL_END 100.00 FINALIZED PENDING';

describe('a trial (22.4)', () => {
  test('costs nothing, and the first period begins where it ends', async ({ bill, world }) => {
    const { id, ...made } = await world.subscribe();
    expect(made).toMatchObject({
      subscription_status: 'trialing',
      trial_start: '2026-01-01T00:00:00.000Z',
      trial_end: '2026-01-15T00:00:00.000Z',
      current_period_end: '2026-01-15T00:00:00.000Z',
    });
    expect(await world.invoices(id)).toEqual([TRIAL_START]);
    await bill('2026-01-14T23:59:59.999Z');
    expect((await world.read(id)).subscription_status).toBe('trialing');
    await bill('2026-01-15T00:00:00Z');
    await bill('2026-01-15T00:00:00Z');
    expect(await world.read(id)).toMatchObject({
      subscription_status: 'active',
      billing_anchor: '2026-01-15T00:00:00.000Z',
      current_period_start: '2026-01-15T00:00:00.000Z',
      current_period_end: '2026-02-15T00:00:00.000Z',
    });
    expect(await world.invoices(id)).toEqual([TRIAL_START, TRIAL_END]);
    await bill('2026-03-15T03:00:00Z');
    expect((await world.invoices(id)).slice(2)).toEqual([
      '2026-01-15 2026-02-15 SUBSCRIPTION_CYCLE 105.00 FINALIZED PENDING',
      '2026-02-15 2026-03-15 SUBSCRIPTION_CYCLE 105.00 FINALIZED PENDING',
    ]);
  });

  test('is so many days by the clock of its time zone, also where that changes', async ({
    api,
    bill,
    world,
  }) => {
    await bill('2026-03-01T00:00:00Z');
    const berlin = { customer_timezone: 'Europe/Berlin', trial_period_days: 30 };
    // 23:30 in Berlin. The clock is put forward on 29 March.
    const start = { start_date: '2026-03-20T22:30:00Z' };
    const made = await world.subscribe({ ...berlin, ...start });
    expect(made.trial_end).toBe('2026-04-19T21:30:00.000Z');
    const early = { subscription_status: 'draft', start_date: '2026-02-20T22:30:00Z' };
    const draft = await world.subscribe({ ...berlin, ...early });
    expect(draft.trial_end).toBe('2026-03-22T22:30:00.000Z');
    const path = `/v1/subscriptions/${draft.id}/activate`;
    const { body: activated } = await api.call('POST', path, { body: start });
    expect(activated.trial_end).toBe('2026-04-19T21:30:00.000Z');
  });

  test('is told of by the event of its end', async ({ api, bill, world }) => {
    const { id } = await world.subscribe();
    await bill('2026-01-15T00:00:00Z');
    const { body } = await api.call('GET', '/v1/webhooks/events?limit=1000');
    const own = body.items.filter((one: Answer) => one.payload.subscription?.id === id);
    expect(own.map((one: Answer) => one.event_name)).toEqual([
      'subscription.created',
      'subscription.activated',
    ]);
  });

  test('on a calendar cycle leads to a short first period, charged in full', async ({
    bill,
    world,
  }) => {
    const { id } = await world.subscribe({ billing_cycle: 'calendar' });
    await bill('2026-01-15T00:00:00Z');
    expect((await world.read(id)).billing_anchor).toBe('2026-02-01T00:00:00.000Z');
    expect((await world.invoices(id))[1]).toBe(
      '2026-01-15 2026-02-01 SUBSCRIPTION_TRIAL_END 100.00 FINALIZED PENDING',
    );
  });

  test('is as long as the request says, and prices with different ones need a word', async ({
    api,
    world,
  }) => {
    const none = await world.subscribe({ trial_period_days: 0 });
    expect([none.subscription_status, none.latest_invoice.total]).toEqual(['active', '100.00']);
    const three = await world.subscribe({ trial_period_days: 3 });
    expect(three.trial_end).toBe('2026-01-04T00:00:00.000Z');
    const price = { entity_id: world.planId, currency: 'usd', amount: '1' };
    await api.make('/v1/prices', { ...price, trial_period_days: 7 });
    const body = { external_customer_id: 'acme', plan_id: world.planId, currency: 'usd' };
    const refused = await api.call('POST', '/v1/subscriptions', {
      body: { ...body, billing_period: 'MONTHLY' },
    });
    expect([refused.status, refused.body.details]).toEqual([
      400,
      { trial_period_days: expect.stringContaining('7, 14 days') },
    ]);
  });

  test('can be cancelled at once, or at its end, and then nothing is charged', async ({
    api,
    bill,
    world,
  }) => {
    const now = await world.subscribe();
    await bill('2026-01-03T00:00:00Z');
    const cancelled = await api.call('POST', `/v1/subscriptions/${now.id}/cancel`, { body: {} });
    expect([cancelled.status, cancelled.body.proration_invoice]).toEqual([200, null]);
    const later = await world.subscribe();
    await api.call('POST', `/v1/subscriptions/${later.id}/cancel`, {
      body: { cancellation_type: 'end_of_period' },
    });
    await bill('2026-02-20T00:00:00Z');
    for (const { id } of [now, later]) {
      expect((await world.read(id)).subscription_status).toBe('cancelled');
      const charged = (await world.invoices(id)).filter((one) => !one.includes('SKIPPED'));
      expect(charged).toEqual([TRIAL_START]);
    }
  });

  test('of a draft begins when the draft is activated', async ({ api, bill, world }) => {
    const { id } = await world.subscribe({ subscription_status: 'draft' });
    const body = { start_date: '2026-02-01T00:00:00Z' };
    const { body: activated } = await api.call('POST', `/v1/subscriptions/${id}/activate`, {
      body,
    });
    expect([activated.subscription_status, activated.trial_end]).toEqual([
      'trialing',
      '2026-02-15T00:00:00.000Z',
    ]);
    await bill('2026-02-15T00:00:00Z');
    expect((await world.invoices(id))[1]).toBe(
      '2026-02-15 2026-03-15 SUBSCRIPTION_TRIAL_END 100.00 FINALIZED PENDING',
    );
  });

  test('holds the credits of the plan back until it ends', async ({ api, bill, world }) => {
    await api.make('/v1/creditgrants', {
      name: 'Welcome',
      scope: 'PLAN',
      plan_id: world.planId,
      credits: '10',
      cadence: 'ONETIME',
      expiration_type: 'NEVER',
    });
    await world.subscribe();
    await bill('2026-01-14T00:00:00Z');
    expect((await api.make('/v1/wallets/search', {})).items).toEqual([]);
    await bill('2026-01-15T00:00:00Z');
    const wallets = await api.make('/v1/wallets/search', {});
    expect(wallets.items.map((one: Answer) => one.credit_balance)).toEqual(['10']);
  });
});
