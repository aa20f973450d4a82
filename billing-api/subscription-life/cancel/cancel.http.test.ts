import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import { test as billedTest } from '../../testing/billed-test.js';
import { expectRefused, type Answer } from '../../testing/money-test.js';
import { setTestClock } from '../../testing/set-test-clock.js';
import { subscribeMonthly } from '../../testing/subscribe-monthly.js';
import { payOpen } from '../../testing/pay-open.js';

type World = {
  /** A subscription of 100 in arrear and 30 in advance, in its third month. */
  readonly id: string;
  readonly cancel: (body: object) => Promise<Answer>;
  readonly read: () => Promise<Answer>;
  /** Its invoices, oldest period first: reason, status, total. */
  readonly invoices: () => Promise<Answer>;
};

/** 11 December 2026, a third of a month of 31 days less a little. */
const NOW = '2026-12-11T00:00:00.000Z';

async function invoicesOf(api: BillingUnderTest, id: string): Promise<Answer> {
  const sort = [{ field: 'billing_sequence', direction: 'asc' }];
  const { items } = await api.make('/v1/invoices/search', { subscription_id: id, sort });
  return items.map((one: Answer) => [one.billing_reason, one.invoice_status, one.total]);
}

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill, database }, use) => {
    const { subscription } = await subscribeMonthly(api);
    const { id } = subscription;
    await bill('2026-12-01T02:00:00.000Z');
    await setTestClock(database.database, api.environment, Date.parse(NOW));
    const path = `/v1/subscriptions/${id}`;
    await payOpen(api);
    await use({
      id,
      cancel: (body) => api.call('POST', `${path}/cancel`, { body }),
      read: async () => (await api.call('GET', path)).body,
      invoices: () => invoicesOf(api, id),
    });
    await expectBalancedBooks(api);
  },
});

const BEFORE = [
  ['SUBSCRIPTION_CREATE', 'FINALIZED', '30.00'],
  ['SUBSCRIPTION_CYCLE', 'FINALIZED', '130.00'],
  ['SUBSCRIPTION_CYCLE', 'FINALIZED', '130.00'],
];
/** 100 × 10 ÷ 31 days. */
const FINAL = ['SUBSCRIPTION_CYCLE', 'FINALIZED', '32.26'];

