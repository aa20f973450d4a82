import { describe, expect } from 'vitest';
import { COUNT_EVENTS } from '../../../contract/aggregation.js';
import { test as billedTest } from '../../testing/billed-test.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import { completeBackfills } from '../../testing/finish-partition.js';
import { generationOf } from '../../testing/meter-generation.js';
import type { Answer } from '../../testing/money-test.js';
import { storeEvents } from '../../testing/write-usage-minutes.js';
import { payOpen } from '../../testing/pay-open.js';

const SUM = { type: 'SUM', field: 'units' } as const;

type World = {
  readonly meterId: string;
  /** A subscription from 1 Jan 2026 to a plan with this price. */
  readonly subscribe: (price: object, members?: object) => Promise<Answer>;
  readonly change: (line: Answer, body: object) => Promise<Answer>;
  /** Stores an event of so many units. */
  readonly use: (at: string, units: number) => Promise<void>;
  /** Period, reason and total of each invoice. */
  readonly invoices: (id: string) => Promise<readonly string[]>;
  /** Period and amount of each line of the last invoice. */
  readonly lines: (id: string) => Promise<readonly string[]>;
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill, database, clickhouse }, use) => {
    await bill('2026-01-01T00:00:00Z');
    await api.make('/v1/customers', { external_id: 'acme' });
    const meter = await api.make('/v1/meters', {
      name: 'Units',
      event_name: 'call',
      aggregation: SUM,
    });
    const target = { environment: api.environment, meterId: meter.id as string };
    const search = async (id: string): Promise<Answer[]> =>
      (await api.make('/v1/invoices/search', { subscription_id: id })).items;
    await use({
      meterId: meter.id as string,
      subscribe: async (price, members = {}) => {
        const plan = await api.make('/v1/plans', { name: 'Pro' });
        await api.make('/v1/prices', { entity_id: plan.id, currency: 'usd', ...price });
        const made = await api.make('/v1/subscriptions', {
          external_customer_id: 'acme',
          plan_id: plan.id,
          currency: 'usd',
          billing_period: 'MONTHLY',
          start_date: '2026-01-01T00:00:00Z',
          ...members,
        });
        await completeBackfills(database.database);
        await payOpen(api);
        return made;
      },
      change: (line, body) => api.call('PUT', `/v1/subscriptions/lineitems/${line.id}`, { body }),
      use: async (at, units) => {
        const generation = await generationOf(database.database, meter.id as string);
        await storeEvents({ database, clickhouse }, api.environment, [
          {
            at,
            eventName: 'call',
            properties: { units: String(units) },
            countsOn: [{ ...target, generation, aggregation: { ...COUNT_EVENTS, ...SUM } }],
          },
        ]);
      },
      invoices: async (id) =>
        (await search(id))
          .map((one) => `${one.period_start.slice(0, 10)} ${one.billing_reason} ${one.total}`)
          .sort(),
      lines: async (id) => {
        const [last] = (await search(id)).sort((a, b) => b.billing_sequence - a.billing_sequence);
        const { line_items: lines } = (await api.call('GET', `/v1/invoices/${last.id}`)).body;
        return lines.map((one: Answer) => {
          const dates = [one.period_start, one.period_end].map((date) => date.slice(5, 10));
          return [...dates, one.amount].join(' ');
        });
      },
    });
    await expectBalancedBooks(api);
  },
});

const advance = (amount: string) => ({ amount, invoice_cadence: 'ADVANCE' });

