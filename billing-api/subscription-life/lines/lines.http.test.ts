import { describe, expect } from 'vitest';
import { test as billedTest } from '../../testing/billed-test.js';
import type { Answer } from '../../testing/money-test.js';
import { payOpen } from '../../testing/pay-open.js';

type World = {
  /** A subscription of 31.00 in arrear, from 1 Jan 2026, and a price of 62.00 in advance. */
  readonly id: string;
  readonly price: string;
  readonly invoices: () => Promise<readonly string[]>;
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill }, use) => {
    await bill('2026-01-01T00:00:00Z');
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const of = { entity_id: plan.id, currency: 'usd' };
    await api.make('/v1/prices', { ...of, amount: '31', invoice_cadence: 'ARREAR' });
    await api.make('/v1/customers', { external_id: 'acme' });
    const subscription = await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-01-01T00:00:00Z',
    });
    const other = await api.make('/v1/plans', { name: 'Extras' });
    const price = await api.make('/v1/prices', {
      entity_id: other.id,
      currency: 'usd',
      amount: '62',
      invoice_cadence: 'ADVANCE',
    });
    await use({
      id: subscription.id as string,
      price: price.id as string,
      invoices: async () => {
        const { items } = await api.make('/v1/invoices/search', {});
        return items
          .sort((a: Answer, b: Answer) => (a.period_start < b.period_start ? -1 : 1))
          .map((one: Answer) => `${one.period_start.slice(0, 10)} ${one.total}`);
      },
    });
  },
});

