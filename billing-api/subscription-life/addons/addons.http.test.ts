import { describe, expect } from 'vitest';
import { test as billedTest } from '../../testing/billed-test.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import type { Answer } from '../../testing/money-test.js';
import { payOpen } from '../../testing/pay-open.js';

type World = {
  readonly id: string;
  readonly addon: string;
  readonly invoices: () => Promise<readonly string[]>;
};

/** A subscription of 31.00 in arrear from 1 Jan 2026, and an addon of 30.00 in advance. */
const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill }, use) => {
    await bill('2026-01-01T00:00:00Z');
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const arrear = { currency: 'usd', amount: '31', invoice_cadence: 'ARREAR' };
    await api.make('/v1/prices', { entity_id: plan.id, ...arrear });
    await api.make('/v1/customers', { external_id: 'acme' });
    const subscription = await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-01-01T00:00:00Z',
    });
    const addon = await api.make('/v1/addons', { name: 'Support', lookup_key: 'support' });
    await api.make('/v1/prices', {
      entity_type: 'ADDON',
      entity_id: addon.id,
      currency: 'usd',
      amount: '30',
      invoice_cadence: 'ADVANCE',
    });
    await bill('2026-01-16T00:00:00Z');
    await use({
      id: subscription.id as string,
      addon: addon.id as string,
      invoices: async () => {
        const { items } = await api.make('/v1/invoices/search', {});
        const lines = items.map(
          (one: Answer) => `${one.period_start.slice(0, 10)} ${one.billing_reason} ${one.total}`,
        );
        return lines.sort();
      },
    });
    await expectBalancedBooks(api);
  },
});

