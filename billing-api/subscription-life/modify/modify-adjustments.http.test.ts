import { describe, expect } from 'vitest';
import { test as billedTest } from '../../testing/billed-test.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import type { Answer } from '../../testing/money-test.js';
import { payOpen } from '../../testing/pay-open.js';

type World = {
  /** A subscription to ten seats of 12.00 from 1 Jan 2026. */
  readonly subscribe: (price?: object, members?: object) => Promise<Answer>;
  readonly modify: (id: string, body: object, path?: string) => Promise<Answer>;
  readonly coupon: (code: string, members?: object) => Promise<Answer>;
  readonly rate: (code: string, percentage: string) => Promise<Answer>;
  readonly invoices: (id: string) => Promise<readonly string[]>;
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill }, use) => {
    await bill('2026-01-01T00:00:00Z');
    await api.make('/v1/customers', { external_id: 'acme' });
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
      modify: (id, body, path = 'execute') =>
        api.call('POST', `/v1/subscriptions/${id}/modify/${path}`, { body }),
      coupon: (code, members = {}) =>
        api.make('/v1/coupons', {
          name: code,
          coupon_code: code,
          type: 'percentage',
          percentage_off: '50',
          cadence: 'forever',
          ...members,
        }),
      rate: (code, percentage) =>
        api.make('/v1/taxes/rates', {
          name: code,
          code,
          tax_rate_type: 'percentage',
          percentage_value: percentage,
        }),
      invoices: async (id) => {
        const { items } = await api.make('/v1/invoices/search', { subscription_id: id });
        return items
          .sort((a: Answer, b: Answer) => a.billing_sequence - b.billing_sequence)
          .map((one: Answer) => `${one.period_start.slice(0, 10)} ${one.subtotal} ${one.total}`);
      },
    });
    await expectBalancedBooks(api);
  },
});

const couponsOf = (params: object) => ({ type: 'coupon', coupon_params: params });
const taxesOf = (params: object) => ({ type: 'tax', tax_params: params });