describe('another price of a line item (27)', () => {
  test('from 100.00 to 200.00 on 16 Jan costs 51.61 at once, and 200.00 from then on', async ({
    bill,
    world,
  }) => {
    const { id, line_items: lines } = await world.subscribe(advance('100'));
    await bill('2026-01-16T00:00:00Z');
    const { status, body } = await world.change(lines[0], { amount: '200' });
    expect([status, body.predecessor_id, body.start_date, body.price.amount]).toEqual([
      200,
      lines[0].id,
      '2026-01-16T00:00:00.000Z',
      '200',
    ]);
    expect([body.price.entity_type, body.price.parent_price_id, body.entity_type]).toEqual([
      'SUBSCRIPTION',
      lines[0].price_id,
      'plan',
    ]);
    await bill('2026-02-01T02:00:00Z');
    expect(await world.invoices(id)).toEqual([
      '2026-01-01 SUBSCRIPTION_CREATE 100.00',
      '2026-01-01 SUBSCRIPTION_CYCLE 200.00',
      '2026-01-16 PRORATION 51.61',
    ]);
  });

  test('that is lower gives the difference to a wallet, and there and back costs nothing', async ({
    api,
    bill,
    world,
  }) => {
    const { id, line_items: lines } = await world.subscribe(advance('100'));
    await bill('2026-01-16T00:00:00Z');
    const balances = async (): Promise<readonly string[]> => {
      const { items } = await api.make('/v1/wallets/search', { external_customer_id: 'acme' });
      return items.map((one: Answer) => one.credit_balance);
    };
    const lower = await world.change(lines[0], { amount: '50' });
    expect(await balances()).toEqual(['25.81']);
    const back = await world.change(lower.body, { amount: '100' });
    expect(back.status).toBe(200);
    // What went to the wallet is charged again, to the cent, and paid from it.
    expect(await balances()).toEqual(['0']);
    expect(await world.invoices(id)).toEqual([
      '2026-01-01 SUBSCRIPTION_CREATE 100.00',
      '2026-01-16 PRORATION 0.00',
    ]);
    const cancelled = await api.call('POST', `/v1/subscriptions/${id}/cancel`, {
      body: { cancellation_type: 'immediate', proration_behavior: 'create_prorations' },
    });
    expect(cancelled.body.total_credit_amount).toBe('51.61');
  });

  test('keeps a fixed discount of the period, so that there and back costs nothing', async ({
    api,
    bill,
    world,
  }) => {
    await api.make('/v1/coupons', {
      name: 'Ten',
      coupon_code: 'TEN',
      type: 'fixed',
      amount_off: '10',
      currency: 'usd',
      cadence: 'once',
    });
    const { id, line_items: lines } = await world.subscribe(advance('100'), { coupons: ['TEN'] });
    await bill('2026-01-16T00:00:00Z');
    const higher = await world.change(lines[0], { amount: '200' });
    // 103.226 less 5.161, the part of the rest in 10.00; 46.45 of 90.00 are set off.
    expect(await world.invoices(id)).toEqual([
      '2026-01-01 SUBSCRIPTION_CREATE 90.00',
      '2026-01-16 PRORATION 51.61',
    ]);
    await payOpen(api);
    expect((await world.change(higher.body, { amount: '100' })).status).toBe(200);
    const { items } = await api.make('/v1/wallets/search', { external_customer_id: 'acme' });
    expect(items.map((one: Answer) => one.credit_balance)).toEqual(['51.61']);
    const cancelled = await api.call('POST', `/v1/subscriptions/${id}/cancel`, {
      body: { cancellation_type: 'immediate', proration_behavior: 'create_prorations' },
    });
    expect(cancelled.body.total_credit_amount).toBe('46.45');
  });

  test('has the coupon of the period also in the time by which a pause has moved its end', async ({
    api,
    bill,
    world,
  }) => {
    const half = { name: 'HALF', coupon_code: 'HALF', type: 'percentage', percentage_off: '50' };
    await api.make('/v1/coupons', { ...half, cadence: 'forever' });
    const { id, line_items: lines } = await world.subscribe(advance('100'), { coupons: ['HALF'] });
    await bill('2026-01-05T00:00:00Z');
    await api.make(`/v1/subscriptions/${id}/pause`, { pause_mode: 'immediate', pause_days: 10 });
    await bill('2026-02-02T00:00:00Z');
    const { body: dearer } = await world.change(lines[0], { amount: '200' });
    const quantities = { line_items: [{ id: dearer.id, quantity: '2' }] };
    await api.make(`/v1/subscriptions/${id}/modify/execute`, {
      type: 'quantity_change',
      quantity_change_params: quantities,
    });
    // Of 31 days nine are left: 29.03 less 14.52, and then half of 58.06.
    expect(await world.invoices(id)).toEqual([
      '2026-01-01 SUBSCRIPTION_CREATE 50.00',
      '2026-02-02 PRORATION 14.52',
      '2026-02-02 PRORATION 29.03',
    ]);
  });

  test('before an end that is to come sets off what is paid until then, and the rest comes back there', async ({
    api,
    bill,
    world,
  }) => {
    const { id, line_items: lines } = await world.subscribe(advance('100'));
    await bill('2026-01-16T00:00:00Z');
    const ends = { cancellation_type: 'scheduled_date', cancel_at: '2026-01-24T00:00:00Z' };
    const body = { ...ends, proration_behavior: 'create_prorations' };
    expect((await api.call('POST', `/v1/subscriptions/${id}/cancel`, { body })).status).toBe(200);
    expect((await world.change(lines[0], { amount: '200' })).status).toBe(200);
    // 51.61 for the 8 days, of which 25.81 are paid: 25.806 exactly.
    expect(await world.invoices(id)).toEqual([
      '2026-01-01 SUBSCRIPTION_CREATE 100.00',
      '2026-01-16 PRORATION 25.81',
    ]);
    await bill('2026-01-24T01:00:00Z');
    const { items } = await api.make('/v1/wallets/search', { external_customer_id: 'acme' });
    // 100.00 × 8 ÷ 31. What stays is 48.39 and 51.61.
    expect(items.map((one: Answer) => one.credit_balance)).toEqual(['25.81']);
  });

  test('and fewer seats after it give back their part of what is paid for the rest', async ({
    api,
    bill,
    world,
  }) => {
    await api.make('/v1/coupons', {
      name: 'Tenth',
      coupon_code: 'TENTH',
      type: 'percentage',
      percentage_off: '10',
      cadence: 'forever',
    });
    const seats = { ...advance('12'), min_quantity: 10 };
    const { id, line_items: lines } = await world.subscribe(seats, { coupons: ['TENTH'] });
    const balances = async (): Promise<readonly string[]> => {
      const { items } = await api.make('/v1/wallets/search', { external_customer_id: 'acme' });
      return items.map((one: Answer) => one.credit_balance);
    };
    // Half of January: of 108.00 are 54.00 unused, and 60.00 less 10 % are due for it.
    await bill('2026-01-16T12:00:00Z');
    const cheaper = await world.change(lines[0], { amount: '6' });
    expect(await balances()).toEqual(['27']);
    // 27.00 are paid for ten seats until February: half of it, to the cent.
    expect((await world.change(cheaper.body, { quantity: '5' })).status).toBe(200);
    expect(await balances()).toEqual(['40.5']);
    const cancelled = await api.call('POST', `/v1/subscriptions/${id}/cancel`, {
      body: { cancellation_type: 'immediate', proration_behavior: 'create_prorations' },
    });
    // With it 54.00 of 108.00 have come back.
    expect(cancelled.body.total_credit_amount).toBe('13.50');
  });

  test('in arrear charges each segment for its time, with another model and quantity', async ({
    bill,
    world,
  }) => {
    const seats = { amount: '31', min_quantity: 2, invoice_cadence: 'ARREAR' };
    const { id, line_items: lines } = await world.subscribe(seats);
    const tiers = [
      { up_to: 2, unit_amount: '31' },
      { up_to: null, unit_amount: '15.5' },
    ];
    const members = { tiers, tier_mode: 'SLAB', quantity: '4' };
    const from = '2026-01-11T00:00:00Z';
    const { body } = await world.change(lines[0], { ...members, effective_from: from });
    expect([body.quantity, body.price.billing_model]).toEqual(['4', 'TIERED']);
    await bill('2026-02-01T02:00:00Z');
    // 62.00 × 10 ÷ 31 and 93.00 × 21 ÷ 31.
    expect(await world.lines(id)).toEqual(['01-01 01-11 20.00', '01-11 02-01 63.00']);
  });

  test('is refused with the member and the remedy', async ({ bill, world }) => {
    const { line_items: lines } = await world.subscribe(advance('100'));
    await bill('2026-01-16T00:00:00Z');
    for (const [body, member] of [
      [{ effective_from: '2026-01-17T00:00:00Z' }, 'effective_from'],
      [{ amount: '1', effective_from: '2026-02-01T00:00:00.001Z' }, 'effective_from'],
      [{ amount: '-1' }, 'amount'],
      [{ billing_model: 'PACKAGE' }, 'transform_quantity'],
      [{ commitment_amount: '5' }, 'commitment_type'],
      [
        { commitment_type: 'amount', commitment_amount: '5', commitment_overage_factor: '2' },
        'commitment_type',
      ],
    ] as const) {
      const { status, body: refused } = await world.change(lines[0], body);
      expect([body, status, Object.keys(refused.details)]).toContainEqual(400);
      expect(Object.keys(refused.details)).toContain(member);
    }
  });
});

