import { describe, expect, inject } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { billingRunner } from '../../testing/bill-environment.js';
import { setEnvironmentType } from '../../testing/set-test-clock.js';
import { CLOCKS as PATH, test } from '../../testing/clocked-test.js';
import { expectRefused, type Answer } from '../../testing/money-test.js';

const START = '2026-01-01T00:00:00.000Z';

/** A customer with 500 prepaid credits on a plan of 100 a month in advance and 10 in arrear. */
async function subscribe(api: BillingUnderTest): Promise<Answer> {
  await api.make('/v1/customers', { external_id: 'acme', name: 'Acme' });
  const wallet = { external_customer_id: 'acme', currency: 'usd' };
  const config = { allowed_price_types: ['ALL'] };
  await api.make('/v1/wallets', { ...wallet, config, initial_credits_to_load: '500' });
  const plan = await api.make('/v1/plans', { name: 'Pro' });
  const price = { entity_id: plan.id, currency: 'usd' };
  await api.make('/v1/prices', { ...price, amount: '100', invoice_cadence: 'ADVANCE' });
  await api.make('/v1/prices', { ...price, amount: '10', invoice_cadence: 'ARREAR' });
  return api.make('/v1/subscriptions', {
    external_customer_id: 'acme',
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    payment_terms: '15 NET',
  });
}

/** Everything that a year leaves behind, without ids. */
async function lifeOf(api: BillingUnderTest): Promise<Answer> {
  const sort = [{ field: 'period_start', direction: 'asc' }];
  const { items: invoices } = await api.make('/v1/invoices/search', { limit: 100, sort });
  const { items: wallets } = await api.make('/v1/wallets/search', {
    external_customer_id: 'acme',
  });
  const { items: events } = (await api.call('GET', '/v1/webhooks/events?limit=1000')).body;
  return {
    invoices: invoices.map((one: Answer) => [
      one.invoice_number,
      one.billing_reason,
      one.invoice_status,
      one.payment_status,
      one.total,
      one.amount_remaining,
      one.period_start,
      one.period_end,
      one.created_at,
      one.finalized_at,
      one.due_date,
    ]),
    wallets: wallets.map((one: Answer) => one.credit_balance),
    events: events.map((one: Answer) => [one.sequence, one.event_name, one.created_at]),
  };
}

const months = (count: number): readonly string[] =>
  Array.from({ length: count }, (_n, index) => new Date(Date.UTC(2026, index + 1)).toISOString());

const lives = new Map<string, Answer>();

/** Each step runs everything that may be due: the nights have time for three times as many. */
const SLOW = { timeout: 200_000 };
const DAYS_OF_STEP = inject('isNightly') ? 3 : 9;

/** Instants so many days apart, the last one so many days after the start. */
const everyFewDays = (days: number): readonly string[] =>
  Array.from({ length: Math.ceil(days / DAYS_OF_STEP) }, (_n, index) => {
    const day = Math.min(days, DAYS_OF_STEP * (index + 1));
    return new Date(Date.UTC(2026, 0, 1 + day)).toISOString();
  });