describe('a coupon of a running subscription (14)', () => {
  test('that begins or ends inside a period discounts the invoice of that period in full', async ({
    api,
    bill,
    world,
  }) => {
    const { id, version } = await world.subscribe();
    await world.coupon('HALF');
    await bill('2026-01-16T00:00:00Z');
    const wanted = couponsOf({ add: [{ coupon_code: 'HALF' }] });
    const preview = await world.modify(id, wanted, 'preview');
    expect(preview.body.changed_resources.coupon_associations).toMatchObject([
      { change_action: 'attached', start_date: '2026-01-16T00:00:00.000Z', end_date: null },
    ]);
    const unchanged = (await api.call('GET', `/v1/subscriptions/${id}`)).body;
    expect([unchanged.coupon_associations, unchanged.version]).toEqual([[], version]);
    const { status, body } = await world.modify(id, wanted);
    const [attached] = body.changed_resources.coupon_associations;
    expect([status, body.subscription.version, attached.coupon.total_redemptions]).toEqual([
      200,
      version + 1,
      1,
    ]);
    expect(body.subscription.coupon_associations).toHaveLength(1);
    await bill('2026-02-10T00:00:00Z');
    const ended = await world.modify(id, couponsOf({ remove: [attached.id] }));
    expect(ended.body.changed_resources.coupon_associations).toMatchObject([
      { id: attached.id, change_action: 'ended', end_date: '2026-02-10T00:00:00.000Z' },
    ]);
    await bill('2026-04-01T02:00:00Z');
    expect(await world.invoices(id)).toEqual([
      '2026-01-01 120.00 120.00',
      '2026-01-01 120.00 60.00',
      '2026-02-01 120.00 60.00',
      '2026-03-01 120.00 120.00',
    ]);
    const twice = await world.modify(id, couponsOf({ remove: [attached.id] }));
    expect([twice.status, twice.body.message]).toEqual([
      400,
      expect.stringContaining('has ended already'),
    ]);
  });

  test('that has discounted nothing is taken away, and its redemption stays counted', async ({
    api,
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    const { id: couponId } = await world.coupon('HALF');
    const add = [{ coupon_code: 'HALF', end_date: '2026-03-01T00:00:00Z' }];
    const { body } = await world.modify(id, couponsOf({ add }));
    const [attached] = body.changed_resources.coupon_associations;
    expect(attached.end_date).toBe('2026-03-01T00:00:00.000Z');
    const removed = await world.modify(id, couponsOf({ remove: [attached.id] }));
    expect(removed.body.changed_resources.coupon_associations).toMatchObject([
      { change_action: 'removed', status: 'deleted' },
    ]);
    expect(removed.body.subscription.coupon_associations).toEqual([]);
    expect((await api.call('GET', `/v1/coupons/${couponId}`)).body.total_redemptions).toBe(1);
    await bill('2026-02-01T02:00:00Z');
    expect((await world.invoices(id))[1]).toBe('2026-01-01 120.00 120.00');
    const again = await world.modify(id, couponsOf({ remove: [attached.id] }));
    expect(again.status).toBe(404);
  });

  test('on a line goes on with the line that continues it, and is taken once of both', async ({
    bill,
    world,
  }) => {
    const { id, line_items: lines } = await world.subscribe({ invoice_cadence: 'ARREAR' });
    await world.coupon('FIVE', {
      type: 'fixed',
      percentage_off: undefined,
      amount_off: '5',
      currency: 'usd',
    });
    const add = [{ coupon_code: 'FIVE', line_item_id: lines[0].id }];
    expect((await world.modify(id, couponsOf({ add }))).status).toBe(200);
    await bill('2026-01-16T00:00:00Z');
    const quantities = { line_items: [{ id: lines[0].id, quantity: '15' }] };
    await world.modify(id, { type: 'quantity_change', quantity_change_params: quantities });
    await bill('2026-03-01T02:00:00Z');
    // 120 × 15 ÷ 31 and 180 × 16 ÷ 31, less 5.00; then 180 less 5.00.
    expect(await world.invoices(id)).toEqual([
      '2026-01-01 150.96 145.96',
      '2026-02-01 180.00 175.00',
    ]);
  });

  test('on a line lowers what fewer seats give back', async ({ api, bill, world }) => {
    const { id, line_items: lines } = await world.subscribe();
    await world.coupon('HALF');
    const add = [{ coupon_code: 'HALF', line_item_id: lines[0].id }];
    await world.modify(id, couponsOf({ add }));
    await bill('2026-02-15T00:00:00Z');
    await payOpen(api);
    const quantities = { line_items: [{ id: lines[0].id, quantity: '7' }] };
    const { body } = await world.modify(id, {
      type: 'quantity_change',
      quantity_change_params: quantities,
    });
    // 3 × 12.00 × 14 ÷ 28, of which half was paid.
    expect(body.changed_resources.invoices).toMatchObject([
      { wallet_transaction: { credit_amount: '9' } },
    ]);
  });

  test('is refused with the member and the remedy', async ({ bill, world }) => {
    const { id, line_items: lines } = await world.subscribe();
    const other = await world.subscribe();
    await world.coupon('HALF');
    await world.coupon('EURO', {
      type: 'fixed',
      percentage_off: undefined,
      amount_off: '5',
      currency: 'eur',
    });
    const place = 'coupon_params.add.0';
    const added = (member: object) => couponsOf({ add: [{ coupon_code: 'HALF', ...member }] });
    for (const [body, member] of [
      [couponsOf({}), 'coupon_params'],
      [added({ coupon_code: 'EURO' }), `${place}.coupon_code`],
      [added({ line_item_id: other.line_items[0].id }), `${place}.line_item_id`],
      [added({ start_date: '2025-12-31T00:00:00Z' }), `${place}.start_date`],
      [added({ end_date: '2026-01-01T00:00:00Z' }), `${place}.end_date`],
      [{ type: 'coupon' }, 'coupon_params'],
      [{ ...added({}), type: 'tax' }, 'coupon_params'],
    ] as const) {
      const refused = await world.modify(id, body);
      expect([body, refused.status, Object.keys(refused.body.details)]).toEqual([
        body,
        400,
        [member],
      ]);
    }
    expect((await world.modify(id, added({ coupon_code: 'NOBODY' }))).status).toBe(404);
    const foreign = await world.modify(other.id, added({}));
    const [{ id: associationId }] = foreign.body.changed_resources.coupon_associations;
    const stolen = await world.modify(id, couponsOf({ remove: [associationId] }));
    expect(stolen.status).toBe(404);
    const draft = await world.subscribe({}, { subscription_status: 'draft' });
    const early = await world.modify(draft.id, added({}));
    expect([early.status, early.body.code]).toEqual([400, 'invalid_operation']);
    await bill('2026-01-16T00:00:00Z');
    const body = { quantity: '7', id: lines[0].id };
    await world.modify(id, {
      type: 'quantity_change',
      quantity_change_params: { line_items: [body] },
    });
    const ended = await world.modify(id, added({ line_item_id: lines[0].id }));
    expect(Object.keys(ended.body.details)).toEqual([`${place}.line_item_id`]);
  });
});

describe('tax rates of a running subscription (15)', () => {
  test('are taken on invoices that are finalized from then on, and no more when they are off', async ({
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    await world.rate('VAT', '20');
    await bill('2026-01-16T00:00:00Z');
    const { status, body } = await world.modify(id, taxesOf({ add: [{ tax_rate_code: 'VAT' }] }));
    const [attached] = body.changed_resources.tax_associations;
    expect([status, attached.priority, attached.entity_id, attached.change_action]).toEqual([
      200,
      100,
      id,
      'attached',
    ]);
    await bill('2026-02-10T00:00:00Z');
    const removed = await world.modify(id, taxesOf({ remove: [attached.id] }));
    expect(removed.body.changed_resources.tax_associations).toMatchObject([
      { id: attached.id, change_action: 'removed', status: 'archived' },
    ]);
    await bill('2026-03-01T02:00:00Z');
    expect(await world.invoices(id)).toEqual([
      '2026-01-01 120.00 120.00',
      '2026-01-01 120.00 144.00',
      '2026-02-01 120.00 120.00',
    ]);
  });

  test('are refused with the member and the remedy', async ({ world }) => {
    const { id } = await world.subscribe();
    const other = await world.subscribe();
    await world.rate('VAT', '20');
    const { body } = await world.modify(other.id, taxesOf({ add: [{ tax_rate_code: 'VAT' }] }));
    const [{ id: associationId }] = body.changed_resources.tax_associations;
    expect((await world.modify(id, taxesOf({ remove: [associationId] }))).status).toBe(404);
    expect((await world.modify(id, taxesOf({ add: [{ tax_rate_code: 'X' }] }))).status).toBe(404);
    const nothing = await world.modify(id, taxesOf({ add: [] }));
    expect(Object.keys(nothing.body.details)).toEqual(['tax_params']);
  });
});
