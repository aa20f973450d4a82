import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import { test as billedTest } from '../../testing/billed-test.js';
import { expectRefused, type Answer } from '../../testing/money-test.js';
import { makePricedPlan } from '../../testing/priced-plan.js';
import { setTestClock } from '../../testing/set-test-clock.js';
import { payOpen } from '../../testing/pay-open.js';

const START = '2026-01-01T00:00:00.000Z';
const HALF = '2026-01-16T00:00:00.000Z';

type World = {
  /** A plan with one monthly price in advance, or with others. */
  readonly plan: (name: string, ...prices: object[]) => Promise<Answer>;
  /** A subscription of `acme` from 1 January on. */
  readonly subscribe: (plan: Answer, members?: object) => Promise<Answer>;
  readonly call: (subscription: Answer, what: string, body: object) => Promise<Answer>;
  /** Turns the clock without doing what is due. */
  readonly at: (instant: string) => Promise<void>;
  readonly invoices: (subscription: Answer) => Promise<Answer>;
  readonly wallets: () => Promise<Answer>;
};

const ARREAR = { invoice_cadence: 'ARREAR' };

const advance = (amount: string, members: object = {}) => ({
  amount,
  currency: 'usd',
  invoice_cadence: 'ADVANCE',
  ...members,
});

/** A change to a plan, to whole periods from now on unless it says otherwise. */
const changeTo = (plan: Answer, members: object = {}) => ({
  target_plan_id: plan.id,
  billing_cadence: 'RECURRING',
  billing_cycle: 'anniversary',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  proration_behavior: 'create_prorations',
  ...members,
});

async function planOf(api: BillingUnderTest, name: string, prices: readonly object[]) {
  const plan = await api.make('/v1/plans', { name });
  for (const price of prices) await api.make('/v1/prices', { entity_id: plan.id, ...price });
  return plan;
}

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, database }, use) => {
    await api.make('/v1/customers', { external_id: 'acme', name: 'Acme' });
    const at = async (instant: string) => {
      await setTestClock(database.database, api.environment, Date.parse(instant));
    };
    await at(START);
    await use({
      at,
      plan: (name, ...prices) => planOf(api, name, prices),
      subscribe: async (plan, members = {}) => {
        const made = await api.make('/v1/subscriptions', {
          external_customer_id: 'acme',
          plan_id: plan.id,
          currency: 'usd',
          billing_period: 'MONTHLY',
          start_date: START,
          ...members,
        });
        await payOpen(api);
        return made;
      },
      call: ({ id }, what, body) =>
        api.call('POST', `/v1/subscriptions/${id}/change/${what}`, { body }),
      invoices: async ({ id }) => {
        const sort = [{ field: 'billing_sequence', direction: 'asc' }];
        const { items } = await api.make('/v1/invoices/search', { subscription_id: id, sort });
        return items.map((one: Answer) => [one.billing_reason, one.invoice_status, one.total]);
      },
      wallets: async () => {
        const { items } = await api.make('/v1/wallets/search', { external_customer_id: 'acme' });
        return items.map((one: Answer) => [one.wallet_type, one.credit_balance]);
      },
    });
    await expectBalancedBooks(api);
  },
});

