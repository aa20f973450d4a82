import { describe, expect } from 'vitest';
import { giveInvoice, makeCustomer } from '../../testing/given-invoice.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import type { Answer } from '../../testing/money-test.js';
import { advance, test, usage } from '../../testing/peer-case.js';
import { makeWallet, topUp } from '../../testing/wallet-calls.js';

/**
 * The worked examples of docs/domain.md 5.2, 13, 16, 18, 22.1 and 34 that no other file has, seen
 * through the interface. The others of 13 and 16 are in worked-examples.http.test.ts beside this.
 */

const JANUARY = { period_start: '2026-01-01T00:00:00Z', period_end: '2026-02-01T00:00:00Z' };

const read = async (api: BillingUnderTest, { id }: Answer): Promise<Answer> =>
  (await api.call('GET', `/v1/invoices/${id}`)).body;

async function namesOfEvents(api: BillingUnderTest): Promise<readonly string[]> {
  const { body } = await api.call('GET', '/v1/webhooks/events?limit=1000');
  return body.items.map((one: Answer) => one.event_name);
}

/** Gives a plan so many free units of a meter. */
async function entitle(
  api: BillingUnderTest,
  { plan, meterId }: { readonly plan: Answer; readonly meterId: string },
  members: object,
): Promise<Answer> {
  const feature = await api.make('/v1/features', {
    name: 'Calls',
    type: 'metered',
    meter_id: meterId,
  });
  return api.make('/v1/entitlements', { feature_id: feature.id, plan_id: plan.id, ...members });
}

describe('a period without charges', () => {
  test('is done, and comes back as a draft when usage is found to be late (5.2, 34.15)', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-01-01');
    const calls = await peer.meter('call');
    const subscription = await peer.subscribe(await peer.plan(usage(calls, '1')));
    await peer.live('2026-02-01T02:00:00Z');
    const [skipped, ...others] = await peer.find(subscription);
    expect([skipped.invoice_status, skipped.invoice_number, others]).toEqual(['SKIPPED', null, []]);
    await calls.use('2026-01-10', '3');
    // A preview and readings tell nobody anything (34.25).
    const before = await namesOfEvents(api);
    await api.make('/v1/invoices/preview', { subscription_id: subscription.id, ...JANUARY });
    await api.call('GET', `/v1/invoices/${skipped.id}/pdf`);
    await peer.read(subscription);
    expect(await namesOfEvents(api)).toEqual(before);
    const path = `/v1/invoices/${skipped.id}`;
    const { body: draft } = await api.call('POST', `${path}/recompute`);
    expect([draft.id, draft.invoice_status, draft.total]).toEqual([skipped.id, 'DRAFT', '3.00']);
    const { body: final } = await api.call('POST', `${path}/finalize`);
    expect([final.invoice_status, final.invoice_number, final.total]).toEqual([
      'FINALIZED',
      'INV-202602-00001',
      '3.00',
    ]);
  });

  test('is SKIPPED and linked as a replacement, too (18)', async ({ api, peer }) => {
    await peer.live('2026-01-01');
    const calls = await peer.meter('call');
    const plan = await peer.plan(usage(calls, '1'));
    const subscription = await peer.subscribe(plan);
    await calls.use('2026-01-10', '3');
    await peer.live('2026-02-01T02:00:00Z');
    const [invoice] = await peer.find(subscription);
    const path = `/v1/invoices/${invoice.id}`;
    await api.call('POST', `${path}/void`, { body: {} });
    await entitle(api, { plan, meterId: calls.id }, { usage_limit: 10 });
    expect((await api.call('POST', `${path}/recalculate`)).status).toBe(202);
    await peer.live('2026-02-01T02:01:00Z');
    const { recalculated_invoice_id: id } = await read(api, invoice);
    expect(await read(api, { id })).toMatchObject({
      invoice_status: 'SKIPPED',
      invoice_number: null,
      total: '0.00',
      period_start: invoice.period_start,
    });
    const again = await api.call('POST', `${path}/recalculate`);
    expect([again.status, again.body.code]).toEqual([400, 'invalid_operation']);
  });
});

describe('numbers and due dates (16)', () => {
  test('a counter grows beyond its digits, a number that a caller gave is passed over, and who is due when', async ({
    api,
    peer,
  }) => {
    await peer.turn('2025-01-10');
    const customerId = await makeCustomer(api);
    const value = { start_sequence: 99_999 };
    await api.call('PUT', '/v1/settings/invoice_config', { body: { value } });
    const give = (members: object = {}) => giveInvoice(api, ['1'], { customerId, ...members });
    const made = [await give(), await give()];
    const invoice_number = 'INV-202501-100001';
    made.push(await give({ invoice_number }), await give());
    expect(made.map((one) => one.invoice_number)).toEqual([
      'INV-202501-99999',
      'INV-202501-100000',
      'INV-202501-100001',
      'INV-202501-100002',
    ]);
    const taken = await api.call('POST', '/v1/invoices', {
      body: {
        customer_id: customerId,
        currency: 'usd',
        subtotal: '1',
        total: '1',
        amount_due: '1',
        line_items: [{ display_name: 'Line', amount: '1' }],
        invoice_number,
      },
    });
    expect([taken.status, Object.keys(taken.body.details)]).toEqual([409, ['invoice_number']]);
    expect((await give()).due_date).toBeNull();
    const due_date = '2025-03-01T00:00:00.000Z';
    expect((await give({ due_date })).due_date).toBe(due_date);
    const wallet = await makeWallet(api);
    const bought = { credits_to_add: '5', transaction_reason: 'PURCHASED_CREDIT_INVOICED' };
    const { invoice_id: id } = await topUp(api, wallet, bought);
    expect((await read(api, { id })).due_date).toBe('2025-01-10T00:00:00.000Z');
  });
});

