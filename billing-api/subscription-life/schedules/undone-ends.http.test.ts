import { describe, expect } from 'vitest';
import { test as billedTest } from '../../testing/billed-test.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import type { Answer } from '../../testing/money-test.js';
import { payOpen } from '../../testing/pay-open.js';

type World = {
  /** A customer with a subscription to ten seats of 10.00 in advance, from 1 Jan 2026. */
  readonly subscribe: (members?: object) => Promise<string>;
  /** Asks for an end at a date. */
  readonly end: (id: string, date: string, members?: object) => Promise<void>;
  /** Cancels the end that is to come. */
  readonly undo: (id: string) => Promise<void>;
  readonly price: (id: string, amount: string) => Promise<void>;
  readonly seats: (id: string, quantity: string) => Promise<void>;
  readonly cancel: (id: string) => Promise<Answer>;
  /** Pauses the first ten days of the period that follows the running one. */
  readonly pauseNext: (id: string) => Promise<void>;
  /** Start of the period, reason and total of each invoice. */
  readonly invoices: (id: string) => Promise<readonly string[]>;
  /** What the wallets of its customer have. */
  readonly balances: (id: string) => Promise<readonly string[]>;
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill }, use) => {
    await bill('2026-01-01T00:00:00Z');
    const post = async (path: string, body: object): Promise<Answer> => {
      const answer = await api.call('POST', `/v1/subscriptions/${path}`, { body });
      expect(answer).toMatchObject({ status: 200 });
      return answer.body;
    };
    const get = async (path: string): Promise<Answer> =>
      (await api.call('GET', `/v1/subscriptions/${path}`)).body;
    /** The last one of those that continue each other. */
    const lineOf = async (id: string): Promise<string> => {
      const { line_items: lines } = await get(id);
      const continued = lines.map((one: Answer) => one.predecessor_id);
      return lines.find((one: Answer) => !continued.includes(one.id)).id;
    };
    await use({
      subscribe: async (members = {}) => {
        const plan = await api.make('/v1/plans', { name: 'Pro' });
        const price = { amount: '10', min_quantity: 10, invoice_cadence: 'ADVANCE' };
        await api.make('/v1/prices', { entity_id: plan.id, currency: 'usd', ...price });
        const customer = await api.make('/v1/customers', { external_id: `of ${plan.id}` });
        const made = await api.make('/v1/subscriptions', {
          external_customer_id: customer.external_id,
          plan_id: plan.id,
          currency: 'usd',
          billing_period: 'MONTHLY',
          start_date: '2026-01-01T00:00:00Z',
          ...members,
        });
        return made.id;
      },
      end: async (id, date, members = {}) => {
        const dated = { cancellation_type: 'scheduled_date', cancel_at: `${date}T00:00:00Z` };
        await post(`${id}/cancel`, { ...dated, ...members });
      },
      undo: async (id) => {
        const { items } = await get(`${id}/schedules`);
        const pending = items.find((one: Answer) => one.schedule_status === 'pending');
        await post(`schedules/${pending.id}/cancel`, {});
      },
      price: async (id, amount) => {
        await payOpen(api);
        const path = `/v1/subscriptions/lineitems/${await lineOf(id)}`;
        expect(await api.call('PUT', path, { body: { amount } })).toMatchObject({ status: 200 });
      },
      seats: async (id, quantity) => {
        await payOpen(api);
        const line_items = [{ id: await lineOf(id), quantity }];
        const params = { quantity_change_params: { line_items } };
        await post(`${id}/modify/execute`, { type: 'quantity_change', ...params });
      },
      cancel: async (id) => {
        await payOpen(api);
        return post(`${id}/cancel`, { proration_behavior: 'create_prorations' });
      },
      pauseNext: async (id) => {
        await post(`${id}/pause`, { pause_mode: 'period_end', pause_days: 10 });
      },
      invoices: async (id) =>
        (await api.make('/v1/invoices/search', { subscription_id: id })).items
          .map(
            (one: Answer) =>
              `${one.period_start.slice(0, 10)} ${one.billing_reason} ${one.subtotal}`,
          )
          .sort(),
      balances: async (id) => {
        const { customer_id: customer } = await get(id);
        const { items } = await api.make('/v1/wallets/search', { customer_ids: [customer] });
        return items.map((one: Answer) => one.credit_balance);
      },
    });
    await expectBalancedBooks(api);
  },
});

