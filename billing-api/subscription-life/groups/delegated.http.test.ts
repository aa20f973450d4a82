import { describe, expect } from 'vitest';
import { test } from '../../testing/hierarchy-test.js';
import { expectRefused, type Answer } from '../../testing/money-test.js';
import { payOpen } from '../../testing/pay-open.js';
import { verifyBundle } from '../../reading/verify/invoice-bundle.js';

const PAID_BY_HOLDING = { inheritance: { invoicing_customer_external_id: 'holding' } };

describe('delegated invoicing (29.3)', () => {
  test('another customer receives and pays the invoices: wallet, taxes, ledger, verification', async ({
    api,
    bill,
    world,
  }) => {
    const { holding, north } = world.customers;
    const tax = { name: 'VAT', tax_rate_type: 'percentage' };
    for (const [code, percentage_value, owner] of [
      ['OWN', '50', north.id],
      ['PAYER', '10', holding.id],
    ] as const) {
      await api.make('/v1/taxes/rates', { ...tax, code, percentage_value });
      await api.make('/v1/taxes/associations', {
        tax_rate_code: code,
        entity_type: 'customer',
        entity_id: owner,
        auto_apply: true,
      });
    }
    const wallets: Answer[] = [];
    for (const { id } of [holding, north]) {
      const wallet = await api.make('/v1/wallets', { customer_id: id, currency: 'usd' });
      await api.make(`/v1/wallets/${wallet.id}/top-up`, {
        credits_to_add: '30',
        transaction_reason: 'FREE_CREDIT_GRANT',
        idempotency_key: id,
      });
      wallets.push(wallet);
    }
    const subscription = await world.subscribe('north', PAID_BY_HOLDING);
    expect(subscription).toMatchObject({
      subscription_type: 'delegated_invoicing',
      customer_id: north.id,
      invoicing_customer_id: holding.id,
      parent_subscription_id: null,
      latest_invoice: { customer_id: holding.id, subscription_customer_id: north.id },
    });
    await world.use('north', '2026-01-10T00:00:00Z', 20);
    await world.use('holding', '2026-01-10T00:00:00Z', 1000);
    await bill('2026-01-20T00:00:00Z');
    const real = await api.call('GET', `/v1/wallets/${wallets[0].id}/balance/real-time`);
    expect([real.body.current_period_usage, real.body.real_time_balance]).toEqual(['40.00', '-10']);
    const own = await api.call('GET', `/v1/wallets/${wallets[1].id}/balance/real-time`);
    expect([own.body.current_period_usage, own.body.real_time_balance]).toEqual(['0.00', '30']);
    await bill('2026-02-01T03:00:00Z');
    // 100.00 + 10.00 tax; 100.00 + 40.00 + 14.00 tax, of which credits pay 30.00 of the usage.
    expect(await world.invoices({ customer_id: holding.id })).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE FINALIZED 110.00',
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 124.00',
    ]);
    expect(await world.invoices({ customer_id: north.id })).toEqual([]);
    const query = { subscription_customer_id: [north.id], billing_reason: 'SUBSCRIPTION_CYCLE' };
    const [cycle] = await world.find(query);
    const path = `/v1/invoices/${cycle.id}`;
    const { body: invoice } = await api.call('GET', path);
    expect(invoice).toMatchObject({
      customer: { external_id: 'holding' },
      taxes: [{ tax_rate_id: expect.any(String), tax_amount: '14.00' }],
    });
    const usage = invoice.line_items.find((one: Answer) => one.price_type === 'USAGE');
    expect([usage.amount, usage.quantity]).toEqual(['40.00', '20']);
    const explained = await api.call('GET', `${path}/line_items/${usage.id}/explain`);
    expect(explained.body.customers).toEqual([north.id]);
    const events = await api.call('GET', `${path}/line_items/${usage.id}/events`);
    expect(events.body.items.map((one: Answer) => one.external_customer_id)).toEqual(['north']);
    const verified = await api.call('GET', `${path}/verify`);
    expect(verified.body).toMatchObject({ same_from_inputs: true, same_from_events: true });
    const bundle = await api.call('GET', `${path}/bundle`);
    expect(verifyBundle(bundle.body)).toEqual([]);
    const balances = async (id: string) => {
      const { body } = await api.call('GET', `/v1/customers/${id}/invoices/summary`);
      return body.items.map((one: Answer) => [one.total_revenue, one.receivable]);
    };
    expect(await balances(holding.id)).toEqual([['234.00', '234']]);
    expect(await balances(north.id)).toEqual([['0.00', '0']]);
    // Both see what happened.
    for (const { id } of [holding, north]) {
      const { body } = await api.call('GET', `/v1/customers/${id}/timeline`);
      const kinds = body.items.map((one: Answer) => `${one.entity_type} ${one.action}`);
      expect(kinds).toContain('subscription created');
      expect(kinds).toContain('invoice finalize');
    }
  });

  test('gives what is unused of charges in advance to the customer who paid it', async ({
    api,
    bill,
    world,
  }) => {
    const { holding, north } = world.customers;
    const { id } = await world.subscribe('north', PAID_BY_HOLDING);
    await payOpen(api);
    await bill('2026-01-16T00:00:00Z');
    const body = { proration_behavior: 'create_prorations' };
    const { body: cancelled } = await api.call('POST', `/v1/subscriptions/${id}/cancel`, { body });
    expect(cancelled.total_credit_amount).toBe('51.61');
    const of = async (customer: Answer) =>
      (await api.make('/v1/wallets/search', { customer_ids: [customer.id] })).items.map(
        (one: Answer) => one.balance,
      );
    expect([await of(holding), await of(north)]).toEqual([['51.61'], []]);
  });

  test('stays when the plan changes, and its credits go to the wallet of the payer', async ({
    api,
    bill,
    world,
  }) => {
    const { holding, north } = world.customers;
    const target = await api.make('/v1/plans', { name: 'Small' });
    await api.make('/v1/prices', {
      entity_id: target.id,
      currency: 'usd',
      amount: '50',
      invoice_cadence: 'ADVANCE',
    });
    const { id } = await world.subscribe('north', PAID_BY_HOLDING);
    await payOpen(api);
    await bill('2026-01-16T00:00:00Z');
    const { status, body } = await api.call('POST', `/v1/subscriptions/${id}/change/execute`, {
      body: {
        target_plan_id: target.id,
        billing_cadence: 'RECURRING',
        billing_cycle: 'anniversary',
        billing_period: 'MONTHLY',
        billing_period_count: 1,
        proration_behavior: 'create_prorations',
      },
    });
    expect([status, body.message]).toEqual([200, undefined]);
    const after = await world.read(body.new_subscription.id);
    expect([after.subscription_type, after.invoicing_customer_id, after.customer_id]).toEqual([
      'delegated_invoicing',
      holding.id,
      north.id,
    ]);
    // 51.61 unused, of which 50.00 is set off.
    const { items } = await api.make('/v1/wallets/search', { customer_ids: [holding.id] });
    expect(items.map((one: Answer) => one.balance)).toEqual(['1.61']);
  });

  test('a credit note of such an invoice gives its credits to the payer', async ({
    api,
    bill,
    world,
  }) => {
    const { holding } = world.customers;
    const { latest_invoice: opening } = await world.subscribe('north', PAID_BY_HOLDING);
    await api.call('PUT', `/v1/invoices/${opening.id}/payment`, {
      body: { payment_status: 'SUCCEEDED' },
    });
    const { body } = await api.call('GET', `/v1/invoices/${opening.id}`);
    const note = await api.make('/v1/creditnotes', {
      invoice_id: opening.id,
      reason: 'BILLING_ERROR',
      line_items: [{ invoice_line_item_id: body.line_items[0].id, amount: '25.00' }],
    });
    expect([note.customer_id, note.credit_note_type]).toEqual([holding.id, 'REFUND']);
    const { items } = await api.make('/v1/wallets/search', { customer_ids: [holding.id] });
    expect(items.map((one: Answer) => one.balance)).toEqual(['25']);
    await bill('2026-01-02T00:00:00Z');
  });

  test('keeps its payer from being archived, is found by it, and refuses what cannot be', async ({
    api,
    world,
  }) => {
    const { holding } = world.customers;
    const { id } = await world.subscribe('north', PAID_BY_HOLDING);
    await world.subscribe('south');
    const query = { invoicing_customer_ids: [holding.id] };
    const { items } = await api.make('/v1/subscriptions/search', query);
    expect(items.map((one: Answer) => one.id)).toEqual([id]);
    const removed = await api.call('DELETE', `/v1/customers/${holding.id}`);
    expect([removed.status, removed.body.message]).toEqual([
      400,
      expect.stringMatching('has a subscription that is not cancelled'),
    ]);
    const subscribe = (body: object) => api.call('POST', '/v1/subscriptions', { body });
    await expectRefused(subscribe, [
      [
        world.bodyOf('north', { inheritance: { invoicing_customer_external_id: 'north' } }),
        /invoicing_customer_external_id: must name another customer/,
      ],
      [
        world.bodyOf('north', { ...PAID_BY_HOLDING, auto_invoice_threshold: '5' }),
        /auto_invoice_threshold: goes with standalone subscriptions only/,
      ],
    ]);
    const unknown = { inheritance: { invoicing_customer_external_id: 'nobody' } };
    expect((await subscribe(world.bodyOf('north', unknown))).status).toBe(404);
    const path = `/v1/subscriptions/${id}`;
    const threshold = await api.call('PUT', path, { body: { auto_invoice_threshold: '5' } });
    expect([threshold.status, threshold.body.message]).toEqual([
      400,
      expect.stringMatching('goes with standalone subscriptions only'),
    ]);
  });
});
