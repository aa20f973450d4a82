import { describe, expect } from 'vitest';
import { giveInvoice } from '../../testing/given-invoice.js';
import type { Answer } from '../../testing/money-test.js';
import { advance, test, usage } from '../../testing/peer-case.js';
import { makeWallet, readWallet } from '../../testing/wallet-calls.js';

/**
 * The worked examples of docs/domain.md 13 and 16 as invoices that are stored. Those of 14 and 15
 * are in invoicing/preview/invoice-adjustments.http.test.ts.
 */

const linesOf = ({ line_items: items }: Answer) =>
  items.map((one: Answer) => [
    one.amount,
    one.period_start.slice(0, 10),
    one.period_end.slice(0, 10),
  ]);

describe('totals', () => {
  test('are 122.00 of usage 100 and fixed 50 after 10 %, a wallet of 40 and a tax of 20 % (13.2)', async ({
    api,
    peer,
  }) => {
    const tax = { name: 'VAT', code: 'vat', tax_rate_type: 'percentage', percentage_value: '20' };
    await api.make('/v1/taxes/rates', tax);
    await api.make('/v1/coupons', {
      name: 'Ten',
      coupon_code: 'TEN',
      cadence: 'forever',
      type: 'percentage',
      percentage_off: '10',
    });
    await peer.live('2025-01-01');
    const wallet = await makeWallet(api, { initial_credits_to_load: '40' });
    const calls = await peer.meter('call');
    const fixed = advance('50', { invoice_cadence: 'ARREAR' });
    const subscription = await peer.subscribe(await peer.plan(usage(calls, '1'), fixed), {
      coupons: ['TEN'],
      tax_rate_overrides: [{ tax_rate_code: 'vat', currency: 'usd' }],
    });
    await calls.use('2025-01-10', '100');
    await peer.live('2025-02-01T02:00:00Z');
    const [invoice] = await peer.find(subscription);
    expect(invoice).toMatchObject({
      subtotal: '150.00',
      total_discount: '15.00',
      total_tax: '27.00',
      total_prepaid_credits_applied: '40.00',
      total: '122.00',
      amount_due: '122.00',
    });
    const discounts = invoice.line_items.map((one: Answer) => [
      one.amount,
      one.invoice_level_discount,
      one.prepaid_credits_applied,
    ]);
    expect(discounts.sort()).toEqual([
      ['100.00', '10.00', '40.00'],
      ['50.00', '5.00', '0.00'],
    ]);
    expect((await readWallet(api, wallet)).balance).toBe('0');
  });
});