describe('the opening invoice (22.1)', () => {
  test('has what is charged in advance and once, is made at creation, and charges its own period again', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-01-01');
    const arrear = await peer.plan(advance('10', { invoice_cadence: 'ARREAR' }));
    const none = await peer.subscribe(arrear, { billing_cycle: 'calendar' });
    // A calendar start on 1 Jan 00:00 (34.13).
    expect([none.current_period_end, await peer.find(none)]).toEqual([
      '2026-02-01T00:00:00.000Z',
      [],
    ]);
    const once = advance('200', { billing_cadence: 'ONETIME' });
    const later = await peer.subscribe(await peer.plan(advance('10'), once), {
      start_date: '2026-03-01T00:00:00Z',
    });
    const [opening] = await peer.find(later);
    const linesOf = ({ line_items: lines }: Answer) =>
      lines
        .map((one: Answer) => [
          one.amount,
          one.period_start.slice(0, 10),
          one.period_end.slice(0, 10),
        ])
        .sort();
    const lines = [
      ['10.00', '2026-03-01', '2026-04-01'],
      ['200.00', '2026-03-01', '2026-03-01'],
    ];
    expect([opening.billing_reason, opening.invoice_status, linesOf(opening)]).toEqual([
      'SUBSCRIPTION_CREATE',
      'FINALIZED',
      lines,
    ]);
    // Recalculated, it has the opening period again and not the next one (34.18).
    await api.call('POST', `/v1/invoices/${opening.id}/void`, { body: {} });
    await api.call('POST', `/v1/invoices/${opening.id}/recalculate`);
    await peer.live('2026-01-02');
    const { recalculated_invoice_id: id } = await read(api, opening);
    expect(linesOf(await read(api, { id }))).toEqual(lines);
    await peer.live('2026-04-01T02:00:00Z');
    expect(await peer.invoices(later)).toEqual([
      '2026-03-01 2026-04-01 SUBSCRIPTION_CREATE 210.00',
      '2026-03-01 2026-04-01 SUBSCRIPTION_CREATE 210.00',
      '2026-03-01 2026-04-01 SUBSCRIPTION_CYCLE 10.00',
    ]);
  });
});