describe('a cancellation', () => {
  test('with dry_run shows what it would do, and does nothing', async ({ world }) => {
    const before = await world.read();
    const wanted = { reason: 'a look', proration_behavior: 'create_prorations' };
    const { body: shown } = await world.cancel({ ...wanted, dry_run: true });
    expect(shown).toMatchObject({
      dry_run: true,
      status: 'cancelled',
      // 32.26 less what is unused of 30.00 in advance.
      proration_invoice: { total: '11.94' },
    });
    expect(await world.invoices()).toEqual(BEFORE);
    expect(await world.read()).toEqual(before);
    const { body: done } = await world.cancel(wanted);
    expect(done.dry_run).toBe(false);
    expect([done.total_credit_amount, done.proration_invoice.total]).toEqual([
      shown.total_credit_amount,
      shown.proration_invoice.total,
    ]);
  });

  test('ends a subscription at once, and bills in arrear up to that instant', async ({
    api,
    bill,
    world,
  }) => {
    const { body } = await world.cancel({ reason: 'too expensive' });
    expect(body).toMatchObject({
      subscription_id: world.id,
      cancellation_type: 'immediate',
      effective_date: NOW,
      status: 'cancelled',
      reason: 'too expensive',
      total_credit_amount: '0.00',
      proration_invoice: { total: '32.26', invoice_status: 'FINALIZED' },
    });
    expect(await world.invoices()).toEqual([...BEFORE, FINAL]);
    expect(await world.read()).toMatchObject({
      subscription_status: 'cancelled',
      cancel_at: NOW,
      end_date: NOW,
      cancelled_at: NOW,
      current_period_end: NOW,
      metadata: { cancellation_type: 'immediate', cancellation_reason: 'too expensive' },
    });
    const verified = await api.call('GET', `/v1/invoices/${body.proration_invoice.id}/verify`);
    expect(verified.body).toMatchObject({ same_from_inputs: true, differences: [] });
    await bill('2027-03-01T00:00:00.000Z');
    expect(await world.invoices()).toEqual([...BEFORE, FINAL]);
    const again = await world.cancel({});
    expect(again.body.message).toMatch(/the subscription is cancelled/);
  });

  test('makes no invoice when it is told to skip it', async ({ bill, world }) => {
    const { body } = await world.cancel({ invoice_policy: 'skip' });
    expect(body).toMatchObject({ status: 'cancelled', proration_invoice: null });
    await bill('2027-03-01T00:00:00.000Z');
    expect(await world.invoices()).toEqual(BEFORE);
  });

  test('can have taken effect earlier in the running period', async ({ world }) => {
    const { body } = await world.cancel({ cancel_at: '2026-12-02T00:00:00.000Z' });
    expect(body).toMatchObject({
      effective_date: '2026-12-02T00:00:00.000Z',
      status: 'cancelled',
      proration_invoice: { total: '3.23' },
    });
  });

  test('can have taken effect in a period before, and gives back all that was charged for later', async ({
    bill,
    world,
    api,
  }) => {
    const at = '2026-11-16T00:00:00.000Z';
    const { status, body } = await world.cancel({
      cancel_at: at,
      proration_behavior: 'create_prorations',
    });
    // 30 × 15 ÷ 30 days of November, and all of December.
    expect([status, body.total_credit_amount, body.proration_invoice]).toEqual([
      200,
      '45.00',
      null,
    ]);
    expect(await world.invoices()).toEqual(BEFORE);
    expect(await world.read()).toMatchObject({
      subscription_status: 'cancelled',
      cancel_at: at,
      end_date: at,
      cancelled_at: NOW,
      current_period_start: '2026-11-01T00:00:00.000Z',
      current_period_end: at,
      line_items: [{ end_date: at }, { end_date: at }],
    });
    const { items } = await api.make('/v1/wallets/search', { external_customer_id: 'acme' });
    expect(items).toMatchObject([{ wallet_type: 'PRE_PAID', credit_balance: '45' }]);
    await bill('2027-03-01T00:00:00.000Z');
    expect(await world.invoices()).toEqual(BEFORE);
  });

  test('at the start of a subscription gives back everything in advance', async ({ world }) => {
    const { body } = await world.cancel({
      cancel_at: '2026-10-01T00:00:00Z',
      proration_behavior: 'create_prorations',
    });
    expect([body.total_credit_amount, body.proration_invoice]).toEqual(['90.00', null]);
    expect((await world.read()).subscription_status).toBe('cancelled');
  });

  test('in a period before bills a draft of it up to the end, and voids later ones', async ({
    api,
    bill,
    database,
    world,
  }) => {
    await bill('2027-01-01T00:01:00.000Z');
    expect((await world.invoices()).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', 'DRAFT', '130.00']);
    const at = '2026-12-17T00:00:00.000Z';
    const { body } = await world.cancel({ cancel_at: at, proration_behavior: 'create_prorations' });
    // December was charged in advance on the invoice before: 30 × 15 ÷ 31.
    expect(body.total_credit_amount).toBe('14.52');
    await bill('2027-01-01T03:00:00.000Z');
    // 100 × 16 ÷ 31 and no January, less the credits that came back.
    expect((await world.invoices()).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', 'FINALIZED', '37.09']);
    // Another one, whose draft begins after its end.
    const plan = (await world.read()).plan_id;
    await api.make('/v1/customers', { external_id: 'late' });
    const late = await api.make('/v1/subscriptions', {
      external_customer_id: 'late',
      plan_id: plan,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-12-01T00:00:00Z',
    });
    await bill('2027-02-01T00:01:00.000Z');
    await setTestClock(database.database, api.environment, Date.parse('2027-02-01T00:02:00Z'));
    const path = `/v1/subscriptions/${late.id}/cancel`;
    await api.call('POST', path, { body: { cancel_at: '2026-12-11T00:00:00Z' } });
    expect((await invoicesOf(api, late.id)).at(-1)).toEqual([
      'SUBSCRIPTION_CYCLE',
      'VOIDED',
      '130.00',
    ]);
  });

  test('while a draft waits that charges the running period in advance leaves it so without prorations', async ({
    api,
    bill,
    database,
    world,
  }) => {
    const plan = (await world.read()).plan_id;
    await api.make('/v1/customers', { external_id: 'other' });
    const other = await api.make('/v1/subscriptions', {
      external_customer_id: 'other',
      plan_id: plan,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-12-01T00:00:00Z',
    });
    await bill('2027-01-01T00:01:00.000Z');
    await setTestClock(database.database, api.environment, Date.parse('2027-01-01T01:00:00Z'));
    // 100 × 1 ÷ 744 hours.
    expect((await world.cancel({})).body.proration_invoice.total).toBe('0.13');
    const path = `/v1/subscriptions/${other.id}/cancel`;
    const body = { proration_behavior: 'create_prorations' };
    expect((await api.call('POST', path, { body })).body.total_credit_amount).toBe('0.00');
    await bill('2027-01-01T03:00:00.000Z');
    expect(await world.invoices()).toEqual([
      ...BEFORE,
      ['SUBSCRIPTION_CYCLE', 'FINALIZED', '130.00'],
      ['SUBSCRIPTION_CYCLE', 'FINALIZED', '0.13'],
    ]);
    // 100 for December and 30 × 1 ÷ 744 hours.
    expect(await invoicesOf(api, other.id)).toEqual([
      ['SUBSCRIPTION_CREATE', 'FINALIZED', '30.00'],
      ['SUBSCRIPTION_CYCLE', 'FINALIZED', '100.04'],
      ['SUBSCRIPTION_CYCLE', 'FINALIZED', '0.13'],
    ]);
  });

  test('leaves so what a line costs that was given another quantity at that instant', async ({
    api,
    bill,
    database,
    world,
  }) => {
    await bill('2027-01-01T00:01:00.000Z');
    await setTestClock(database.database, api.environment, Date.parse('2027-01-01T01:00:00Z'));
    const { line_items: lines } = await world.read();
    const fee = lines.find((one: Answer) => one.price.amount === '30');
    const quantity_change_params = { line_items: [{ id: fee.id, quantity: '2' }] };
    const changed = await api.call('POST', `/v1/subscriptions/${world.id}/modify/execute`, {
      body: { type: 'quantity_change', quantity_change_params },
    });
    expect([changed.status, changed.body.changed_resources.invoices]).toEqual([200, []]);
    expect((await world.cancel({})).body.proration_invoice.total).toBe('0.13');
    await bill('2027-01-01T03:00:00.000Z');
    expect(await world.invoices()).toEqual([
      ...BEFORE,
      // 100 for December, 30 × 1 ÷ 744 and 60 × 743 ÷ 744 hours.
      ['SUBSCRIPTION_CYCLE', 'FINALIZED', '159.96'],
      ['SUBSCRIPTION_CYCLE', 'FINALIZED', '0.13'],
    ]);
  });

  test('gives back a one-time charge that lies after its end as a whole', async ({
    api,
    bill,
    database,
  }) => {
    await bill('2027-01-01T00:00:00.000Z');
    const plan = await api.make('/v1/plans', { name: 'Kit' });
    const price = { entity_id: plan.id, currency: 'usd', invoice_cadence: 'ADVANCE' };
    await api.make('/v1/prices', { ...price, amount: '31' });
    await api.make('/v1/prices', {
      ...price,
      amount: '200',
      billing_cadence: 'ONETIME',
      start_date: '2027-01-20T00:00:00Z',
    });
    await api.make('/v1/customers', { external_id: 'kit' });
    const { id } = await api.make('/v1/subscriptions', {
      external_customer_id: 'kit',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2027-01-01T00:00:00Z',
    });
    expect((await invoicesOf(api, id)).at(-1)).toEqual([
      'SUBSCRIPTION_CREATE',
      'FINALIZED',
      '231.00',
    ]);
    await setTestClock(database.database, api.environment, Date.parse('2027-01-25T00:00:00Z'));
    const { body } = await api.call('POST', `/v1/subscriptions/${id}/cancel`, {
      body: { cancel_at: '2027-01-16T00:00:00Z', proration_behavior: 'create_prorations' },
    });
    // 31 × 16 ÷ 31 days, and 200 of what was to come on 20 January.
    expect(body.total_credit_amount).toBe('216.00');
  });

  test('ends a subscription with its period, which is billed as usual and has no next one', async ({
    bill,
    world,
  }) => {
    const { body } = await world.cancel({ cancellation_type: 'end_of_period' });
    expect(body).toMatchObject({
      status: 'active',
      effective_date: '2027-01-01T00:00:00.000Z',
      proration_invoice: null,
    });
    expect(await world.read()).toMatchObject({
      cancel_at_period_end: true,
      cancel_at: '2027-01-01T00:00:00.000Z',
      end_date: null,
    });
    const pending = await world.cancel({ cancellation_type: 'end_of_period' });
    expect(pending.body.message).toMatch(/ends at 2027-01-01/);
    await bill('2027-03-01T00:00:00.000Z');
    const last = ['SUBSCRIPTION_CYCLE', 'FINALIZED', '100.00'];
    expect(await world.invoices()).toEqual([...BEFORE, last]);
    expect(await world.read()).toMatchObject({
      subscription_status: 'cancelled',
      cancelled_at: '2027-01-01T00:00:00.000Z',
    });
  });

  test('waits for its date, within the running period or after it', async ({ bill, world }) => {
    const type = { cancellation_type: 'scheduled_date' };
    const within = '2026-12-21T00:00:00.000Z';
    const { body } = await world.cancel({ ...type, cancel_at: within });
    expect(body).toMatchObject({ status: 'active', effective_date: within });
    expect(await world.read()).toMatchObject({ end_date: within, current_period_end: within });
    await bill('2027-03-01T00:00:00.000Z');
    // 100 × 20 ÷ 31 days.
    const last = ['SUBSCRIPTION_CYCLE', 'FINALIZED', '64.52'];
    expect(await world.invoices()).toEqual([...BEFORE, last]);
    expect(await world.read()).toMatchObject({ subscription_status: 'cancelled' });
  });

  test('at a date in a later period bills the periods before it as usual', async ({
    bill,
    world,
  }) => {
    const date = '2027-01-11T00:00:00.000Z';
    await world.cancel({ cancellation_type: 'scheduled_date', cancel_at: date });
    await bill('2027-03-01T00:00:00.000Z');
    // 30 × 10 ÷ 31 in advance for the part of January, and 100 × 10 ÷ 31 in arrear.
    expect(await world.invoices()).toEqual([
      ...BEFORE,
      ['SUBSCRIPTION_CYCLE', 'FINALIZED', '109.68'],
      FINAL,
    ]);
  });

  test('with prorations gives what is unused of advance fees to a wallet, once', async ({
    api,
    world,
  }) => {
    const { body } = await world.cancel({ proration_behavior: 'create_prorations' });
    // 30 × 21 ÷ 31 days.
    expect(body).toMatchObject({
      status: 'cancelled',
      total_credit_amount: '20.32',
      // 32.26, of which the credit has paid its part, as at a date.
      proration_invoice: { total: '11.94' },
      proration_details: [
        {
          plan_name: 'Pro',
          original_amount: '30.00',
          credit_amount: '20.32',
          charge_amount: '0.00',
          proration_days: 21,
        },
      ],
    });
    expect((await world.invoices()).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', 'FINALIZED', '11.94']);
    const { items } = await api.make('/v1/wallets/search', { external_customer_id: 'acme' });
    expect(items).toMatchObject([{ wallet_type: 'PRE_PAID', credit_balance: '0' }]);
  });

  test('at a date gives back what is unused then, and nothing before', async ({
    api,
    bill,
    world,
  }) => {
    const at = '2026-12-21T00:00:00.000Z';
    const { body } = await world.cancel({
      cancellation_type: 'scheduled_date',
      cancel_at: at,
      proration_behavior: 'create_prorations',
    });
    // 30 × 11 ÷ 31 days, expected.
    expect([body.status, body.total_credit_amount]).toEqual(['active', '10.65']);
    const wallets = async () =>
      (await api.make('/v1/wallets/search', { external_customer_id: 'acme' })).items.map(
        (one: Answer) => one.credit_balance,
      );
    expect(await wallets()).toEqual([]);
    await bill('2026-12-20T00:00:00.000Z');
    expect(await wallets()).toEqual([]);
    await bill(at);
    expect(await wallets()).toEqual(['10.65']);
    await bill('2027-03-01T00:00:00.000Z');
    // 64.52, of which the credit has paid its part.
    expect((await world.invoices()).at(-1)).toEqual(['SUBSCRIPTION_CYCLE', 'FINALIZED', '53.87']);
    expect(await wallets()).toEqual(['0']);
  });

  test('with the period gives back what reaches beyond it: fees for a year', async ({
    api,
    bill,
  }) => {
    await bill('2027-01-01T00:00:00.000Z');
    const plan = await api.make('/v1/plans', { name: 'Yearly' });
    const price = { entity_id: plan.id, currency: 'usd' };
    const yearly = { amount: '365', billing_period: 'ANNUAL', invoice_cadence: 'ADVANCE' };
    await api.make('/v1/prices', { ...price, ...yearly });
    await api.make('/v1/prices', { ...price, amount: '31' });
    await api.make('/v1/customers', { external_id: 'year' });
    const { id } = await api.make('/v1/subscriptions', {
      external_customer_id: 'year',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2027-01-01T00:00:00Z',
    });
    await payOpen(api);
    const body = { cancellation_type: 'end_of_period', proration_behavior: 'create_prorations' };
    const path = `/v1/subscriptions/${id}/cancel`;
    expect((await api.call('POST', path, { body })).body.total_credit_amount).toBe('334.00');
    await bill('2027-02-02T00:00:00.000Z');
    const { items } = await api.make('/v1/wallets/search', { external_customer_id: 'year' });
    expect(items.map((one: Answer) => one.credit_balance)).toEqual(['334']);
  });

  test.for([
    // 100 × 4 ÷ 31 days are 12.90, which 30 × 27 ÷ 31 pay.
    ['before it', '2026-12-05T00:00:00Z', '0.00', '26.13'],
    // Of 11 days 3 were paused: 100 × 8 ÷ 31 are 25.81, less 30 × 23 ÷ 31.
    ['within it', '2026-12-12T00:00:00Z', '3.55', '22.26'],
  ] as const)(
    'of a subscription that was paused can have taken effect %s',
    async ([, at, total, credit], { api, bill, database, world }) => {
      const turn = (instant: string) =>
        setTestClock(database.database, api.environment, Date.parse(instant));
      const path = `/v1/subscriptions/${world.id}`;
      await turn('2026-12-09T00:00:00Z');
      await api.call('POST', `${path}/pause`, { body: { pause_mode: 'immediate' } });
      await turn('2026-12-14T00:00:00Z');
      await api.call('POST', `${path}/resume`, { body: { resume_mode: 'immediate' } });
      await turn('2026-12-20T00:00:00Z');
      const { status, body } = await world.cancel({
        cancel_at: at,
        proration_behavior: 'create_prorations',
      });
      expect([status, body.proration_invoice?.total, body.total_credit_amount]).toEqual([
        200,
        total,
        credit,
      ]);
      await bill('2027-03-01T00:00:00.000Z');
      expect(await world.invoices()).toHaveLength(4);
    },
  );

  test('that waits can be overtaken by one at once', async ({ world }) => {
    await world.cancel({ cancellation_type: 'end_of_period' });
    expect((await world.cancel({})).body).toMatchObject({ status: 'cancelled' });
    expect(await world.invoices()).toEqual([...BEFORE, FINAL]);
  });

  test('later than a period that is still to be billed bills that first', async ({
    api,
    bill,
    database,
    world,
  }) => {
    await setTestClock(database.database, api.environment, Date.parse('2027-03-04T00:00:00Z'));
    expect((await world.cancel({})).status).toBe(200);
    // As if the job had been on time; 30 in advance of March stay whole with none, and the last is
    // 100 × 3 ÷ 31 in arrear.
    const inMonths = ['130.00', '130.00', '130.00', '9.68'];
    const billed = inMonths.map((total) => ['SUBSCRIPTION_CYCLE', 'FINALIZED', total]);
    expect((await world.invoices()).slice(3)).toEqual(billed);
    await bill('2027-03-04T00:00:00Z');
    expect((await world.invoices()).slice(3)).toEqual(billed);
  });

  test('of several at once succeeds once', async ({ world }) => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => world.cancel({})));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect(await world.invoices()).toEqual([...BEFORE, FINAL]);
  });

  test('is refused with the member and the remedy', async ({ world }) => {
    const past = '2026-12-02T00:00:00Z';
    await expectRefused(
      (body) => world.cancel(body),
      [
        [{ cancel_at: '2027-06-01T00:00:00Z' }, /cancel_at.*scheduled_date/],
        [{ cancel_at: '2026-09-01T00:00:00Z' }, /cancel_at.*start_date/],
        [{ cancellation_type: 'scheduled_date' }, /cancel_at.*future/],
        [{ cancellation_type: 'scheduled_date', cancel_at: past }, /cancel_at.*future/],
        [{ cancellation_type: 'end_of_period', cancel_at: past }, /cancel_at.*left out/],
      ],
    );
    expect(await world.invoices()).toEqual(BEFORE);
  });
});