describe('the commitment of a line item (11.3, 27)', () => {
  const committed = (amount: string) => ({
    commitment_type: 'amount',
    commitment_amount: amount,
    commitment_overage_factor: '1',
    commitment_true_up_enabled: true,
  });

  test('that changes from 500 to 800 on 16 Jan is used by both segments', async ({
    api,
    bill,
    world,
  }) => {
    const { id } = await world.subscribe({ amount: '0', invoice_cadence: 'ARREAR' });
    const price = { amount: '1', currency: 'usd', meter_id: world.meterId, type: 'USAGE' };
    const added = await api.make(`/v1/subscriptions/${id}/lineitems`, {
      price: { ...price, billing_model: 'FLAT_FEE' },
      ...committed('500'),
    });
    expect(added).toMatchObject({ commitment_type: 'amount', commitment_amount: '500' });
    await world.use('2026-01-05T00:00:00Z', 300);
    await bill('2026-01-16T00:00:00Z');
    const { status, body } = await world.change(added, committed('800'));
    expect([status, body.commitment_amount, body.price_id]).toEqual([200, '800', added.price_id]);
    await world.use('2026-01-20T00:00:00Z', 200);
    await bill('2026-02-01T02:00:00Z');
    expect(await world.lines(id)).toEqual([
      '01-01 02-01 0.00',
      '01-01 01-16 300.00',
      '01-16 02-01 500.00',
    ]);
  });
});

describe('a line that is added to a running subscription (27)', () => {
  test('can have coupons of its own', async ({ api, bill, world }) => {
    const { id } = await world.subscribe({ amount: '31', invoice_cadence: 'ARREAR' });
    await api.make('/v1/coupons', {
      name: 'Half',
      coupon_code: 'HALF',
      type: 'percentage',
      percentage_off: '50',
      cadence: 'forever',
    });
    const price = { amount: '10', currency: 'usd', invoice_cadence: 'ARREAR' };
    const path = `/v1/subscriptions/${id}/lineitems`;
    await api.make(path, { price, coupons: ['HALF'] });
    const wrong = await api.call('POST', path, { body: { price, coupons: ['HALF', 'X'] } });
    expect(wrong.status).toBe(404);
    await bill('2026-02-01T02:00:00Z');
    expect(await world.invoices(id)).toEqual(['2026-01-01 SUBSCRIPTION_CYCLE 36.00']);
  });
});