describe('prices', () => {
  test('at the edges of tiers, packages and allowances (34.1, 34.2, 34.4, 34.7)', async ({
    api,
    peer,
  }) => {
    await peer.turn('2026-01-01');
    const meterOf = async (name: string, units: string | null) => {
      const meter = await peer.meter(name);
      if (units !== null) await meter.use('2026-01-10', units);
      return meter;
    };
    const [exact, above] = [await meterOf('exact', '1000'), await meterOf('above', '1000.001')];
    const [unused, free] = [await meterOf('unused', null), await meterOf('free', '1010')];
    const tiered = (tier_mode: string, meter: { readonly id: string }, display_name: string) => ({
      billing_model: 'TIERED',
      tier_mode,
      meter_id: meter.id,
      currency: 'usd',
      display_name,
      tiers: [
        { up_to: 1000, unit_amount: '0.10', flat_amount: '1' },
        { up_to: null, unit_amount: '0.05', flat_amount: '7' },
      ],
    });
    const packages = (meter: { readonly id: string }, display_name: string) => ({
      billing_model: 'PACKAGE',
      meter_id: meter.id,
      currency: 'usd',
      display_name,
      amount: '3',
      transform_quantity: { divide_by: 50 },
    });
    const plan = await peer.plan(
      ...(['SLAB', 'VOLUME'] as const).flatMap((mode) => [
        tiered(mode, exact, `${mode} of 1000`),
        tiered(mode, above, `${mode} of 1000.001`),
        tiered(mode, unused, `${mode} of nothing`),
      ]),
      tiered('SLAB', free, 'SLAB of 1010 of which 10 are free'),
      packages(exact, 'packages of 1000'),
      packages(above, 'packages of 1000.001'),
    );
    await entitle(api, { plan, meterId: free.id }, { usage_limit: 10 });
    const { id } = await peer.subscribe(plan);
    const preview = await api.make('/v1/invoices/preview', { subscription_id: id, ...JANUARY });
    const amounts = preview.line_items.map((one: Answer) => [one.display_name, one.amount]);
    expect(Object.fromEntries(amounts)).toEqual({
      'SLAB of 1000': '101.00',
      'SLAB of 1000.001': '108.00',
      'SLAB of nothing': '0.00',
      // 1000.001 × 0.05 + 7.
      'VOLUME of 1000': '101.00',
      'VOLUME of 1000.001': '57.00',
      'VOLUME of nothing': '0.00',
      'SLAB of 1010 of which 10 are free': '101.00',
      'packages of 1000': '60.00',
      'packages of 1000.001': '63.00',
    });
    // With a factor of 1 the commitment of a subscription is a minimum, or nothing.
    const totals = [];
    for (const enable_true_up of [true, false]) {
      const { id: committed } = await peer.subscribe(await peer.plan(usage(exact, '0.06')), {
        commitment_amount: '100',
        overage_factor: '1',
        enable_true_up,
      });
      const asked = { subscription_id: committed, ...JANUARY };
      totals.push((await api.make('/v1/invoices/preview', asked)).total);
    }
    expect(totals).toEqual(['100.00', '60.00']);
  });

  test('of allowances that add up, of which one without a limit wins, or that replace another one (34.6)', async ({
    api,
    peer,
  }) => {
    await peer.turn('2026-01-01');
    const calls = await peer.meter('call');
    await calls.use('2026-01-10', '100');
    const plan = await peer.plan(usage(calls, '1'));
    const { feature_id, id: parent_entitlement_id } = await entitle(
      api,
      { plan, meterId: calls.id },
      { usage_limit: 10 },
    );
    const costsWith = async (own: object | null): Promise<string> => {
      const { id } = await peer.subscribe(plan);
      if (own !== null) await api.make('/v1/entitlements', { feature_id, entity_id: id, ...own });
      const body = { subscription_id: id, ...JANUARY };
      return (await api.make('/v1/invoices/preview', body)).total;
    };
    expect(await costsWith(null)).toBe('90.00');
    expect(await costsWith({ usage_limit: 5 })).toBe('85.00');
    expect(await costsWith({})).toBe('0.00');
    expect(await costsWith({ usage_limit: 5, parent_entitlement_id })).toBe('95.00');
  });

  test('of a lifetime allowance are not renewed where another line item continues (34.5)', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-01-01');
    const calls = await peer.meter('call');
    const plan = await peer.plan(usage(calls, '1'));
    const lifetime = { usage_limit: 100, usage_reset_period: 'NEVER' };
    await entitle(api, { plan, meterId: calls.id }, lifetime);
    const subscription = await peer.subscribe(plan);
    await calls.use('2026-01-10', '90');
    await peer.live('2026-01-16');
    const path = `/v1/subscriptions/lineitems/${subscription.line_items[0].id}`;
    expect((await api.call('PUT', path, { body: { amount: '2' } })).status).toBe(200);
    await calls.use('2026-01-20', '30');
    await peer.live('2026-02-01T02:00:00Z');
    const [invoice] = await peer.find(subscription);
    // 90 and 10 of the 30 are free.
    expect(invoice.line_items.map((one: Answer) => [one.quantity, one.amount])).toEqual([
      ['90', '0.00'],
      ['30', '40.00'],
    ]);
  });
});

describe('the end of a subscription', () => {
  test('is told when it comes, and not when it is asked for (34.19)', async ({ api, peer }) => {
    await peer.live('2026-01-01');
    const subscription = await peer.subscribe(await peer.plan(advance('10')));
    await peer.live('2026-01-10');
    await peer.post(subscription, 'cancel', { cancellation_type: 'end_of_period' });
    const cancelled = async () =>
      (await namesOfEvents(api)).filter((name) => name === 'subscription.cancelled').length;
    const asked = await peer.read(subscription);
    expect([asked.subscription_status, asked.cancel_at, await cancelled()]).toEqual([
      'active',
      '2026-02-01T00:00:00.000Z',
      0,
    ]);
    await peer.live('2026-02-01T00:10:00Z');
    const ended = await peer.read(subscription);
    expect([ended.subscription_status, ended.cancelled_at, await cancelled()]).toEqual([
      'cancelled',
      '2026-02-01T00:00:00.000Z',
      1,
    ]);
  });

  test('by a change of plan whose credits equal its charges is invoiced with 0.00, which is paid (34.16, 34.20)', async ({
    peer,
  }) => {
    await peer.live('2026-01-01');
    const subscription = await peer.subscribe(await peer.plan(advance('100')));
    const changed = await peer.change(subscription, await peer.plan(advance('100')));
    const { invoice_status, payment_status, total, invoice_number } = changed.invoice;
    expect([invoice_status, payment_status, total, invoice_number]).toEqual([
      'FINALIZED',
      'SUCCEEDED',
      '0.00',
      'INV-202601-00002',
    ]);
    const lines = changed.invoice.line_items.map((one: Answer) => one.amount);
    expect(lines.sort()).toEqual(['-100.00', '100.00']);
  });
});