describe('an addon of a running subscription (27)', () => {
  test('is shown with dry_run, when it is added and removed, and nothing is stored', async ({
    api,
    world,
  }) => {
    const path = `/v1/subscriptions/${world.id}`;
    const addons = async () => (await api.call('GET', `${path}/addons/associations`)).body.items;
    const body = { subscription_id: world.id, addon_id: world.addon };
    const wanted = { ...body, proration_behavior: 'create_prorations' };
    const before = await world.invoices();
    const look = { ...wanted, dry_run: true };
    const shown = await api.call('POST', '/v1/subscriptions/addon', { body: look });
    expect([shown.body.dry_run, shown.body.invoice.total]).toEqual([true, '15.48']);
    expect([await addons(), await world.invoices()]).toEqual([[], before]);
    const added = await api.call('POST', '/v1/subscriptions/addon', { body: wanted });
    expect([added.body.dry_run, added.body.invoice.total]).toEqual([false, '15.48']);
    const removal = { addon_association_id: added.body.id, dry_run: true };
    const removed = await api.call('DELETE', '/v1/subscriptions/addon', { body: removal });
    expect([removed.body.dry_run, removed.body.addon_status]).toEqual([true, 'cancelled']);
    expect(await addons()).toMatchObject([{ id: added.body.id, addon_status: 'active' }]);
  });

  test('is charged for the rest of the period at once: 30.00 on 16 Jan gives 15.48', async ({
    api,
    bill,
    world,
  }) => {
    const body = { subscription_id: world.id, addon_id: world.addon, metadata: { a: '1' } };
    const added = await api.call('POST', '/v1/subscriptions/addon', {
      body: { ...body, proration_behavior: 'create_prorations' },
    });
    expect([added.status, added.body.addon_status, added.body.invoice.total]).toEqual([
      200,
      'active',
      '15.48',
    ]);
    // A day after it was finalized, as the setting says (16).
    expect(added.body.invoice.due_date).toBe('2026-01-17T00:00:00.000Z');
    expect(added.body.line_items).toMatchObject([
      { entity_type: 'addon', start_date: '2026-01-16T00:00:00.000Z' },
    ]);
    await bill('2026-02-01T02:00:00Z');
    expect(await world.invoices()).toEqual([
      '2026-01-01 SUBSCRIPTION_CYCLE 61.00',
      '2026-01-16 SUBSCRIPTION_UPDATE 15.48',
    ]);
    const path = `/v1/subscriptions/${world.id}/addons/associations`;
    const { items } = (await api.call('GET', path)).body;
    expect(added.body).toMatchObject({ ...items[0], invoice: added.body.invoice });
    expect(items).toHaveLength(1);
  });

  test('of a draft begins with it, and is on its opening invoice', async ({ api, bill, world }) => {
    const { body: plans } = await api.call('POST', '/v1/plans/search', { body: {} });
    await api.make('/v1/customers', { external_id: 'draft' });
    const draft = await api.make('/v1/subscriptions', {
      external_customer_id: 'draft',
      plan_id: plans.items[0].id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      subscription_status: 'draft',
    });
    const add = (members: object) =>
      api.call('POST', '/v1/subscriptions/addon', {
        body: { subscription_id: draft.id, addon_id: world.addon, ...members },
      });
    const added = await add({ proration_behavior: 'create_prorations' });
    expect([added.status, added.body.invoice]).toEqual([200, null]);
    const wrong = [
      await add({ cadence: 'onetime' }),
      await add({ start_date: '2026-01-20T00:00:00Z' }),
    ];
    expect(wrong.map(({ status, body }) => [status, Object.keys(body.details)])).toEqual([
      [400, ['cadence']],
      [400, ['start_date']],
    ]);
    await bill('2026-01-20T00:00:00Z');
    const start = '2026-02-01T00:00:00.000Z';
    const { body: begun } = await api.call('POST', `/v1/subscriptions/${draft.id}/activate`, {
      body: { start_date: start },
    });
    expect(begun.latest_invoice.total).toBe('30.00');
    const path = `/v1/subscriptions/${draft.id}/addons/associations`;
    const { items } = (await api.call('GET', path)).body;
    expect(items).toMatchObject([
      { addon_status: 'active', start_date: start, line_items: [{ start_date: start }] },
    ]);
    await bill('2026-03-01T02:00:00Z');
    const { items: invoices } = await api.make('/v1/invoices/search', {
      subscription_id: draft.id,
    });
    expect(invoices.map(({ total }: Answer) => total).sort()).toEqual(['30.00', '61.00']);
  });

  test('or with the next invoice, and ends with a period', async ({ api, bill, world }) => {
    const body = { subscription_id: world.id, addon_id: world.addon };
    const added = await api.make('/v1/subscriptions/addon', body);
    expect(added.invoice).toBeNull();
    await bill('2026-02-01T02:00:00Z');
    // 31.00, 15.48 for the rest of January, and 30.00 for February.
    expect(await world.invoices()).toEqual(['2026-01-01 SUBSCRIPTION_CYCLE 76.48']);
    const removed = await api.call('DELETE', '/v1/subscriptions/addon', {
      body: { addon_association_id: added.id, reason: 'too dear' },
    });
    expect(removed.body).toMatchObject({
      addon_status: 'cancelled',
      end_date: '2026-03-01T00:00:00.000Z',
      metadata: { cancellation_reason: 'too dear' },
    });
    await bill('2026-03-01T02:00:00Z');
    expect((await world.invoices())[1]).toBe('2026-02-01 SUBSCRIPTION_CYCLE 31.00');
    const twice = await api.call('DELETE', '/v1/subscriptions/addon', {
      body: { addon_association_id: added.id },
    });
    expect([twice.status, twice.body.message]).toEqual([400, expect.stringMatching(/cancelled/)]);
  });

  test('that is onetime lasts until the period ends, and is not refunded', async ({
    api,
    bill,
    world,
  }) => {
    const body = { subscription_id: world.id, addon_id: world.addon, cadence: 'onetime' };
    const added = await api.make('/v1/subscriptions/addon', {
      ...body,
      proration_behavior: 'create_prorations',
    });
    expect([added.cadence, added.end_date, added.line_items[0].end_date]).toEqual([
      'onetime',
      '2026-02-01T00:00:00.000Z',
      '2026-02-01T00:00:00.000Z',
    ]);
    expect(added.invoice.total).toBe('15.48');
    const removed = await api.call('DELETE', '/v1/subscriptions/addon', {
      body: {
        addon_association_id: added.id,
        proration_behavior: 'create_prorations',
        effective_date: '2026-01-24T00:00:00Z',
      },
    });
    expect([removed.status, removed.body.wallet_transaction]).toEqual([200, null]);
    await api.make('/v1/subscriptions/addon', body);
    await bill('2026-02-01T02:00:00Z');
    // 31.00, and 15.48 of the second one.
    expect((await world.invoices())[0]).toBe('2026-01-01 SUBSCRIPTION_CYCLE 46.48');
    await bill('2026-03-01T02:00:00Z');
    const { items } = (await api.call('GET', `/v1/subscriptions/${world.id}/addons/associations`))
      .body;
    expect(items.map((one: Answer) => one.addon_status)).toEqual(['cancelled', 'cancelled']);
    expect(await world.invoices()).toContain('2026-02-01 SUBSCRIPTION_CYCLE 31.00');
  });

  test('that ends with the period ends where a pause moves that, and one with a date on its day', async ({
    api,
    bill,
    world,
  }) => {
    const add = (members: object) =>
      api.make('/v1/subscriptions/addon', {
        subscription_id: world.id,
        addon_id: world.addon,
        ...members,
      });
    const removed = await add({});
    await add({ end_date: '2026-02-01T00:00:00Z' });
    await add({ cadence: 'onetime', proration_behavior: 'create_prorations' });
    const body = { addon_association_id: removed.id };
    await api.call('DELETE', '/v1/subscriptions/addon', { body });
    await bill('2026-01-20T00:00:00Z');
    const pause = { pause_mode: 'immediate', pause_days: 10 };
    await api.make(`/v1/subscriptions/${world.id}/pause`, pause);
    await bill('2026-02-05T00:00:00Z');
    const path = `/v1/subscriptions/${world.id}/addons/associations`;
    const { items } = (await api.call('GET', path)).body;
    const ends = items.map((one: Answer) => [one.end_date, one.line_items[0].end_date]);
    expect(ends).toEqual(
      ['02-11', '02-01', '02-11'].map((day) => Array(2).fill(`2026-${day}T00:00:00.000Z`)),
    );
    await bill('2026-03-11T03:00:00Z');
    expect(await world.invoices()).toEqual([
      // 31.00, 15.48 of the removed one, and 30.00 × 6 ÷ 31 of the one that ended on 1 Feb.
      '2026-01-01 SUBSCRIPTION_CYCLE 52.29',
      '2026-01-16 SUBSCRIPTION_UPDATE 15.48',
      '2026-02-11 SUBSCRIPTION_CYCLE 31.00',
    ]);
  });

  test('that ends with a period which is cut, and goes on after all, ends with all of it', async ({
    api,
    bill,
    world,
  }) => {
    await api.make(`/v1/subscriptions/${world.id}/cancel`, {
      cancellation_type: 'scheduled_date',
      cancel_at: '2026-01-24T00:00:00Z',
    });
    const { id } = await api.make('/v1/subscriptions/addon', {
      subscription_id: world.id,
      addon_id: world.addon,
      cadence: 'onetime',
      proration_behavior: 'create_prorations',
    });
    const { body: schedules } = await api.call('GET', `/v1/subscriptions/${world.id}/schedules`);
    await bill('2026-01-18T00:00:00Z');
    await api.make(`/v1/subscriptions/schedules/${schedules.items[0].id}/cancel`, {});
    const path = `/v1/subscriptions/${world.id}/addons/associations`;
    expect((await api.call('GET', path)).body.items).toMatchObject([
      { id, end_date: '2026-02-01T00:00:00.000Z' },
    ]);
    await bill('2026-03-01T03:00:00Z');
    expect(await world.invoices()).toEqual([
      // 30.00 × 8 ÷ 31 on either side of the end.
      '2026-01-01 SUBSCRIPTION_CYCLE 31.00',
      '2026-01-16 SUBSCRIPTION_UPDATE 7.74',
      '2026-01-24 PRORATION 7.74',
      '2026-02-01 SUBSCRIPTION_CYCLE 31.00',
    ]);
  });

  test('gives back what is unused when it is removed inside a period, once', async ({
    api,
    bill,
    world,
  }) => {
    const added = await api.make('/v1/subscriptions/addon', {
      subscription_id: world.id,
      addon_id: world.addon,
      proration_behavior: 'create_prorations',
    });
    await payOpen(api);
    await bill('2026-01-24T00:00:00Z');
    const removed = await api.call('DELETE', '/v1/subscriptions/addon', {
      body: {
        addon_association_id: added.id,
        proration_behavior: 'create_prorations',
        effective_date: '2026-01-24T00:00:00Z',
      },
    });
    expect(removed.body.wallet_transaction).toMatchObject({ credit_amount: '7.74' });
    const cancelled = await api.call('POST', `/v1/subscriptions/${world.id}/cancel`, {
      body: { cancellation_type: 'immediate', proration_behavior: 'create_prorations' },
    });
    expect(cancelled.body.total_credit_amount).toBe('0.00');
  });

  test('can end on a day, and have a price of its own', async ({ api, bill, world }) => {
    const { items } = await api.make('/v1/prices/search', { entity_ids: [world.addon] });
    const added = await api.make('/v1/subscriptions/addon', {
      subscription_id: world.id,
      addon_id: world.addon,
      end_date: '2026-02-15T00:00:00Z',
      override_line_items: [{ price_id: items[0].id, amount: '60', quantity: '2' }],
    });
    expect(added.line_items[0]).toMatchObject({
      quantity: '2',
      end_date: '2026-02-15T00:00:00.000Z',
      price: { amount: '60' },
    });
    await bill('2026-02-01T02:00:00Z');
    // 31.00, 120.00 × 16 ÷ 31, and 120.00 × 14 ÷ 28.
    expect(await world.invoices()).toEqual(['2026-01-01 SUBSCRIPTION_CYCLE 152.94']);
  });

  test('is refused with the member and the remedy', async ({ api, world }) => {
    const other = await api.make('/v1/addons', { name: 'Other', lookup_key: 'other' });
    const own = { subscription_id: world.id, addon_id: world.addon };
    for (const [body, member] of [
      [{ ...own, addon_id: other.id }, 'addon_id'],
      [{ ...own, start_date: '2025-12-31T00:00:00Z' }, 'start_date'],
      [{ ...own, start_date: '2026-02-01T00:00:00Z' }, 'start_date'],
      [{ ...own, end_date: '2026-01-16T00:00:00Z' }, 'end_date'],
      [{ ...own, cadence: 'onetime', end_date: '2026-01-20T00:00:00Z' }, 'end_date'],
      [{ ...own, override_line_items: [{ price_id: 'x' }] }, 'override_line_items.0.price_id'],
    ] as const) {
      const refused = await api.call('POST', '/v1/subscriptions/addon', { body });
      expect([body, refused.status, Object.keys(refused.body.details)]).toEqual([
        body,
        400,
        [member],
      ]);
    }
    const unknown = { ...own, addon_id: 'addon_x' };
    expect((await api.call('POST', '/v1/subscriptions/addon', { body: unknown })).status).toBe(404);
    const gone = { addon_association_id: 'addon_assoc_x' };
    expect((await api.call('DELETE', '/v1/subscriptions/addon', { body: gone })).status).toBe(404);
  });
});
