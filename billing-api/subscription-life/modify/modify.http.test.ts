import { describe, expect } from 'vitest';
import { test as billedTest } from '../../testing/billed-test.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import type { Answer } from '../../testing/money-test.js';
import { payOpen } from '../../testing/pay-open.js';

type World = {
  /** A subscription to ten seats, from 1 Jan 2026, with the price of a seat. */
  readonly subscribe: (price?: object, members?: object) => Promise<Answer>;
  readonly modify: (id: string, body: object, path?: string) => Promise<Answer>;
  /** Gives the running line another quantity. */
  readonly quantity: (id: string, quantity: string, at?: string) => Promise<Answer>;
  readonly read: (id: string) => Promise<Answer>;
  readonly invoices: (id: string) => Promise<readonly string[]>;
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill }, use) => {
    await bill('2026-01-01T00:00:00Z');
    await api.make('/v1/customers', { external_id: 'acme' });
    const read = async (id: string) => (await api.call('GET', `/v1/subscriptions/${id}`)).body;
    const modify = (id: string, body: object, path = 'execute') =>
      api.call('POST', `/v1/subscriptions/${id}/modify/${path}`, { body });
    await use({
      subscribe: async (price = {}, members = {}) => {
        const plan = await api.make('/v1/plans', { name: 'Pro' });
        await api.make('/v1/prices', {
          entity_id: plan.id,
          currency: 'usd',
          amount: '12',
          min_quantity: 10,
          invoice_cadence: 'ADVANCE',
          ...price,
        });
        const made = await api.make('/v1/subscriptions', {
          external_customer_id: 'acme',
          plan_id: plan.id,
          currency: 'usd',
          billing_period: 'MONTHLY',
          start_date: '2026-01-01T00:00:00Z',
          ...members,
        });
        await payOpen(api);
        return made;
      },
      modify,
      quantity: async (id, quantity, at) => {
        const { line_items: lines } = await read(id);
        const line = lines.find((one: Answer) => one.end_date === null);
        const change = {
          id: line.id,
          quantity,
          ...(at === undefined ? {} : { effective_date: at }),
        };
        return modify(id, {
          type: 'quantity_change',
          quantity_change_params: { line_items: [change] },
        });
      },
      read,
      invoices: async (id) => {
        const { items } = await api.make('/v1/invoices/search', { subscription_id: id });
        return items
          .sort((a: Answer, b: Answer) =>
            `${a.created_at} ${a.period_start}` < `${b.created_at} ${b.period_start}` ? -1 : 1,
          )
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
    await expectBalancedBooks(api);
  },
});

const OPENING = '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE FINALIZED 120.00';

describe('a change of quantity (27)', () => {
  test('to five more seats on 16 Jan costs 30.97 at once, and nothing twice', async ({
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    await bill('2026-01-16T00:00:00Z');
    const { status, body } = await world.quantity(id, '15');
    expect(status).toBe(200);
    const [ended, created] = body.changed_resources.line_items;
    expect([ended.quantity, ended.end_date, ended.change_action]).toEqual([
      '10',
      '2026-01-16T00:00:00.000Z',
      'ended',
    ]);
    expect([created.quantity, created.start_date, created.end_date]).toEqual([
      '15',
      '2026-01-16T00:00:00.000Z',
      null,
    ]);
    expect(body.changed_resources.invoices).toMatchObject([
      { action: 'created', invoice: { invoice_type: 'ONE_OFF', total: '30.97' } },
    ]);
    const { line_items: lines } = await world.read(id);
    expect(lines.map((one: Answer) => one.predecessor_id)).toEqual([null, ended.id]);
    await bill('2026-03-01T02:00:00Z');
    expect(await world.invoices(id)).toEqual([
      OPENING,
      '2026-01-16 2026-02-01 PRORATION FINALIZED 30.97',
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 180.00',
      '2026-02-01 2026-03-01 SUBSCRIPTION_CYCLE FINALIZED 180.00',
    ]);
  });

  test('to three fewer gives 18.58 to a wallet, and a cancellation then what is left of both', async ({
    api,
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    await bill('2026-01-16T00:00:00Z');
    const { body } = await world.quantity(id, '7');
    expect(body.changed_resources.invoices).toMatchObject([
      { action: 'credited', invoice: null, wallet_transaction: { credit_amount: '18.58' } },
    ]);
    await bill('2026-01-24T00:00:00Z');
    const cancelled = await api.call('POST', `/v1/subscriptions/${id}/cancel`, {
      body: { proration_behavior: 'create_prorations' },
    });
    // 120.00 × 8 ÷ 31 − 18.58 × 8 ÷ 16 (23.7).
    expect(cancelled.body.total_credit_amount).toBe('21.68');
  });

  test('is given back as it was paid', async ({ api, bill, world }) => {
    await api.make('/v1/coupons', {
      name: 'Half',
      coupon_code: 'HALF',
      type: 'percentage',
      percentage_off: '50',
      cadence: 'forever',
    });
    const { id } = await world.subscribe({}, { coupons: ['HALF'] });
    await bill('2026-01-16T00:00:00Z');
    const { body } = await world.quantity(id, '7');
    const [credited] = body.changed_resources.invoices;
    // 36.00 × 16 ÷ 31, half of it.
    expect(credited.wallet_transaction.credit_amount).toBe('9.29');
  });

  test('of a line in arrear scales both quantities on the invoice of the period', async ({
    bill,
    world,
  }) => {
    const { id } = await world.subscribe({ amount: '31', invoice_cadence: 'ARREAR' });
    await bill('2026-01-11T00:00:00Z');
    expect((await world.quantity(id, '20')).body.changed_resources.invoices).toEqual([]);
    await bill('2026-02-01T02:00:00Z');
    // 310.00 × 10 ÷ 31 + 620.00 × 21 ÷ 31.
    expect(await world.invoices(id)).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 520.00',
    ]);
  });

  test('there and back at one instant costs nothing', async ({ api, bill, world }) => {
    const { id } = await world.subscribe();
    await bill('2026-01-16T00:00:00Z');
    await world.quantity(id, '15');
    await payOpen(api);
    const { body } = await world.quantity(id, '10');
    expect(body.changed_resources.invoices[0].wallet_transaction.credit_amount).toBe('30.97');
    const wallets = await api.make('/v1/wallets/search', {});
    expect(wallets.items.map((one: Answer) => one.balance)).toEqual(['30.97']);
    await bill('2026-02-01T02:00:00Z');
    expect((await world.invoices(id))[2]).toContain('SUBSCRIPTION_CYCLE FINALIZED');
  });

  test('has the coupons of the charge that it changes, so that one that came later is none of them', async ({
    api,
    bill,
    world,
  }) => {
    for (const [code, off] of [
      ['TWENTY', { type: 'fixed', amount_off: '20', currency: 'usd' }],
      ['TENTH', { type: 'percentage', percentage_off: '10' }],
    ] as const) {
      await api.make('/v1/coupons', { name: code, coupon_code: code, cadence: 'forever', ...off });
    }
    const { id } = await world.subscribe({}, { coupons: ['TWENTY'] });
    await bill('2026-01-16T00:00:00Z');
    const coupon_params = { add: [{ coupon_code: 'TENTH' }] };
    expect((await world.modify(id, { type: 'coupon', coupon_params })).status).toBe(200);
    const settled = async (quantity: string): Promise<string> => {
      await payOpen(api);
      const [made] = (await world.quantity(id, quantity)).body.changed_resources.invoices;
      return made.invoice?.subtotal ?? `-${made.wallet_transaction.credit_amount}`;
    };
    // Five seats there and back, then five fewer and back, and all of them and back.
    expect(await settled('15')).toBe('30.97');
    expect(await settled('10')).toBe('-30.97');
    expect(await settled('5')).toBe('-30.97');
    expect(await settled('10')).toBe('30.97');
    // 61.94 less 10.32 of the 20.00 off.
    expect(await settled('0')).toBe('-51.61');
    expect(await settled('10')).toBe('51.61');
    await bill('2026-02-01T02:00:00Z');
    // From the next charge on it has both: 100.00 less 10.00, less 30.97 that came back first.
    expect((await world.invoices(id)).at(-1)).toBe(
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 59.03',
    );
  });

  test('can be looked at, and is refused with the member and the remedy', async ({
    bill,
    world,
  }) => {
    const made = await world.subscribe();
    const { id } = made;
    await bill('2026-01-16T00:00:00Z');
    const line = made.line_items[0].id as string;
    const of = (members: object) => ({
      type: 'quantity_change',
      quantity_change_params: { line_items: [{ id: line, quantity: '15', ...members }] },
    });
    const before = await world.read(id);
    const looked = await world.modify(id, of({}), 'preview');
    expect(looked.body.changed_resources.invoices[0].invoice.total).toBe('30.97');
    expect(await world.read(id)).toEqual(before);
    const at = 'quantity_change_params.line_items.0';
    for (const [body, member] of [
      [of({ quantity: '-1' }), `${at}.quantity`],
      [of({ quantity: 'many' }), `${at}.quantity`],
      [of({ effective_date: '2026-02-01T00:00:00.001Z' }), `${at}.effective_date`],
      [of({ effective_date: '2025-12-31T00:00:00Z' }), `${at}.effective_date`],
      [{ type: 'quantity_change' }, 'quantity_change_params'],
      [{ ...of({}), trial_end_params: { action: 'immediate' } }, 'trial_end_params'],
    ] as const) {
      const refused = await world.modify(id, body);
      expect([body, refused.status, Object.keys(refused.body.details)]).toEqual([
        body,
        400,
        [member],
      ]);
    }
    const other = await world.subscribe();
    const foreign = await world.modify(other.id, of({}));
    expect(foreign.status).toBe(404);
    expect((await world.modify(id, of({ id: 'subs_line_x' }))).status).toBe(404);
  });
});

describe('the end of a trial (22.4)', () => {
  const move = (params: object) => ({ type: 'trial_end', trial_end_params: params });

  test('can be moved to now, and the first period begins at once', async ({ bill, world }) => {
    const { id } = await world.subscribe({}, { trial_period_days: 14 });
    await bill('2026-01-05T00:00:00Z');
    const { body } = await world.modify(id, move({ action: 'immediate' }));
    expect(body.changed_resources).toMatchObject({
      subscriptions: [
        { action: 'activated', status: 'active', current_period_end: '2026-02-05T00:00:00.000Z' },
      ],
      invoices: [{ action: 'created', invoice: { total: '120.00' } }],
    });
    expect((await world.read(id)).trial_end).toBe('2026-01-05T00:00:00.000Z');
    await bill('2026-01-15T00:00:00Z');
    expect(await world.invoices(id)).toEqual([
      '2026-01-01 2026-01-15 SUBSCRIPTION_TRIAL_START FINALIZED 0.00',
      '2026-01-05 2026-02-05 SUBSCRIPTION_TRIAL_END FINALIZED 120.00',
    ]);
  });

  test('takes the end of a onetime addon along, which is that of the first period', async ({
    api,
    bill,
    world,
  }) => {
    const addon = await api.make('/v1/addons', { name: 'Setup', lookup_key: 'setup' });
    await api.make('/v1/prices', {
      entity_type: 'ADDON',
      entity_id: addon.id,
      currency: 'usd',
      amount: '30',
      invoice_cadence: 'ADVANCE',
    });
    const addons = [{ addon_id: addon.id, cadence: 'onetime' }];
    const { id } = await world.subscribe({}, { trial_period_days: 14, addons });
    await world.modify(
      id,
      move({ action: 'scheduled_date', new_trial_end: '2026-01-20T00:00:00Z' }),
    );
    const path = `/v1/subscriptions/${id}/addons/associations`;
    expect((await api.call('GET', path)).body.items).toMatchObject([
      { end_date: '2026-02-20T00:00:00.000Z' },
    ]);
    await bill('2026-02-20T03:00:00Z');
    expect((await world.invoices(id)).toSorted().slice(1)).toEqual([
      '2026-01-20 2026-02-20 SUBSCRIPTION_CYCLE FINALIZED 120.00',
      '2026-01-20 2026-02-20 SUBSCRIPTION_TRIAL_END FINALIZED 150.00',
    ]);
  });

  test('or to a later date, but not beyond the subscription or of one that is not trialing', async ({
    bill,
    world,
  }) => {
    const { id } = await world.subscribe(
      {},
      { trial_period_days: 14, end_date: '2026-06-01T00:00:00Z' },
    );
    const later = { action: 'scheduled_date', new_trial_end: '2026-01-20T00:00:00Z' };
    const moved = await world.modify(id, move(later));
    expect(moved.body.subscription).toMatchObject({
      subscription_status: 'trialing',
      trial_end: '2026-01-20T00:00:00.000Z',
      current_period_end: '2026-01-20T00:00:00.000Z',
    });
    const member = 'trial_end_params.new_trial_end';
    for (const params of [
      { action: 'scheduled_date' },
      { action: 'scheduled_date', new_trial_end: '2025-01-01T00:00:00Z' },
      { action: 'scheduled_date', new_trial_end: '2026-07-01T00:00:00Z' },
      { action: 'immediate', new_trial_end: '2026-01-21T00:00:00Z' },
    ]) {
      const refused = await world.modify(id, move(params));
      expect([params, refused.status, Object.keys(refused.body.details)]).toEqual([
        params,
        400,
        [member],
      ]);
    }
    await bill('2026-01-20T00:00:00Z');
    expect((await world.invoices(id))[1]).toBe(
      '2026-01-20 2026-02-20 SUBSCRIPTION_TRIAL_END FINALIZED 120.00',
    );
    const refused = await world.modify(id, move(later));
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringContaining('active, not trialing'),
    ]);
  });
});