describe('lines', () => {
  test('of a price with a maximum of 50.00 cost no more, 30.00 where an override says so (8.8)', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-01-01');
    const calls = await peer.meter('call');
    const plan = await peer.plan(usage(calls, '0.1', { max_amount: '50' }));
    const subscription = await peer.subscribe(plan);
    await calls.use('2026-01-10', '400');
    await calls.use('2026-02-10', '1000');
    await peer.live('2026-03-01T02:00:00Z');
    const invoices = await peer.find(subscription);
    expect(invoices.map(({ total }: Answer) => total)).toEqual(['40.00', '50.00']);
    const [line] = invoices[1].line_items;
    const path = `/v1/invoices/${invoices[1].id}`;
    const { body } = await api.call('GET', `${path}/line_items/${line.id}/explain`);
    expect(body.maximum).toEqual({ maximum: '50', charged_before: '0', uncapped: '100' });
    expect((await api.call('GET', `${path}/verify`)).body).toMatchObject({
      same_from_inputs: true,
      same_from_events: true,
    });

    const item = (await peer.read(subscription)).line_items[0];
    const lower = { max_amount: '30', effective_from: '2026-03-16T12:00:00Z' };
    await peer.turn('2026-03-16T12:00:00Z');
    await calls.use('2026-03-05', '200');
    await calls.use('2026-03-20', '1000');
    const changed = await api.call('PUT', `/v1/subscriptions/lineitems/${item.id}`, {
      body: lower,
    });
    expect([changed.status, changed.body.price.max_amount]).toEqual([200, '30']);
    await peer.live('2026-04-01T02:00:00Z');
    const shared = (await peer.find(subscription)).at(-1);
    expect(linesOf(shared)).toEqual([
      ['20.00', '2026-03-01', '2026-03-16'],
      ['10.00', '2026-03-16', '2026-04-01'],
    ]);
    const fixed = { entity_id: plan.id, ...advance('10', { max_amount: '5' }) };
    expect(await api.call('POST', '/v1/prices', { body: fixed })).toMatchObject({
      status: 400,
      body: { details: { max_amount: expect.stringContaining('USAGE') } },
    });
  });

  test('of a quarter that are added after a month cost 196.67, on the invoice that the first month closes (13.3)', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-01-01');
    const subscription = await peer.subscribe(await peer.plan(advance('10')));
    await api.make(`/v1/subscriptions/${subscription.id}/lineitems`, {
      price: advance('300', { billing_period: 'QUARTERLY', start_date: '2026-01-01T00:00:00Z' }),
      start_date: '2026-02-01T00:00:00Z',
    });
    await peer.live('2026-02-01T02:00:00Z');
    const invoice = (await peer.find(subscription)).at(-1);
    // 300 x 59 / 90
    expect(linesOf(invoice).sort()).toEqual([
      ['10.00', '2026-02-01', '2026-03-01'],
      ['196.67', '2026-02-01', '2026-04-01'],
    ]);
  });

  test.for([
    ['create_prorations', '54.84'],
    ['none', '100.00'],
  ] as const)(
    'of a first period 15 Aug to 1 Sep with %s cost %s (13.4)',
    async ([proration_behavior, amount], { peer }) => {
      await peer.live('2026-08-15');
      const subscription = await peer.subscribe(await peer.plan(advance('100')), {
        billing_cycle: 'calendar',
        proration_behavior,
      });
      const [invoice] = await peer.find(subscription);
      expect(linesOf(invoice)).toEqual([[amount, '2026-08-15', '2026-09-01']]);
    },
  );

  test('that are split on 16 Jan cost 48.39 and 51.61 (13.4)', async ({ api, peer }) => {
    await peer.live('2026-01-01');
    const plan = await peer.plan(advance('100', { invoice_cadence: 'ARREAR' }));
    const subscription = await peer.subscribe(plan);
    await peer.live('2026-01-16');
    const [line] = subscription.line_items;
    const commit = { amount: '100.00', billing_model: 'FLAT_FEE' };
    const path = `/v1/subscriptions/lineitems/${line.id}`;
    expect((await api.call('PUT', path, { body: commit })).status).toBe(200);
    await peer.live('2026-02-01T02:00:00Z');
    const [invoice] = await peer.find(subscription);
    expect(linesOf(invoice)).toEqual([
      ['48.39', '2026-01-01', '2026-01-16'],
      ['51.61', '2026-01-16', '2026-02-01'],
    ]);
  });
});

describe('numbers, due dates and the delay of finalization (16)', () => {
  test('the date of a number is that of its zone', async ({ api, peer }) => {
    await peer.turn('2025-01-31T23:30:00Z');
    const { id } = (await api.call('GET', '/v1/customers/external/acme')).body;
    const numberOf = async () => (await giveInvoice(api, ['1'], { customerId: id })).invoice_number;
    expect(await numberOf()).toBe('INV-202501-00001');
    const value = { timezone: 'Asia/Tokyo' };
    await api.call('PUT', '/v1/settings/invoice_config', { body: { value } });
    expect(await numberOf()).toBe('INV-202502-00001');
  });

  test.for([
    ['15 NET', '2025-01-16T00:00:00.000Z', '2025-02-16T00:00:00.000Z'],
    [undefined, '2025-01-02T00:00:00.000Z', '2025-02-02T00:00:00.000Z'],
  ] as const)('with terms %s', async ([payment_terms, opening, cycle], { peer }) => {
    await peer.live('2025-01-01');
    const plan = await peer.plan(advance('100'));
    const subscription = await peer.subscribe(plan, { payment_terms });
    await peer.live('2025-02-01');
    const dueOf = async () => (await peer.find(subscription)).map((one) => one.due_date);
    expect(await dueOf()).toEqual([opening, cycle]);
  });

  test('a cycle invoice is a draft for 7200 seconds after its period, as the setting was', async ({
    api,
    peer,
  }) => {
    await peer.live('2025-01-01');
    const subscription = await peer.subscribe(await peer.plan(advance('100')));
    const statusAt = async (instant: string) => {
      await peer.live(instant);
      const cycle = (await peer.find(subscription)).at(-1);
      return [cycle.billing_reason, cycle.invoice_status, cycle.invoice_number];
    };
    const draft = ['SUBSCRIPTION_CYCLE', 'DRAFT', null];
    expect(await statusAt('2025-02-01T00:00:00Z')).toEqual(draft);
    const value = { finalization_delay_seconds: 60 };
    await api.call('PUT', '/v1/settings/invoice_config', { body: { value } });
    expect(await statusAt('2025-02-01T01:59:59Z')).toEqual(draft);
    expect(await statusAt('2025-02-01T02:00:00Z')).toEqual([
      'SUBSCRIPTION_CYCLE',
      'FINALIZED',
      'INV-202502-00001',
    ]);
  });
});