describe('a test clock', () => {
  test.for([
    ['one step', ['2027-01-01T00:00:00.000Z']],
    ['twelve steps', months(12)],
    ['many steps', everyFewDays(365)],
  ] as const)(
    'lives a year in %s as in any other way',
    SLOW,
    async ([name, steps], { api, advance }) => {
      const clock = await api.make(PATH, { now: START });
      await subscribe(api);
      let last: Answer = clock;
      for (const step of steps) last = await advance(clock, step);
      expect(last).toMatchObject({ status: 'ready', now: '2027-01-01T00:00:00.000Z' });
      const life = await lifeOf(api);
      lives.set(name, life);
      // Credits of 500 pay the first invoices. The last one is a draft: its delay is not over.
      expect(life.invoices.map((one: Answer) => [one[2], one[4]])).toEqual([
        ...Array.from({ length: 4 }, () => ['FINALIZED', '0.00']),
        ['FINALIZED', '40.00'],
        ...Array.from({ length: 7 }, () => ['FINALIZED', '110.00']),
        ['DRAFT', '110.00'],
      ]);
      expect(life.wallets).toEqual(['0']);
      expect(life).toEqual(lives.values().next().value);
    },
  );

  test.for([
    ['one step', ['2026-09-01T00:00:00.000Z']],
    ['many steps', everyFewDays(243)],
  ] as const)(
    'cancels what stays unpaid at one instant, in %s as in any other way',
    SLOW,
    async ([, steps], { api, advance }) => {
      const clock = await api.make(PATH, { now: START });
      const { id } = await subscribe(api);
      const value = { enabled: true, grace_period_days: 4 };
      await api.call('PUT', '/v1/settings/subscription_auto_cancel', { body: { value } });
      for (const step of steps) await advance(clock, step);
      const { subscription_status: status, cancelled_at: at } = (
        await api.call('GET', `/v1/subscriptions/${id}`)
      ).body;
      // The invoice of April is the first that credits do not pay: due 15 days after 1 May.
      expect([status, at]).toEqual(['cancelled', '2026-05-20T00:00:00.001Z']);
      const life = await lifeOf(api);
      const first = lives.get('unpaid') ?? life;
      lives.set('unpaid', first);
      expect(life).toEqual(first);
    },
  );

  test('goes on in many runs of its job, so that no number of killed processes parks a long advance', async ({
    api,
    database,
    clickhouse,
    advance: _,
  }) => {
    const { id } = await api.make(PATH, { now: START });
    await subscribe(api);
    const body = { now: '2027-12-31T00:00:00.000Z' };
    await api.call('POST', `${PATH}/${id}/advance`, { body });
    const world = { database: database.database, clickHouse: clickhouse.client };
    const runner = billingRunner({ ...world, environment: api.environment });
    await runner.runNext(Date.parse(START), new AbortController().signal);
    const after = (await api.call('GET', `${PATH}/${id}`)).body;
    expect([after.status, after.now > START, after.now < body.now]).toEqual([
      'advancing',
      true,
      true,
    ]);
  });

  test('tells what an advance has done, in order', async ({ api, advance }) => {
    const clock = await api.make(PATH, { name: 'Acme', now: START });
    expect(clock).toMatchObject({ name: 'Acme', now: START, status: 'ready', happened: [] });
    await subscribe(api);
    const after = await advance(clock, '2026-02-01T02:00:00.000Z');
    expect(after.happened.map((one: Answer) => [one.event_name, one.created_at])).toEqual([
      ['subscription.renewal.due', '2026-01-31T00:00:00.000Z'],
      ['wallet.transaction.created', '2026-02-01T02:00:00.000Z'],
      ['invoice.update.finalized', '2026-02-01T02:00:00.000Z'],
    ]);
    const none = await advance(clock, '2026-02-01T03:00:00.000Z');
    expect(none).toMatchObject({ happened: [], now: '2026-02-01T03:00:00.000Z' });
  });

  test('is the only one, and its removal gives the time of the machine back', async ({
    api,
    advance: _,
  }) => {
    const clock = await api.make(PATH, { now: START });
    const same = await api.make(PATH, { now: START });
    expect(same.id).toBe(clock.id);
    const listed = await api.call('GET', PATH);
    expect(listed.body).toEqual({ items: [clock] });
    const second = await api.call('POST', PATH, { body: { now: START, name: 'other' } });
    expect(second).toMatchObject({ status: 409, body: { code: 'already_exists' } });
    const then = await api.make('/v1/plans', { name: 'Then' });
    expect(then.created_at).toBe(START);
    expect((await api.call('DELETE', `${PATH}/${clock.id}`)).status).toBe(200);
    const now = await api.make('/v1/plans', { name: 'Now' });
    expect(now.created_at > '2026-06').toBe(true);
    expect((await api.call('GET', `${PATH}/${clock.id}`)).status).toBe(404);
    expect((await api.call('GET', PATH)).body).toEqual({ items: [] });
  });

  test('is not for production', async ({ api, database, advance: _ }) => {
    await setEnvironmentType(database.database, api.environment, 'production');
    const { status, body } = await api.call('POST', PATH, { body: { now: START } });
    expect([status, body.message]).toEqual([400, expect.stringMatching(/type production/)]);
  });

  test('goes only forward, and not too far at once', async ({ api, advance: _ }) => {
    const clock = await api.make(PATH, { now: START });
    await expectRefused(
      (body) => api.call('POST', `${PATH}/${clock.id}/advance`, { body }),
      [
        [{ now: START }, /now.*later than what the clock shows, 2026-01-01/],
        [{ now: '2028-01-05T00:00:00Z' }, /now.*at most two years/],
      ],
    );
    await api.call('POST', `${PATH}/${clock.id}/advance`, {
      body: { now: '2026-02-01T00:00:00Z' },
    });
    await expectRefused(
      (body) => api.call('POST', `${PATH}/${clock.id}/advance`, { body }),
      [[{ now: '2026-03-01T00:00:00Z' }, /is advancing/]],
    );
    const unknown = await api.call('POST', `${PATH}/clock_none/advance`, { body: { now: START } });
    expect(unknown.status).toBe(404);
  });
});