describe('line items of a running subscription (27)', () => {
  test('are added, and what they cost in advance for the rest of the period is on the next invoice', async ({
    api,
    bill,
    world,
  }) => {
    await bill('2026-01-16T00:00:00Z');
    const path = `/v1/subscriptions/${world.id}/lineitems`;
    const body = { price_id: world.price, display_name: 'Support', metadata: { a: '1' } };
    const added = await api.call('POST', path, { body });
    expect([added.status, added.body.start_date, added.body.entity_type]).toEqual([
      201,
      '2026-01-16T00:00:00.000Z',
      'subscription',
    ]);
    await bill('2026-02-01T02:00:00Z');
    // 31.00, 62.00 × 16 ÷ 31 for the rest of January, and 62.00 for February.
    expect(await world.invoices()).toEqual(['2026-01-01 125.00']);
    const found = await api.make('/v1/subscriptions/lineitems/search', {
      subscription_ids: [world.id],
      price_ids: [world.price],
      active_at: '2026-01-20T00:00:00Z',
    });
    expect(found.items).toEqual([added.body]);
    const earlier = { subscription_ids: [world.id], active_at: '2026-01-10T00:00:00Z' };
    expect((await api.make('/v1/subscriptions/lineitems/search', earlier)).items).toHaveLength(1);
  });

  test('name a price of their own subscription, and none of another one', async ({
    api,
    bill,
    world,
  }) => {
    await bill('2026-01-16T00:00:00Z');
    const price = { currency: 'usd', amount: '31', invoice_cadence: 'ARREAR' };
    const own = await api.make('/v1/prices', { subscription_id: world.id, ...price });
    const added = await api.make(`/v1/subscriptions/${world.id}/lineitems`, { price_id: own.id });
    expect(added).toMatchObject({ price_id: own.id, entity_type: 'subscription' });
    const { plan_id } = (await api.call('GET', `/v1/subscriptions/${world.id}`)).body;
    await api.make('/v1/customers', { external_id: 'other' });
    const other = await api.make('/v1/subscriptions', {
      external_customer_id: 'other',
      plan_id,
      currency: 'usd',
      billing_period: 'MONTHLY',
    });
    const refused = await api.call('POST', `/v1/subscriptions/${other.id}/lineitems`, {
      body: { price_id: own.id },
    });
    expect([refused.status, refused.body.details]).toEqual([
      400,
      { price_id: 'is a price of another subscription' },
    ]);
    await bill('2026-02-01T02:00:00Z');
    // 31.00, and 31.00 × 16 ÷ 31 for the rest of January.
    expect((await world.invoices())[0]).toBe('2026-01-01 47.00');
  });

  test('end, at once or on a day, and are not charged from then on', async ({
    api,
    bill,
    world,
  }) => {
    const [line] = (await api.call('GET', `/v1/subscriptions/${world.id}`)).body.line_items;
    await bill('2026-01-11T00:00:00Z');
    const ended = await api.call('DELETE', `/v1/subscriptions/lineitems/${line.id}`, { body: {} });
    expect([ended.status, ended.body.end_date]).toEqual([200, '2026-01-11T00:00:00.000Z']);
    const twice = await api.call('DELETE', `/v1/subscriptions/lineitems/${line.id}`, { body: {} });
    expect([twice.status, twice.body.message]).toEqual([400, expect.stringContaining('already')]);
    const body = { price_id: world.price };
    const added = await api.make(`/v1/subscriptions/${world.id}/lineitems`, body);
    await bill('2026-02-01T02:00:00Z');
    // 31.00 × 10 ÷ 31, 62.00 × 21 ÷ 31 for the rest of January, and 62.00 for February.
    expect(await world.invoices()).toEqual(['2026-01-01 114.00']);
    await payOpen(api);
    await bill('2026-02-15T00:00:00Z');
    const end = (members: object) =>
      api.call('DELETE', `/v1/subscriptions/lineitems/${added.id}`, { body: members });
    const prorated = { proration_behavior: 'create_prorations' };
    const later = await end({ ...prorated, effective_from: '2026-03-02T00:00:00Z' });
    expect([later.status, later.body.message]).toEqual([400, expect.stringContaining('period')]);
    expect((await end(prorated)).body.end_date).toBe('2026-02-15T00:00:00.000Z');
    const { items } = await api.make('/v1/wallets/search', { external_customer_id: 'acme' });
    // 62.00 × 14 ÷ 28, as a quantity of 0 gives back.
    expect(items.map((one: Answer) => one.credit_balance)).toEqual(['31']);
    const cancel = `/v1/subscriptions/${world.id}/cancel`;
    expect((await api.call('POST', cancel, { body: prorated })).body.total_credit_amount).toBe(
      '0.00',
    );
  });

  test('change their name in place, and their quantity by a successor', async ({
    api,
    bill,
    world,
  }) => {
    const [line] = (await api.call('GET', `/v1/subscriptions/${world.id}`)).body.line_items;
    const path = `/v1/subscriptions/lineitems/${line.id}`;
    const named = await api.call('PUT', path, { body: { display_name: 'Base', metadata: {} } });
    expect(named.body).toMatchObject({ id: line.id, display_name: 'Base', end_date: null });
    await bill('2026-01-11T00:00:00Z');
    const { body } = await api.call('PUT', path, { body: { quantity: '3' } });
    expect(body).toMatchObject({ predecessor_id: line.id, quantity: '3', display_name: 'Base' });
    await bill('2026-02-01T02:00:00Z');
    // 31.00 × 10 ÷ 31 + 93.00 × 21 ÷ 31.
    expect(await world.invoices()).toEqual(['2026-01-01 73.00']);
  });

  test('are refused with the member and the remedy', async ({ api, world }) => {
    const path = `/v1/subscriptions/${world.id}/lineitems`;
    for (const [body, member] of [
      [{}, 'price_id'],
      [{ price_id: world.price, quantity: '-1' }, 'quantity'],
      [{ price_id: world.price, start_date: '2025-12-01T00:00:00Z' }, 'start_date'],
      [{ price_id: world.price, end_date: '2025-12-01T00:00:00Z' }, 'end_date'],
    ] as const) {
      const refused = await api.call('POST', path, { body });
      expect([body, refused.status, Object.keys(refused.body.details)]).toEqual([
        body,
        400,
        [member],
      ]);
      expect(refused.body.message).toMatch(member);
    }
    const unknown = await api.call('POST', path, { body: { price_id: 'price_x' } });
    expect(unknown.status).toBe(404);
    const line = '/v1/subscriptions/lineitems/subs_line_x';
    expect((await api.call('PUT', line, { body: {} })).status).toBe(404);
    expect((await api.call('DELETE', line, { body: {} })).status).toBe(404);
    await api.call('POST', `/v1/subscriptions/${world.id}/cancel`, { body: {} });
    const ended = await api.call('POST', path, { body: { price_id: world.price } });
    expect([ended.status, ended.body.message]).toEqual([400, expect.stringContaining('cancelled')]);
  });
});