const OPENING = '2026-01-01 SUBSCRIPTION_CREATE 100.00';

/** An end on 24 Jan, asked for on the 10th; changes on the 16th, and it is undone on the 18th. */
const CHANGES: readonly (readonly [
  name: string,
  change: (world: World, id: string) => Promise<void>,
  charged: readonly string[],
  balances: readonly string[],
])[] = [
  [
    'a price that is higher',
    ({ price }, id) => price(id, '20'),
    // Twice 100.00 × 8 ÷ 31; 200.00 from then on.
    [
      '2026-01-01 SUBSCRIPTION_CYCLE 200.00',
      '2026-01-16 PRORATION 25.81',
      '2026-01-24 PRORATION 25.81',
    ],
    [],
  ],
  [
    'a price that is lower',
    ({ price }, id) => price(id, '5'),
    // Twice 50.00 × 8 ÷ 31.
    ['2026-01-01 SUBSCRIPTION_CYCLE 50.00'],
    ['25.8'],
  ],
  [
    'more seats',
    ({ seats }, id) => seats(id, '15'),
    // 50.00 × 8 ÷ 31 until the end, and 38.71 less 25.81 beyond it.
    [
      '2026-01-01 SUBSCRIPTION_CYCLE 150.00',
      '2026-01-16 PRORATION 12.90',
      '2026-01-24 PRORATION 12.90',
    ],
    [],
  ],
  [
    'fewer seats',
    ({ seats }, id) => seats(id, '7'),
    // Twice 30.00 × 8 ÷ 31.
    ['2026-01-01 SUBSCRIPTION_CYCLE 70.00'],
    ['15.48'],
  ],
  [
    'fewer seats of a higher price',
    async ({ price, seats }, id) => {
      await price(id, '20');
      await seats(id, '7');
    },
    // 25.81 more until the end, then 36.13 less the 51.62 that are charged; 36.13 less 25.81 beyond
    // it, which that pays.
    [
      '2026-01-01 SUBSCRIPTION_CYCLE 140.00',
      '2026-01-16 PRORATION 25.81',
      '2026-01-24 PRORATION 10.32',
    ],
    ['5.17'],
  ],
  [
    'another price and back',
    async ({ price }, id) => {
      await price(id, '20');
      await price(id, '10');
    },
    ['2026-01-01 SUBSCRIPTION_CYCLE 100.00', '2026-01-16 PRORATION 25.81'],
    ['25.81'],
  ],
];

describe('an end that is undone after a period was charged beyond it (24.4)', () => {
  test.for(CHANGES)(
    'settles the time after it by %s',
    async ([, change, charged, left], { bill, world }) => {
      const ids = [await world.subscribe(), await world.subscribe()] as const;
      await bill('2026-01-10T00:00:00Z');
      await world.end(ids[0], '2026-01-24', { proration_behavior: 'create_prorations' });
      await world.end(ids[1], '2026-01-24', { proration_behavior: 'none' });
      await bill('2026-01-16T00:00:00Z');
      for (const id of ids) await change(world, id);
      await bill('2026-01-18T00:00:00Z');
      for (const id of ids) {
        await world.undo(id);
        expect(await world.balances(id)).toEqual(left);
      }
      await bill('2026-02-01T02:00:00Z');
      for (const id of ids) expect(await world.invoices(id)).toEqual([OPENING, ...charged].sort());
    },
  );

  test('twice settles it once, and gives back what is left of both', async ({ bill, world }) => {
    const id = await world.subscribe();
    await bill('2026-01-10T00:00:00Z');
    await world.end(id, '2026-01-24');
    await bill('2026-01-16T00:00:00Z');
    await world.seats(id, '7');
    await world.undo(id);
    await world.end(id, '2026-01-24');
    await world.undo(id);
    expect(await world.balances(id)).toEqual(['15.48']);
    await bill('2026-01-24T00:00:00Z');
    // 100.00 × 8 ÷ 31 less 7.74.
    expect((await world.cancel(id)).total_credit_amount).toBe('18.07');
  });
});

