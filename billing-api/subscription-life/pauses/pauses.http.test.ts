import { describe, expect } from 'vitest';
import { test as billedTest } from '../../testing/billed-test.js';
import type { Answer } from '../../testing/money-test.js';
import { payOpen } from '../../testing/pay-open.js';

type World = {
  /** A subscription of 100.00 in advance and 31.00 in arrear, from 1 Jan 2026. */
  readonly subscribe: (members?: object) => Promise<Answer>;
  readonly read: (id: string) => Promise<Answer>;
  /** Period, reason, status and total of each invoice, oldest first. */
  readonly invoices: (id: string) => Promise<readonly string[]>;
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill }, use) => {
    await bill('2026-01-01T00:00:00Z');
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd' };
    await api.make('/v1/prices', { ...price, amount: '100', invoice_cadence: 'ADVANCE' });
    await api.make('/v1/prices', { ...price, amount: '31', invoice_cadence: 'ARREAR' });
    await api.make('/v1/customers', { external_id: 'acme' });
    const ofPlan = { external_customer_id: 'acme', plan_id: plan.id, currency: 'usd' };
    await use({
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
              one.invoice_status,
              one.total,
            ].join(' '),
          );
      },
    });
  },
});

const OPENING = '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE FINALIZED 100.00';
const at = (answer: Answer): readonly string[] => [
  answer.subscription_status,
  answer.pause_status,
  answer.current_period_end.slice(0, 10),
  answer.billing_anchor.slice(0, 10),
];

