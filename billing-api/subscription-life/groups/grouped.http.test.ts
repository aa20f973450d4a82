import { describe, expect } from 'vitest';
import { test } from '../../testing/hierarchy-test.js';
import { expectRefused, type Answer } from '../../testing/money-test.js';
import { payOpen } from '../../testing/pay-open.js';
import { verifyBundle } from '../../reading/verify/invoice-bundle.js';

const linesOf = (invoice: Answer, subscription: Answer) =>
  invoice.line_items
    .filter((one: Answer) => one.subscription_id === subscription.id)
    .map((one: Answer) =>
      [one.period_start.slice(0, 10), one.period_end.slice(0, 10), one.amount].join(' '),
    );

describe('grouped invoicing (29.2)', () => {
  test('one invoice has the lines of all, from stored inputs, events and a bundle', async ({
    api,
    bill,
    world,
  }) => {
    const { holding, north } = world.customers;
    const tax = { name: 'VAT', code: 'VAT', tax_rate_type: 'percentage', percentage_value: '10' };
    await api.make('/v1/taxes/rates', tax);
    await api.make('/v1/taxes/associations', {
      tax_rate_code: 'VAT',
      entity_type: 'customer',
      entity_id: holding.id,
      auto_apply: true,
    });
    await api.make('/v1/coupons', {
      name: 'Half',
      coupon_code: 'HALF',
      type: 'percentage',
      percentage_off: '50',
      cadence: 'forever',
    });
    const first = await world.subscribe('north', { coupons: ['HALF'] });
    const second = await world.subscribe('south');
    const parent = await world.subscribe('holding', {
      inheritance: { grouped_invoicing_child_ids: [first.id, second.id] },
    });
    expect(parent.subscription_type).toBe('parent');
    expect(await world.read(first.id)).toMatchObject({
      subscription_type: 'grouped_invoicing',
      parent_subscription_id: parent.id,
      invoicing_customer_id: holding.id,
      customer_id: north.id,
    });
    await world.use('holding', '2026-01-05T00:00:00Z', 1);
    await world.use('north', '2026-01-06T00:00:00Z', 20);
    await world.use('south', '2026-01-07T00:00:00Z', 300);
    await bill('2026-01-20T00:00:00Z');
    const preview = await api.make('/v1/invoices/preview', { subscription_id: parent.id });
    // 102.00 + (140.00 - 70.00) + 700.00, and 10 % tax of the parent's customer.
    expect([preview.subtotal, preview.total_discount, preview.total]).toEqual([
      '942.00',
      '70.00',
      '959.20',
    ]);
    await bill('2026-02-01T03:00:00Z');
    const cycle = { billing_reason: 'SUBSCRIPTION_CYCLE' };
    expect(await world.invoices(cycle)).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 959.20',
    ]);
    for (const one of [parent, first, second]) {
      const { current_period_start: start, current_period_end: end } = await world.read(one.id);
      expect([start.slice(0, 10), end.slice(0, 10)]).toEqual(['2026-02-01', '2026-03-01']);
    }
    const [found] = await world.find(cycle);
    const path = `/v1/invoices/${found.id}`;
    const { body: invoice } = await api.call('GET', path);
    expect(invoice).toMatchObject({ subscription_id: parent.id, customer_id: holding.id });
    expect(linesOf(invoice, parent)).toEqual([
      '2026-02-01 2026-03-01 100.00',
      '2026-01-01 2026-02-01 2.00',
    ]);
    expect(linesOf(invoice, first)).toEqual([
      '2026-02-01 2026-03-01 100.00',
      '2026-01-01 2026-02-01 40.00',
    ]);
    expect(linesOf(invoice, second)).toEqual([
      '2026-02-01 2026-03-01 100.00',
      '2026-01-01 2026-02-01 600.00',
    ]);
    const usage = invoice.line_items.find((one: Answer) => one.amount === '40.00');
    const explained = await api.call('GET', `${path}/line_items/${usage.id}/explain`);
    expect(explained.body.customers).toEqual([north.id]);
    const events = await api.call('GET', `${path}/line_items/${usage.id}/events`);
    expect(events.body.items.map((one: Answer) => one.value)).toEqual(['20']);
    const verified = await api.call('GET', `${path}/verify`);
    expect(verified.body).toMatchObject({
      same_from_inputs: true,
      same_from_events: true,
      differences: [],
    });
    const bundle = await api.call('GET', `${path}/bundle`);
    expect(verifyBundle(bundle.body)).toEqual([]);
    // A credit note of a child's line, and a void, go to the customer of the invoice.
    await api.call('PUT', `${path}/payment`, { body: { payment_status: 'SUCCEEDED' } });
    const note = await api.make('/v1/creditnotes', {
      invoice_id: invoice.id,
      reason: 'BILLING_ERROR',
      line_items: [{ invoice_line_item_id: usage.id, amount: '10.00' }],
    });
    expect(note.customer_id).toBe(holding.id);
    const voided = await api.call('POST', `${path}/void`, { body: {} });
    expect(voided.body.invoice_status).toBe('VOIDED');
    const again = await api.call('POST', `${path}/recalculate`, { body: {} });
    expect(again.status).toBe(202);
    await bill('2026-02-01T05:00:00Z');
    const recalculated = (await world.find(cycle)).filter((one) => one.invoice_status !== 'VOIDED');
    // What was paid came back as 959.20 of credits, of which all but the tax is paid again.
    expect(recalculated.map((one) => [one.subtotal, one.total])).toEqual([['942.00', '87.20']]);
    // The month after, each once: 100.00 + 50.00 + 100.00 and tax, less the credits that are left.
    await bill('2026-03-01T03:00:00Z');
    expect((await world.invoices(cycle)).at(-1)).toBe(
      '2026-02-01 2026-03-01 SUBSCRIPTION_CYCLE FINALIZED 187.80',
    );
  });

  test('lines of its draft are changed by hand, and coupons lower those of their own subscription', async ({
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
    const child = await world.subscribe('north', { coupons: ['HALF'] });
    const parent = await world.subscribe('holding', {
      inheritance: { grouped_invoicing_child_ids: [child.id] },
    });
    await world.use('holding', '2026-01-05T00:00:00Z', 1);
    await world.use('north', '2026-01-06T00:00:00Z', 20);
    await bill('2026-02-01T00:01:00Z');
    const [draft] = await world.find({ billing_reason: 'SUBSCRIPTION_CYCLE' });
    expect([draft.invoice_status, draft.total]).toEqual(['DRAFT', '172.00']);
    const path = `/v1/invoices/${draft.id}`;
    const { body: before } = await api.call('GET', path);
    const usage = before.line_items.find((one: Answer) => one.amount === '40.00');
    await world.use('north', '2026-01-07T00:00:00Z', 5);
    const { body: diff } = await api.call('GET', `${path}/diff`);
    expect(diff.lines.filter((one: Answer) => one.change !== 'same')).toMatchObject([
      { quantity_from: '20', quantity_to: '25', amount_from: '40.00', causes: ['usage'] },
    ]);
    const added = await api.call('POST', `${path}/line_items`, {
      body: { display_name: 'Set-up', amount: '8' },
    });
    // 110.00 of the parent, and half of 140.00.
    expect([added.status, added.body.subtotal, added.body.total]).toEqual([
      200,
      '250.00',
      '180.00',
    ]);
    const { body: changed } = await api.call('PUT', `${path}/line_items/${usage.id}`, {
      body: { amount: '30' },
    });
    expect([changed.subtotal, changed.total_discount, changed.total]).toEqual([
      '240.00',
      '65.00',
      '175.00',
    ]);
    expect(linesOf(changed, parent).map((one: string) => one.slice(22))).toEqual([
      '100.00',
      '2.00',
      '8.00',
    ]);
    expect(linesOf(changed, child).map((one: string) => one.slice(22))).toEqual([
      '100.00',
      '30.00',
    ]);
    expect(changed.line_items.filter((one: Answer) => one.id === usage.id)).toHaveLength(1);
    const finalized = await api.call('POST', `${path}/finalize`, { body: {} });
    expect([finalized.status, finalized.body.total]).toEqual([200, '175.00']);
    const verified = await api.call('GET', `${path}/verify`);
    expect(verified.body).toMatchObject({ same_from_inputs: true, differences: [] });
    await bill('2026-03-01T03:00:00Z');
    expect((await world.invoices({ billing_reason: 'SUBSCRIPTION_CYCLE' })).at(-1)).toBe(
      '2026-02-01 2026-03-01 SUBSCRIPTION_CYCLE FINALIZED 150.00',
    );
  });

  test('children join inside a period and leave it, and every period is billed once', async ({
    api,
    bill,
    world,
  }) => {
    const { holding, north } = world.customers;
    const parent = await world.subscribe('holding');
    const child = await world.subscribe('north');
    await world.use('north', '2026-01-05T00:00:00Z', 3);
    await bill('2026-01-16T00:00:00Z');
    const path = `/v1/subscriptions/${parent.id}/modify`;
    const modify = async (params: object, what = 'execute') => {
      const body = { type: 'grouped_invoicing', grouped_invoicing_params: params };
      return (await api.call('POST', `${path}/${what}`, { body })).body;
    };
    const shown = await modify({ add: [child.id] }, 'preview');
    expect((await world.read(child.id)).subscription_type).toBe('standalone');
    const added = await modify({ add: [child.id] });
    expect(added.changed_resources).toEqual(shown.changed_resources);
    expect(added.subscription.subscription_type).toBe('parent');
    expect(added.changed_resources.subscriptions).toMatchObject([
      { id: child.id, action: 'updated', status: 'active' },
      { id: parent.id, action: 'updated', status: 'active' },
    ]);
    await world.use('north', '2026-01-20T00:00:00Z', 4);
    await bill('2026-02-01T03:00:00Z');
    expect(await world.invoices({ customer_id: holding.id })).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE FINALIZED 100.00',
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 214.00',
    ]);
    await bill('2026-02-10T00:00:00Z');
    await modify({ remove: [child.id] });
    expect(await world.read(parent.id)).toMatchObject({ subscription_type: 'standalone' });
    expect(await world.read(child.id)).toMatchObject({
      subscription_type: 'standalone',
      parent_subscription_id: null,
      invoicing_customer_id: null,
    });
    await world.use('north', '2026-02-20T00:00:00Z', 5);
    await bill('2026-03-01T03:00:00Z');
    expect(await world.invoices({ customer_id: north.id })).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE FINALIZED 100.00',
      '2026-02-01 2026-03-01 SUBSCRIPTION_CYCLE FINALIZED 110.00',
    ]);
    expect((await world.invoices({ customer_id: holding.id })).at(-1)).toBe(
      '2026-02-01 2026-03-01 SUBSCRIPTION_CYCLE FINALIZED 100.00',
    );
  });

  test('a child that is cancelled is billed by its parent; a parent lets them go', async ({
    api,
    bill,
    world,
  }) => {
    const { north, south } = world.customers;
    const one = await world.subscribe('north');
    const two = await world.subscribe('south');
    const parent = await world.subscribe('holding', {
      inheritance: { grouped_invoicing_child_ids: [one.id, two.id] },
    });
    await world.use('north', '2026-01-05T00:00:00Z', 3);
    await payOpen(api);
    await bill('2026-01-16T00:00:00Z');
    const cancel = { proration_behavior: 'create_prorations' };
    const { body } = await api.call('POST', `/v1/subscriptions/${one.id}/cancel`, { body: cancel });
    expect([body.proration_invoice, body.total_credit_amount]).toEqual([null, '51.61']);
    // The child has paid that invoice itself, before it was in the group.
    const { items } = await api.make('/v1/wallets/search', {});
    const balances = items.map((one: Answer) => [one.customer_id, one.balance]);
    expect(balances).toEqual([[north.id, '51.61']]);
    await world.use('north', '2026-01-20T00:00:00Z', 1000);
    await bill('2026-02-01T03:00:00Z');
    const [cycle] = await world.find({ billing_reason: 'SUBSCRIPTION_CYCLE' });
    const { body: invoice } = await api.call('GET', `/v1/invoices/${cycle.id}`);
    expect(linesOf(invoice, one)).toEqual(['2026-01-01 2026-01-16 6.00']);
    expect(linesOf(invoice, two)).toEqual([
      '2026-02-01 2026-03-01 100.00',
      '2026-01-01 2026-02-01 0.00',
    ]);
    await bill('2026-02-10T00:00:00Z');
    await world.use('south', '2026-02-05T00:00:00Z', 7);
    await api.call('POST', `/v1/subscriptions/${parent.id}/cancel`, { body: {} });
    expect(await world.read(two.id)).toMatchObject({
      subscription_type: 'standalone',
      subscription_status: 'active',
    });
    await bill('2026-03-01T03:00:00Z');
    expect(await world.invoices({ customer_id: south.id })).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE FINALIZED 100.00',
      '2026-02-01 2026-03-01 SUBSCRIPTION_CYCLE FINALIZED 114.00',
    ]);
    expect(await world.invoices({ customer_id: north.id })).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE FINALIZED 100.00',
    ]);
  });

  test('a child that ends inside a period of its parent is cancelled then, and billed with it', async ({
    api,
    bill,
    world,
  }) => {
    const child = await world.subscribe('north');
    await world.subscribe('holding', {
      inheritance: { grouped_invoicing_child_ids: [child.id] },
    });
    await api.call('POST', `/v1/subscriptions/${child.id}/cancel`, {
      body: { cancellation_type: 'scheduled_date', cancel_at: '2026-01-20T00:00:00Z' },
    });
    await world.use('north', '2026-01-10T00:00:00Z', 3);
    await world.use('north', '2026-01-25T00:00:00Z', 50);
    await bill('2026-01-20T00:00:00Z');
    expect(await world.read(child.id)).toMatchObject({
      subscription_status: 'cancelled',
      cancelled_at: '2026-01-20T00:00:00.000Z',
    });
    await bill('2026-02-01T03:00:00Z');
    const [cycle] = await world.find({ billing_reason: 'SUBSCRIPTION_CYCLE' });
    const { body: invoice } = await api.call('GET', `/v1/invoices/${cycle.id}`);
    expect(linesOf(invoice, child)).toEqual(['2026-01-01 2026-01-20 6.00']);
  });

  test('a child that is paused is billed with the group all the same, and comes back to its periods', async ({
    api,
    bill,
    world,
  }) => {
    const child = await world.subscribe('north');
    const parent = await world.subscribe('holding', {
      inheritance: { grouped_invoicing_child_ids: [child.id] },
    });
    const cycle = { billing_reason: 'SUBSCRIPTION_CYCLE' };
    const lastLines = async (of: Answer) => {
      const found = (await world.find(cycle)).at(-1);
      return linesOf((await api.call('GET', `/v1/invoices/${found.id}`)).body, of);
    };
    const end = async () => (await world.read(child.id)).current_period_end.slice(0, 10);
    await world.use('north', '2026-01-03T00:00:00Z', 5);
    await bill('2026-01-20T00:00:00Z');
    await api.make('/v1/coupons', {
      name: 'Five',
      coupon_code: 'FIVE',
      type: 'fixed',
      amount_off: '5',
      currency: 'usd',
      cadence: 'once',
    });
    const coupon = { type: 'coupon', coupon_params: { add: [{ coupon_code: 'FIVE' }] } };
    await api.call('POST', `/v1/subscriptions/${child.id}/modify/execute`, { body: coupon });
    const paused = await api.call('POST', `/v1/subscriptions/${child.id}/pause`, {
      body: { pause_mode: 'immediate', pause_days: 20 },
    });
    expect(paused.status).toBe(200);
    await world.use('north', '2026-02-03T00:00:00Z', 6);
    await bill('2026-02-01T03:00:00Z');
    expect(await lastLines(child)).toEqual([]);
    await bill('2026-02-09T00:00:00Z');
    expect(await end()).toBe('2026-02-21');
    await bill('2026-02-21T00:00:00Z');
    expect([await end(), (await world.read(child.id)).billing_anchor.slice(0, 10)]).toEqual([
      '2026-03-01',
      '2026-01-01',
    ]);
    await world.use('north', '2026-02-22T00:00:00Z', 7);
    await bill('2026-03-01T03:00:00Z');
    // Usage of both periods, 100.00 × 8 ÷ 28 for the short one, and March.
    expect((await lastLines(child)).toSorted()).toEqual([
      '2026-01-01 2026-02-21 22.00',
      '2026-02-21 2026-03-01 14.00',
      '2026-02-21 2026-03-01 28.57',
      '2026-03-01 2026-04-01 100.00',
    ]);
    expect(await lastLines(parent)).toHaveLength(2);
    const found = (await world.find(cycle)).at(-1);
    // A coupon for one invoice is taken of what closes the first of the two periods alone.
    const { coupon_applications: taken } = (await api.call('GET', `/v1/invoices/${found.id}`)).body;
    expect(taken).toMatchObject([{ original_price: '50.57', discounted_amount: '5.00' }]);
    const verified = await api.call('GET', `/v1/invoices/${found.id}/verify`);
    expect(verified.body).toMatchObject({
      same_from_inputs: true,
      same_from_events: true,
      differences: [],
    });
    expect(await end()).toBe('2026-04-01');
    expect(await world.invoices({ customer_id: world.customers['north']?.id })).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE FINALIZED 100.00',
    ]);
  });

  test('refuses what would part their periods, and who is not aligned', async ({ api, world }) => {
    const child = await world.subscribe('north');
    const late = await world.subscribe('south', { start_date: '2026-01-02T00:00:00Z' });
    const yen = await world.subscribe('west', { billing_cycle: 'calendar' });
    const parent = await world.subscribe('holding', {
      inheritance: { grouped_invoicing_child_ids: [child.id] },
    });
    const modify = (params: object) =>
      api.call('POST', `/v1/subscriptions/${parent.id}/modify/execute`, {
        body: { type: 'grouped_invoicing', grouped_invoicing_params: params },
      });
    await expectRefused(modify, [
      [{ add: [late.id] }, /their billing periods do not end on the same dates/],
      [{ add: [child.id] }, /is of type grouped_invoicing, not standalone/],
      [{ add: [parent.id] }, /is the parent itself/],
      [{}, /must add or remove something/],
    ]);
    expect((await modify({ remove: [late.id] })).status).toBe(404);
    // On the first of each month, whatever the cycle is called.
    expect((await modify({ add: [yen.id] })).status).toBe(200);
    const paused = await api.call('POST', `/v1/subscriptions/${parent.id}/pause`, {
      body: { pause_mode: 'immediate' },
    });
    expect([paused.status, paused.body.message]).toEqual([
      400,
      expect.stringMatching(/grouped_invoicing_params.remove/),
    ]);
  });
});