describe('an end that is undone after a period was charged up to it (24.4)', () => {
  test('has the rest charged by the price in force then', async ({ bill, world }) => {
    const id = await world.subscribe();
    await bill('2026-01-10T00:00:00Z');
    await world.end(id, '2026-02-15');
    await bill('2026-02-05T00:00:00Z');
    await world.price(id, '20');
    await bill('2026-02-08T00:00:00Z');
    await world.undo(id);
    await bill('2026-03-01T02:00:00Z');
    expect(await world.invoices(id)).toEqual([
      '2026-01-01 SUBSCRIPTION_CREATE 100.00',
      // 100.00 × 14 ÷ 28.
      '2026-01-01 SUBSCRIPTION_CYCLE 50.00',
      '2026-02-01 SUBSCRIPTION_CYCLE 200.00',
      // 200.00 × 10 ÷ 28 less 50.00 × 10 ÷ 14, and 200.00 × 14 ÷ 28.
      '2026-02-05 PRORATION 35.71',
      '2026-02-15 PRORATION 100.00',
    ]);
  });

  test('has it discounted as the charge up to it was', async ({ api, bill, world }) => {
    await api.make('/v1/coupons', {
      name: 'Tenth',
      coupon_code: 'TENTH',
      type: 'percentage',
      percentage_off: '10',
      cadence: 'repeated',
      duration_in_periods: 2,
    });
    const id = await world.subscribe({ coupons: ['TENTH'] });
    await bill('2026-01-10T00:00:00Z');
    await world.end(id, '2026-02-15');
    await bill('2026-02-08T00:00:00Z');
    await world.undo(id);
    const { items } = await api.make('/v1/invoices/search', { subscription_id: id });
    const totals = items.map((one: Answer) => `${one.billing_reason} ${one.total}`).sort();
    expect(totals).toEqual([
      'PRORATION 45.00',
      'SUBSCRIPTION_CREATE 90.00',
      'SUBSCRIPTION_CYCLE 45.00',
    ]);
  });
});

/** January has nothing in arrear, and February is held back. */
const HELD = [OPENING, '2026-01-01 SUBSCRIPTION_CYCLE 0.00'];

/** February lasts until 11 Mar: it began with a pause, and was charged on 11 Feb. */
describe('an end that is undone in a period that began with a pause (24.4, 26)', () => {
  test('after that was charged beyond it settles the time after it by what changed meanwhile', async ({
    bill,
    world,
  }) => {
    const [dearer, fewer] = [await world.subscribe(), await world.subscribe()];
    for (const id of [dearer, fewer]) await world.pauseNext(id);
    await bill('2026-02-15T00:00:00Z');
    for (const id of [dearer, fewer]) await world.end(id, '2026-02-25');
    await bill('2026-02-18T00:00:00Z');
    await world.price(dearer, '20');
    await world.seats(fewer, '4');
    await bill('2026-02-20T00:00:00Z');
    for (const id of [dearer, fewer]) await world.undo(id);
    expect(await world.invoices(dearer)).toEqual([
      ...HELD,
      '2026-02-01 SUBSCRIPTION_UPDATE 100.00',
      // 200.00 × 7 ÷ 28 less 25.00 until the end, and 200.00 × 14 ÷ 28 less 50.00 after it.
      '2026-02-18 PRORATION 25.00',
      '2026-02-25 PRORATION 50.00',
    ]);
    // Six tenths of 25.00 and of 50.00.
    expect(await world.balances(fewer)).toEqual(['45']);
    await bill('2026-03-04T00:00:00Z');
    // A quarter of February is left.
    expect((await world.cancel(dearer)).total_credit_amount).toBe('50.00');
    expect((await world.cancel(fewer)).total_credit_amount).toBe('10.00');
  });

  test('after that was charged up to it has the rest charged', async ({ bill, world }) => {
    const id = await world.subscribe();
    await world.pauseNext(id);
    await world.end(id, '2026-02-25');
    await bill('2026-02-20T00:00:00Z');
    await world.undo(id);
    await bill('2026-03-11T02:00:00Z');
    expect(await world.invoices(id)).toEqual([
      ...HELD,
      // 100.00 × 14 ÷ 28 on either side of the end.
      '2026-02-01 SUBSCRIPTION_CYCLE 100.00',
      '2026-02-01 SUBSCRIPTION_UPDATE 50.00',
      '2026-02-25 PRORATION 50.00',
    ]);
  });
});