describe('a pause (26)', () => {
  test('of ten days moves the end of the period and the anchor by ten days', async ({
    api,
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    await bill('2026-01-05T00:00:00Z');
    const body = { pause_mode: 'immediate', pause_days: 10, reason: 'holidays' };
    const path = `/v1/subscriptions/${id}/pause`;
    const { body: paused } = await api.call('POST', path, { body });
    expect(paused).toMatchObject({
      subscription: { subscription_status: 'paused', pause_status: 'active' },
      pause: { pause_status: 'active', pause_end: '2026-01-15T00:00:00.000Z', reason: 'holidays' },
      billing_impact: {
        period_end_before: '2026-02-01T00:00:00.000Z',
        period_end_after: '2026-02-11T00:00:00.000Z',
        next_invoice_at: '2026-02-11T00:00:00.000Z',
      },
      dry_run: false,
    });
    expect(paused.subscription.active_pause_id).toBe(paused.pause.id);
    // Where clients of other systems look for them (docs/http.md 18).
    expect(paused).toMatchObject(paused.pause);
    await bill('2026-01-15T00:00:00Z');
    const resumed = await world.read(id);
    expect(at(resumed)).toEqual(['active', 'none', '2026-02-11', '2026-02-11']);
    expect(resumed.pauses).toMatchObject([
      { pause_status: 'completed', resumed_at: '2026-01-15T00:00:00.000Z' },
    ]);
    await bill('2026-03-11T03:00:00Z');
    expect(await world.invoices(id)).toEqual([
      OPENING,
      '2026-01-01 2026-02-11 SUBSCRIPTION_CYCLE FINALIZED 131.00',
      '2026-02-11 2026-03-11 SUBSCRIPTION_CYCLE FINALIZED 131.00',
    ]);
  });

  test('does not keep a discount that expires meanwhile, and no time is billed twice or lost', async ({
    api,
    bill,
    world,
  }) => {
    await api.make('/v1/coupons', {
      name: 'Half',
      coupon_code: 'HALF',
      type: 'percentage',
      percentage_off: '50',
      cadence: 'forever',
    });
    const { id } = await world.subscribe();
    const until = async (endDate: string) => {
      const add = [{ coupon_code: 'HALF', end_date: endDate }];
      const body = { type: 'coupon', coupon_params: { add } };
      const done = await api.call('POST', `/v1/subscriptions/${id}/modify/execute`, { body });
      expect(done.status).toBe(200);
    };
    await until('2026-02-05T00:00:00Z');
    await bill('2026-01-20T00:00:00Z');
    await api.call('POST', `/v1/subscriptions/${id}/pause`, { body: { pause_mode: 'immediate' } });
    await bill('2026-02-09T00:00:00Z');
    await api.call('POST', `/v1/subscriptions/${id}/resume`, { body: {} });
    await bill('2026-03-21T03:00:00Z');
    // January without the twenty days of the pause, whole. The coupon was in force in it alone.
    expect(await world.invoices(id)).toEqual([
      OPENING,
      '2026-01-01 2026-02-21 SUBSCRIPTION_CYCLE FINALIZED 65.50',
      '2026-02-21 2026-03-21 SUBSCRIPTION_CYCLE FINALIZED 131.00',
    ]);
  });

  test('leaves the anchor of a calendar cycle, and the short period after it is scaled', async ({
    api,
    bill,
    world,
  }) => {
    const { id } = await world.subscribe({ billing_cycle: 'calendar' });
    await bill('2026-01-05T00:00:00Z');
    await api.call('POST', `/v1/subscriptions/${id}/pause`, {
      body: { pause_mode: 'immediate' },
    });
    await bill('2026-01-15T00:00:00Z');
    const { body } = await api.call('POST', `/v1/subscriptions/${id}/resume`, { body: {} });
    expect(at(body.subscription)).toEqual(['active', 'none', '2026-02-11', '2026-02-01']);
    await bill('2026-02-11T03:00:00Z');
    // 31.00 in arrear, and 100.00 × 18 ÷ 28 for 11 Feb to 1 Mar.
    expect((await world.invoices(id))[1]).toBe(
      '2026-01-01 2026-02-11 SUBSCRIPTION_CYCLE FINALIZED 95.29',
    );
  });

  test('from the end of the period on holds the next charge in advance back', async ({
    api,
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    const { body } = await api.call('POST', `/v1/subscriptions/${id}/pause`, {
      body: { pause_mode: 'period_end', pause_days: 10 },
    });
    expect([body.subscription.subscription_status, body.subscription.pause_status]).toEqual([
      'active',
      'scheduled',
    ]);
    await bill('2026-02-01T02:00:00Z');
    expect((await world.read(id)).subscription_status).toBe('paused');
    expect(await world.invoices(id)).toEqual([
      OPENING,
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 31.00',
    ]);
    await bill('2026-02-11T00:00:00Z');
    expect(at(await world.read(id))).toEqual(['active', 'none', '2026-03-11', '2026-03-11']);
    expect((await world.invoices(id))[2]).toBe(
      '2026-02-01 2026-03-11 SUBSCRIPTION_UPDATE FINALIZED 100.00',
    );
    await bill('2026-03-11T02:00:00Z');
    expect((await world.invoices(id))[3]).toBe(
      '2026-02-01 2026-03-11 SUBSCRIPTION_CYCLE FINALIZED 131.00',
    );
  });

  test('that had ended before its period was charged is no part of what is unused of it', async ({
    api,
    bill,
    world,
  }) => {
    const { id, line_items: lines } = await world.subscribe();
    const other = await world.subscribe();
    for (const each of [id, other.id]) {
      await api.call('POST', `/v1/subscriptions/${each}/pause`, {
        body: { pause_mode: 'period_end', pause_days: 10 },
      });
    }
    // February lasts until 11 Mar, and was paid on 11 Feb: on 25 Feb half of its 28 days is left.
    await bill('2026-02-25T00:00:00Z');
    await payOpen(api);
    const ahead = lines.find((line: Answer) => line.price.invoice_cadence === 'ADVANCE');
    await api.call('PUT', `/v1/subscriptions/lineitems/${ahead.id}`, { body: { amount: '200' } });
    // 200.00 × 14 ÷ 28 less 50.00.
    expect(await world.invoices(id)).toContain('2026-02-25 2026-03-11 PRORATION FINALIZED 50.00');
    const body = { proration_behavior: 'create_prorations' };
    const cancel = (of: string, members: object) =>
      api.call('POST', `/v1/subscriptions/${of}/cancel`, { body: { ...body, ...members } });
    const { body: now } = await cancel(other.id, { cancellation_type: 'immediate' });
    expect(now.total_credit_amount).toBe('50.00');
    // Nothing is left where the period ends. The 50.00 have paid 31.00 × 14 ÷ 28 in arrear of the
    // other one, and 31.00.
    await cancel(id, { cancellation_type: 'end_of_period' });
    await bill('2026-03-12T00:00:00Z');
    expect((await world.read(id)).subscription_status).toBe('cancelled');
    const { items } = await api.make('/v1/wallets/search', {});
    expect(items.map((wallet: Answer) => wallet.credit_balance)).toEqual(['3.5']);
  });

  test('that was asked for in advance begins and ends on its days, also when caught up with', async ({
    api,
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    await api.call('POST', `/v1/subscriptions/${id}/pause`, {
      body: {
        pause_mode: 'scheduled',
        pause_start: '2026-02-05T00:00:00Z',
        pause_end: '2026-02-15T00:00:00Z',
      },
    });
    await bill('2026-03-11T03:00:00Z');
    expect(at(await world.read(id))).toEqual(['active', 'none', '2026-04-11', '2026-03-11']);
    expect(await world.invoices(id)).toEqual([
      OPENING,
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 131.00',
      '2026-02-01 2026-03-11 SUBSCRIPTION_CYCLE FINALIZED 131.00',
    ]);
  });

  test('can be looked at without being made', async ({ api, world }) => {
    const { id } = await world.subscribe();
    const before = await world.read(id);
    const body = { pause_mode: 'immediate', pause_days: 3, dry_run: true };
    const { body: looked } = await api.call('POST', `/v1/subscriptions/${id}/pause`, { body });
    expect([looked.dry_run, looked.subscription.subscription_status]).toEqual([true, 'paused']);
    expect(looked.billing_impact.period_end_after).toBe('2026-02-04T00:00:00.000Z');
    expect(await world.read(id)).toEqual(before);
  });

  test('that has not begun is cancelled by resuming, and one can be given its end', async ({
    api,
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    const post = async (path: string, body: object) =>
      (await api.call('POST', `/v1/subscriptions/${id}/${path}`, { body })).body;
    await post('pause', { pause_mode: 'period_end' });
    const cancelled = await post('resume', {});
    expect([cancelled.pause.pause_status, ...at(cancelled.subscription)]).toEqual([
      'cancelled',
      'active',
      'none',
      '2026-02-01',
      '2026-01-01',
    ]);
    await post('pause', { pause_mode: 'immediate', metadata: { a: '1' } });
    const noted = await post('resume', {
      resume_mode: 'scheduled',
      resume_at: '2026-01-08T00:00:00Z',
      metadata: { b: '2' },
    });
    expect(noted.pause).toMatchObject({
      pause_status: 'active',
      pause_end: '2026-01-08T00:00:00.000Z',
      metadata: { a: '1', b: '2' },
    });
    await bill('2026-01-08T00:00:00Z');
    expect(at(await world.read(id))).toEqual(['active', 'none', '2026-02-08', '2026-02-08']);
  });

  test('ends with its subscription, whose fees count without it', async ({ api, bill, world }) => {
    const { id } = await world.subscribe();
    await bill('2026-01-11T00:00:00Z');
    await api.call('POST', `/v1/subscriptions/${id}/pause`, { body: { pause_mode: 'immediate' } });
    await bill('2026-01-21T00:00:00Z');
    const { body } = await api.call('POST', `/v1/subscriptions/${id}/cancel`, { body: {} });
    // 31.00 × 10 ÷ 31 for the days until the pause.
    expect([body.status, body.proration_invoice.total]).toEqual(['cancelled', '10.00']);
    const after = await world.read(id);
    expect([after.pause_status, after.pauses[0].pause_status]).toEqual(['none', 'completed']);
    const ending = await world.subscribe({ end_date: '2026-02-20T00:00:00Z' });
    await api.call('POST', `/v1/subscriptions/${ending.id}/pause`, {
      body: { pause_mode: 'immediate' },
    });
    await bill('2026-03-01T03:00:00Z');
    expect((await world.read(ending.id)).subscription_status).toBe('cancelled');
  });

  test('after the instant of a price that was lowered looking back takes nothing of what is unused', async ({
    api,
    bill,
    world,
  }) => {
    const { id, line_items: lines } = await world.subscribe();
    const post = async (path: string, body: object) =>
      (await api.call('POST', `/v1/subscriptions/${id}/${path}`, { body })).body;
    await bill('2026-01-05T00:00:00Z');
    await post('pause', { pause_mode: 'immediate', pause_days: 10 });
    await bill('2026-01-20T00:00:00Z');
    await payOpen(api);
    const ahead = lines.find((line: Answer) => line.price.invoice_cadence === 'ADVANCE');
    const lowered = { amount: '50', effective_from: '2026-01-03T00:00:00Z' };
    await api.call('PUT', `/v1/subscriptions/lineitems/${ahead.id}`, { body: lowered });
    await bill('2026-01-27T00:00:00Z');
    const cancelled = await post('cancel', { proration_behavior: 'create_prorations' });
    // Of 50.00, 15 of 31 days: 48.387 less 46.77 × 15 ÷ 29, as half of 93.548 came back.
    expect(cancelled.total_credit_amount).toBe('24.20');
    const { items } = await api.make('/v1/wallets/search', {});
    const credited = items.map((wallet: Answer) => wallet.credit_balance);
    const { proration_invoice: final } = cancelled;
    // 46.77 and 24.20, less 31.00 × 16 ÷ 31 in arrear.
    expect([final.subtotal, ...credited]).toEqual(['16.00', '54.97']);
  });

  test('of a whole period that is cut by a cancellation leaves nothing to pay for that period', async ({
    api,
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    const post = (path: string, body: object) =>
      api.call('POST', `/v1/subscriptions/${id}/${path}`, { body });
    await post('pause', { pause_mode: 'period_end' });
    await bill('2026-02-05T00:00:00Z');
    const { body } = await post('cancel', { proration_behavior: 'none' });
    expect([body.status, body.proration_invoice]).toEqual(['cancelled', null]);
    await bill('2026-03-11T03:00:00Z');
    expect(await world.invoices(id)).toEqual([
      OPENING,
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 31.00',
      '2026-02-01 2026-02-05 SUBSCRIPTION_CYCLE SKIPPED 0.00',
    ]);
  });

  test('is refused where it cannot be, with the member and the remedy', async ({ api, world }) => {
    const { id } = await world.subscribe();
    const path = `/v1/subscriptions/${id}/pause`;
    for (const [body, text] of [
      [{ pause_mode: 'scheduled' }, /pause_start.*in the future/],
      [{ pause_mode: 'scheduled', pause_start: '2025-01-01T00:00:00Z' }, /pause_start/],
      [{ pause_mode: 'immediate', pause_start: '2027-01-01T00:00:00Z' }, /pause_start.*left out/],
      [{ pause_mode: 'immediate', pause_end: '2025-01-01T00:00:00Z' }, /pause_end.*later/],
      [{ pause_mode: 'immediate', pause_days: 0 }, /pause_days/],
      [
        { pause_mode: 'immediate', pause_days: 1, pause_end: '2027-01-01T00:00:00Z' },
        /pause_days.*pause_end/,
      ],
      [{ pause_mode: 'sometimes' }, /pause_mode/],
    ] as const) {
      const answer = await api.call('POST', path, { body });
      expect([body, answer.status]).toEqual([body, 400]);
      expect(answer.body.message).toMatch(text);
    }
    const none = await api.call('POST', `/v1/subscriptions/${id}/resume`, { body: {} });
    expect([none.status, none.body.message]).toEqual([400, expect.stringContaining('no pause')]);
    await api.call('POST', path, { body: { pause_mode: 'period_end' } });
    const second = await api.call('POST', path, { body: { pause_mode: 'immediate' } });
    expect([second.status, second.body.message]).toEqual([
      400,
      expect.stringContaining('resume it first'),
    ]);
    const trial = await world.subscribe({ trial_period_days: 3 });
    const refused = await api.call('POST', `/v1/subscriptions/${trial.id}/pause`, {
      body: { pause_mode: 'immediate' },
    });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringMatching(/trialing.*active/),
    ]);
    expect(
      (
        await api.call('POST', '/v1/subscriptions/subs_x/pause', {
          body: { pause_mode: 'immediate' },
        })
      ).status,
    ).toBe(404);
  });
});