describe('a change of plan', () => {
  test.for([
    ['upgrade', '100', '200', 'anniversary', ['51.61', '200.00', '148.39'], '148.39', []],
    ['upgrade', '100', '200', 'calendar', ['51.61', '103.23', '51.62'], '51.62', []],
    [
      ...(['downgrade', '300', '50', 'anniversary', ['154.84', '50.00', '-104.84']] as const),
      ...(['0.00', [['PRE_PAID', '104.84']]] as const),
    ],
    ['lateral', '100', '100', 'anniversary', ['51.61', '100.00', '48.39'], '48.39', []],
  ] as const)(
    'that is an %s, from %s to %s, %s, sets off what is unused',
    async ([type, from, to, cycle, [credit, charge, net], total, wallets], { world }) => {
      const subscription = await world.subscribe(await world.plan('Old', advance(from)));
      const target = await world.plan('New', advance(to));
      await world.at(HALF);
      const body = changeTo(target, { billing_cycle: cycle });
      const details = { credit_amount: credit, charge_amount: charge, net_amount: net };
      const preview = await world.call(subscription, 'preview', body);
      const end = cycle === 'calendar' ? '2026-02-01T00:00:00.000Z' : '2026-02-16T00:00:00.000Z';
      expect(preview.body).toMatchObject({
        change_type: type,
        effective_date: HALF,
        proration_details: { ...details, days_used: 15, days_remaining: 16 },
        next_invoice_preview: { total },
        new_billing_cycle: { period_start: HALF, period_end: end },
      });
      // Nothing of the preview is stored.
      expect(await world.invoices(subscription)).toHaveLength(1);
      expect(await world.wallets()).toEqual([]);
      const { preview_token: token } = preview.body;
      await world.at('2026-01-16T00:10:00.000Z');
      const done = await world.call(subscription, 'execute', { ...body, preview_token: token });
      expect(done.body).toMatchObject({
        is_scheduled: false,
        change_type: type,
        effective_date: HALF,
        old_subscription: { id: subscription.id, status: 'cancelled', current_period_end: HALF },
        new_subscription: { status: 'active', plan_id: target.id, current_period_end: end },
        invoice: { billing_reason: 'SUBSCRIPTION_UPDATE', invoice_status: 'FINALIZED', total },
        proration_applied: details,
      });
      expect(await world.wallets()).toEqual(wallets);
    },
  );

  test('of a trialing subscription ends the trial, and charges nothing of the old plan', async ({
    api,
    world,
  }) => {
    const old = await world.plan('Old', advance('100'), advance('31', ARREAR));
    const subscription = await world.subscribe(old, { trial_period_days: 20 });
    const target = await world.plan('New', advance('200', { trial_period_days: 14 }));
    await world.at(HALF);
    const preview = await world.call(subscription, 'preview', changeTo(target));
    expect(preview.body.proration_details).toMatchObject({
      credit_amount: '0.00',
      charge_amount: '200.00',
    });
    const { status, body } = await world.call(subscription, 'execute', {
      ...changeTo(target),
      preview_token: preview.body.preview_token,
    });
    expect([status, body.invoice.total, body.new_subscription.status]).toEqual([
      200,
      '200.00',
      'active',
    ]);
    expect(await world.invoices(subscription)).toEqual([
      ['SUBSCRIPTION_TRIAL_START', 'FINALIZED', '0.00'],
    ]);
    const before = (await api.call('GET', `/v1/subscriptions/${subscription.id}`)).body;
    expect([before.subscription_status, before.trial_end, before.end_date]).toEqual([
      'cancelled',
      HALF,
      HALF,
    ]);
  });

  test('of a trialing subscription at the end of its period is made where the trial ends', async ({
    api,
    bill,
    world,
  }) => {
    const subscription = await world.subscribe(await world.plan('Old', advance('100')), {
      trial_period_days: 15,
    });
    const target = await world.plan('New', advance('200'));
    const body = changeTo(target, { change_at: 'end_of_period' });
    const done = await world.call(subscription, 'execute', body);
    expect([done.body.is_scheduled, done.body.scheduled_at]).toEqual([true, HALF]);
    const moved = await api.call('POST', `/v1/subscriptions/${subscription.id}/modify/execute`, {
      body: { type: 'trial_end', trial_end_params: { action: 'immediate' } },
    });
    expect([moved.status, moved.body.message]).toEqual([
      400,
      expect.stringContaining('cancel it first'),
    ]);
    await bill('2026-01-16T02:00:00Z');
    expect(await world.invoices(subscription)).toEqual([
      ['SUBSCRIPTION_TRIAL_START', 'FINALIZED', '0.00'],
    ]);
    const { items } = await api.make('/v1/subscriptions/search', { plan_id: target.id });
    expect(items).toMatchObject([{ subscription_status: 'active', start_date: HALF }]);
    expect(await world.invoices(items[0])).toEqual([
      ['SUBSCRIPTION_UPDATE', 'FINALIZED', '200.00'],
    ]);
  });

  test('shows the credit as a line that can be explained and verified', async ({ api, world }) => {
    const subscription = await world.subscribe(await world.plan('Old', advance('100')));
    const target = await world.plan('New', advance('200'));
    await world.at(HALF);
    const { body } = await world.call(subscription, 'execute', changeTo(target));
    const { invoice, old_subscription: old, new_subscription: young } = body;
    expect(invoice.line_items).toMatchObject([
      { display_name: 'New', amount: '200.00', period_start: HALF },
      {
        display_name: 'Unused time of Old',
        amount: '-51.61',
        period_start: HALF,
        period_end: '2026-02-01T00:00:00.000Z',
        metadata: { is_proration_credit: true, credit_amount: '51.61' },
      },
    ]);
    const verified = await api.call('GET', `/v1/invoices/${invoice.id}/verify`);
    expect(verified.body).toMatchObject({ same_from_inputs: true, differences: [] });
    expect((await api.call('GET', `/v1/subscriptions/${old.id}`)).body).toMatchObject({
      status: 'archived',
      subscription_status: 'cancelled',
    });
    const { items } = (await api.call('GET', '/v1/webhooks/events?limit=1000')).body;
    const told = items.filter(({ event_name: name }: Answer) => name.startsWith('subscription.'));
    expect(told.map((one: Answer) => [one.event_name, one.entity_id])).toEqual([
      ['subscription.created', old.id],
      ['subscription.cancelled', old.id],
      ['subscription.created', young.id],
      ['subscription.plan_changed', young.id],
    ]);
  });

  test('bills the new plan from then on, and the old one never again', async ({ bill, world }) => {
    const old = await world.subscribe(
      await world.plan('Old', advance('100'), {
        amount: '31',
        currency: 'usd',
        invoice_cadence: 'ARREAR',
      }),
    );
    const target = await world.plan('New', advance('200'));
    await world.at(HALF);
    const { body } = await world.call(old, 'execute', changeTo(target));
    await bill('2026-03-01T00:00:00.000Z');
    expect(await world.invoices(old)).toEqual([
      ['SUBSCRIPTION_CREATE', 'FINALIZED', '100.00'],
      // 31 × 15 ÷ 31 days.
      ['SUBSCRIPTION_CYCLE', 'FINALIZED', '15.00'],
    ]);
    expect(await world.invoices(body.new_subscription)).toEqual([
      ['SUBSCRIPTION_UPDATE', 'FINALIZED', '148.39'],
      ['SUBSCRIPTION_CYCLE', 'FINALIZED', '200.00'],
    ]);
  });

  test('there and back at one instant costs nothing', async ({ api, world }) => {
    const plans = [
      await world.plan('Old', advance('100')),
      await world.plan('New', advance('200')),
    ] as const;
    const first = await world.subscribe(plans[0]);
    await world.at(HALF);
    const calendar = { billing_cycle: 'calendar' };
    const there = await world.call(first, 'execute', changeTo(plans[1], calendar));
    await payOpen(api);
    const second = there.body.new_subscription;
    const back = await world.call(second, 'execute', changeTo(plans[0], calendar));
    // 103.23 are credited and 51.61 charged, so that the 51.62 of the way there come back.
    expect(there.body.invoice.total).toBe('51.62');
    expect(back.body.proration_applied).toMatchObject({ net_amount: '-51.62' });
    expect(await world.wallets()).toEqual([['PRE_PAID', '51.62']]);
  });

  test('to a plan without advance charges sets the credit off on the final invoice', async ({
    world,
  }) => {
    const arrear = { amount: '310', currency: 'usd', invoice_cadence: 'ARREAR' };
    const old = await world.subscribe(await world.plan('Old', advance('100'), arrear));
    const target = await world.plan('New', arrear);
    await world.at(HALF);
    const { body } = await world.call(old, 'execute', changeTo(target));
    // 310 × 15 ÷ 31 = 150, less 51.61.
    expect(body).toMatchObject({
      invoice: { billing_reason: 'SUBSCRIPTION_CYCLE', total: '98.39' },
      proration_applied: { credit_amount: '51.61', charge_amount: '0.00', net_amount: '-51.61' },
    });
    expect(await world.invoices(body.new_subscription)).toEqual([]);
    expect(await world.wallets()).toEqual([]);
  });

  test('adds what is left of an allowance to the first one of the new plan', async ({
    api,
    database,
    clickhouse,
    world,
  }) => {
    const terms = { meter: { type: 'COUNT' }, price: { amount: '1' } } as const;
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    const feature = await api.make('/v1/features', {
      name: 'Calls',
      type: 'metered',
      meter_id: plan.meterId,
    });
    const target = await world.plan('New', {
      amount: '1',
      currency: 'usd',
      meter_id: plan.meterId,
    });
    const entitle = (plan_id: string, usage_limit: number) =>
      api.make('/v1/entitlements', { feature_id: feature.id, plan_id, usage_limit });
    await entitle(plan.planId, 10);
    await entitle(target.id, 5);
    const old = await world.subscribe({ id: plan.planId });
    await plan.count(['02', '03', '04'].map((day) => ({ at: `2026-01-${day}T10:00:00.000Z` })));
    await world.at(HALF);
    const { body } = await world.call(old, 'execute', changeTo(target));
    const limitIn = async (at: string) => {
      const { id } = body.new_subscription;
      const { body: found } = await api.call('POST', '/v1/invoices/preview', {
        body: { subscription_id: id, period_start: HALF, period_end: at, explain: true },
      });
      return found.line_items[0]?.explanation?.quantity.allowance.limit;
    };
    // 10 − 3 are left, and 5 are added.
    expect(await limitIn('2026-02-16T00:00:00.000Z')).toBe('12');
  });

  test('without prorations credits nothing and charges a whole period', async ({ world }) => {
    const old = await world.subscribe(await world.plan('Old', advance('100')));
    const target = await world.plan('New', advance('200'));
    await world.at(HALF);
    const members = { proration_behavior: 'none', billing_cycle: 'calendar' };
    const { body } = await world.call(old, 'execute', changeTo(target, members));
    expect(body).toMatchObject({
      invoice: { total: '200.00' },
      proration_applied: { credit_amount: '0.00', charge_amount: '200.00' },
    });
  });

  test.for([
    // The draft charges all of February, and 31.00 for January.
    ['none', 'anniversary', '131.00', '200.00'],
    ['none', 'calendar', '131.00', '200.00'],
    // 100.00 × 1 ÷ 672 hours of it; 200.00 × 671 ÷ 672 of the short period.
    ['create_prorations', 'anniversary', '31.15', '200.00'],
    ['create_prorations', 'calendar', '31.15', '199.70'],
  ] as const)(
    'with %s, %s, while the draft that charges the running period waits',
    async ([behavior, cycle, draft, opening], { bill, world }) => {
      const plan = await world.plan('Old', advance('100'), advance('31', ARREAR));
      const old = await world.subscribe(plan);
      const target = await world.plan('New', advance('200'));
      await bill('2026-02-01T00:30:00.000Z');
      await world.at('2026-02-01T01:00:00.000Z');
      const members = { proration_behavior: behavior, billing_cycle: cycle };
      const { status, body } = await world.call(old, 'execute', changeTo(target, members));
      expect([status, body.proration_applied.credit_amount]).toEqual([200, '0.00']);
      await bill('2026-02-01T03:00:00.000Z');
      expect(await world.invoices(old)).toEqual([
        ['SUBSCRIPTION_CREATE', 'FINALIZED', '100.00'],
        ['SUBSCRIPTION_CYCLE', 'FINALIZED', draft],
        // 31.00 × 1 ÷ 672 hours of February.
        ['SUBSCRIPTION_CYCLE', 'FINALIZED', '0.05'],
      ]);
      expect(await world.invoices(body.new_subscription)).toEqual([
        ['SUBSCRIPTION_UPDATE', 'FINALIZED', opening],
      ]);
      expect(await world.wallets()).toEqual([]);
    },
  );

  test('gives the credit back when the invoice that took it off is voided', async ({
    api,
    world,
  }) => {
    const old = await world.subscribe(await world.plan('Old', advance('100')));
    const target = await world.plan('New', advance('200'));
    await world.at(HALF);
    const { body } = await world.call(old, 'execute', changeTo(target));
    const path = `/v1/invoices/${body.invoice.id}/void`;
    expect((await api.call('POST', path, { body: {} })).body).toMatchObject({
      invoice_status: 'VOIDED',
    });
    expect(await world.wallets()).toEqual([['PRE_PAID', '51.61']]);
  });

  test('keeps taxes, coupons, terms and metadata', async ({ api, world }) => {
    await api.make('/v1/taxes/rates', {
      name: 'VAT',
      code: 'vat',
      tax_rate_type: 'percentage',
      percentage_value: '10',
    });
    await api.make('/v1/coupons', {
      name: 'Half',
      coupon_code: 'HALF',
      type: 'percentage',
      percentage_off: '50',
      cadence: 'forever',
    });
    const old = await world.subscribe(await world.plan('Old', advance('100')), {
      coupons: ['HALF'],
      tax_rate_overrides: [{ tax_rate_code: 'vat' }],
      payment_terms: '30 NET',
      lookup_key: 'main',
      metadata: { team: 'a' },
    });
    const target = await world.plan('New', advance('200'));
    await world.at(HALF);
    const { body } = await world.call(
      old,
      'execute',
      changeTo(target, { metadata: { why: 'growth' } }),
    );
    // 200 less 100 less 25.81 (half of 51.61…), and 10 %.
    expect(body.invoice).toMatchObject({ subtotal: '174.19', total_tax: '7.42', total: '81.61' });
    const { body: young } = await api.call('GET', `/v1/subscriptions/${body.new_subscription.id}`);
    expect(young).toMatchObject({
      payment_terms: '30 NET',
      lookup_key: 'main',
      metadata: { team: 'a', why: 'growth' },
      coupon_associations: [{ coupon: { coupon_code: 'HALF' } }],
    });
  });

  test('does what its preview showed, or says what is different', async ({ api, world }) => {
    const old = await world.subscribe(await world.plan('Old', advance('100')));
    const target = await world.plan('New', advance('200'));
    await world.at(HALF);
    const preview = async () =>
      (await world.call(old, 'preview', changeTo(target))).body.preview_token;
    const token = await preview();
    await api.make('/v1/prices', { entity_id: target.id, ...advance('5') });
    const execute = (preview_token: string) =>
      world.call(old, 'execute', changeTo(target, { preview_token }));
    expect(await execute(token)).toMatchObject({
      status: 409,
      body: { message: expect.stringMatching(/charge, total of the opening invoice/) },
    });
    const late = await preview();
    await world.at('2026-01-16T00:15:00.000Z');
    expect(await execute(late)).toMatchObject({
      status: 409,
      body: { message: expect.stringMatching(/15 minutes ago; preview again/) },
    });
    expect((await execute('x')).body.message).toMatch(/preview_token/);
    expect(await world.invoices(old)).toHaveLength(1);
    expect((await execute(await preview())).status).toBe(200);
  });

  test('takes null and an empty text as create_prorations, and wants one of them', async ({
    world,
  }) => {
    const plan = await world.plan('A', advance('100'));
    const target = await world.plan('B', advance('200'));
    const subscription = await world.subscribe(plan);
    await world.at(HALF);
    for (const proration_behavior of [null, '']) {
      const body = changeTo(target, { proration_behavior });
      const preview = await world.call(subscription, 'preview', body);
      expect([preview.status, preview.body.proration_details.credit_amount]).toEqual([
        200,
        '51.61',
      ]);
    }
    const none = await world.call(
      subscription,
      'execute',
      changeTo(target, { proration_behavior: undefined }),
    );
    expect([none.status, Object.keys(none.body.details)]).toEqual([400, ['proration_behavior']]);
    const done = await world.call(
      subscription,
      'execute',
      changeTo(target, { proration_behavior: null }),
    );
    expect([done.status, done.body.invoice.total]).toEqual([200, '148.39']);
  });

  test('waits for the payment of the new plan, or is refused without it, by payment_behavior', async ({
    api,
    world,
  }) => {
    const plan = await world.plan('A', advance('100'));
    const target = await world.plan('B', advance('200'));
    const pay = (invoice: Answer) =>
      api.call('PUT', `/v1/invoices/${invoice.id}/payment`, {
        body: { payment_status: 'SUCCEEDED' },
      });
    const statusOf = async ({ id }: Answer) =>
      (await api.call('GET', `/v1/subscriptions/${id}`)).body.subscription_status;
    const waiting = await world.subscribe(plan, { payment_behavior: 'allow_incomplete' });
    await pay(waiting.latest_invoice);
    await world.at(HALF);
    const { status, body } = await world.call(waiting, 'execute', changeTo(target));
    expect([status, body.new_subscription.status, body.invoice.total]).toEqual([
      200,
      'incomplete',
      '148.39',
    ]);
    expect(await statusOf(body.old_subscription)).toBe('cancelled');
    await pay(body.invoice);
    expect(await statusOf(body.new_subscription)).toBe('active');
    // Where the credit pays all of it, there is nothing to wait for.
    const cheap = await world.plan('C', advance('10'));
    const covered = await world.call(body.new_subscription, 'execute', changeTo(cheap));
    expect([covered.status, covered.body.new_subscription.status]).toEqual([200, 'active']);
    const last = covered.body.new_subscription;
    await api.call('PUT', `/v1/subscriptions/${last.id}`, {
      body: { payment_behavior: 'error_if_incomplete' },
    });
    const before = await world.wallets();
    const dear = await world.plan('D', advance('1000'));
    for (const what of ['preview', 'execute']) {
      const refused = await world.call(last, what, changeTo(dear));
      expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
    }
    expect([await statusOf(last), await world.wallets()]).toEqual(['active', before]);
  });

  test('of several at once happens once', async ({ world }) => {
    const old = await world.subscribe(await world.plan('Old', advance('100')));
    const target = await world.plan('New', advance('200'));
    await world.at(HALF);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => world.call(old, 'execute', changeTo(target))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
  });

  test('is refused with the member and the remedy', async ({ world }) => {
    const plan = await world.plan('Old', advance('100'));
    const other = await world.plan('New', advance('200'));
    const subscription = await world.subscribe(plan);
    await expectRefused(
      (body) => world.call(subscription, 'execute', body),
      [
        [changeTo(plan), /has this plan already/],
        [changeTo(other, { billing_period: 'ANNUAL' }), /target_plan_id.*no live price/],
        [changeTo(other, { proration_behavior: undefined }), /proration_behavior/],
        [changeTo(other, { change_at: 'end_of_period', preview_token: 'x' }), /preview_token/],
      ],
    );
    const missing = await world.call(subscription, 'execute', changeTo({ id: 'plan_none' }));
    expect(missing.status).toBe(404);
  });
});
