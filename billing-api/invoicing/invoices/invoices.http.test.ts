import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { test } from '../../testing/billed-test.js';
import { makeSubscription } from '../../testing/billing-test.js';
import { subscribeMonthly } from '../../testing/subscribe-monthly.js';
import { whileLocked } from '../../testing/while-locked.js';

type Api = BillingUnderTest;

async function latestOf(api: Api, subscriptionId: string) {
  const { body } = await api.call('GET', `/v1/subscriptions/${subscriptionId}`);
  return (await api.call('GET', `/v1/invoices/${body.latest_invoice.id}`)).body;
}

const statusOf = (answers: readonly { readonly status: number }[]) =>
  answers.map(({ status }) => status).sort();

/** More than are carried out at once (docs/http.md 1.10). */
const CALLS = 12;

describe('an invoice', () => {
  test('is finalized once, whoever asks at once: one number, one event, the same answer', async ({
    api,
    bill,
    database,
  }) => {
    const { subscription } = await subscribeMonthly(api);
    await bill('2026-12-01T00:30:00.000Z');
    const draft = await latestOf(api, subscription.id);
    expect(draft).toMatchObject({ invoice_status: 'DRAFT', total: '130.00', invoice_number: null });
    const path = `/v1/invoices/${draft.id}/finalize`;
    // More calls than run at once: the last ones are looked at when the first have finalized.
    const answers = await whileLocked(database.database, {
      subscriptionId: subscription.id,
      waiting: 3,
      begin: () =>
        Promise.all([
          ...Array.from({ length: CALLS }, () => api.call('POST', path)),
          bill('2026-12-02T00:00:00.000Z').then(() => api.call('GET', `/v1/invoices/${draft.id}`)),
        ]),
    });
    expect(statusOf(answers)).toEqual(answers.map(() => 200));
    const done = answers.map(({ body }) => body);
    for (const body of done) {
      expect(body).toMatchObject({ id: draft.id, invoice_status: 'FINALIZED', total: '130.00' });
      expect(body.invoice_number).toBe(done[0].invoice_number);
    }
    const events = await api.call('GET', '/v1/webhooks/events?limit=1000');
    const finals = events.body.items.filter(
      (event: { event_name: string; entity_id: string }) =>
        event.event_name === 'invoice.update.finalized' && event.entity_id === draft.id,
    );
    expect(finals).toHaveLength(1);
    // The answer has beside it what only typed clients want (docs/http.md 18).
    expect(done[0]).toMatchObject(finals[0].payload.invoice);
    const again = await api.call('POST', path);
    expect([again.status, again.body.code]).toEqual([400, 'invalid_operation']);
  });

  test('is sent to its customer by an event when that is asked for, and not as a draft', async ({
    api,
    bill,
  }) => {
    const { subscription } = await subscribeMonthly(api);
    await bill('2026-12-01T00:30:00.000Z');
    const { id } = await latestOf(api, subscription.id);
    const path = `/v1/invoices/${id}`;
    const early = await api.call('POST', `${path}/comms/trigger`);
    expect([early.status, early.body.message]).toEqual([400, expect.stringMatching(/DRAFT/)]);
    await bill('2026-12-01T02:00:00.000Z');
    expect((await api.call('POST', `${path}/comms/trigger`)).status).toBe(200);
    const { body } = await api.call('GET', '/v1/webhooks/events?limit=1000');
    const told = body.items.filter(
      (event: { event_name: string }) => event.event_name === 'invoice.communication.triggered',
    );
    expect(told).toMatchObject([
      { entity_id: id, payload: { invoice: { id, invoice_status: 'FINALIZED', total: '130.00' } } },
    ]);
  });

  test('that charges nothing is skipped once, and every call at once is told so', async ({
    api,
    bill,
    database,
  }) => {
    const { id } = await makeSubscription(api, {
      billing_cycle: 'calendar',
      start_date: '2026-10-01T00:00:00.000Z',
    });
    await bill('2026-11-01T00:30:00.000Z');
    const draft = await latestOf(api, id);
    const path = `/v1/invoices/${draft.id}/finalize`;
    const answers = await whileLocked(database.database, {
      subscriptionId: id,
      waiting: 3,
      begin: () => Promise.all(Array.from({ length: CALLS }, () => api.call('POST', path))),
    });
    expect(answers.map(({ status, body }) => [status, body.invoice_status])).toEqual(
      answers.map(() => [200, 'SKIPPED']),
    );
    const again = await api.call('POST', path);
    expect([again.status, again.body.code]).toEqual([400, 'invalid_operation']);
  });

  test('is voided once, refuses everything afterwards, and frees its period (INV-5)', async ({
    api,
    bill,
  }) => {
    const { subscription } = await subscribeMonthly(api);
    await bill('2026-12-01T02:00:00.000Z');
    const invoice = await latestOf(api, subscription.id);
    expect(invoice.invoice_status).toBe('FINALIZED');
    const path = `/v1/invoices/${invoice.id}`;
    const body = { metadata: { why: 'test' } };
    const voids = await Promise.all(
      [1, 2, 3].map(() => api.call('POST', `${path}/void`, { body })),
    );
    expect(statusOf(voids)).toEqual([200, 400, 400]);
    const { body: voided } = await api.call('GET', path);
    expect(voided).toMatchObject({
      invoice_status: 'VOIDED',
      payment_status: 'VOIDED',
      metadata: { why: 'test' },
      invoice_number: invoice.invoice_number,
      total: '130.00',
    });
    const refused = await Promise.all([
      api.call('PUT', path, { body: { metadata: {} } }),
      api.call('POST', `${path}/finalize`),
      api.call('POST', `${path}/recompute`),
      api.call('POST', `${path}/line_items`, { body: { display_name: 'A', amount: '1' } }),
    ]);
    expect(refused.map(({ status, body: { code } }) => [status, code])).toEqual(
      refused.map(() => [400, 'invalid_operation']),
    );
  });

  test('keeps lines that were changed by hand, with coupons, taxes and sums from them', async ({
    api,
    bill,
  }) => {
    await api.make('/v1/coupons', {
      name: 'Ten',
      coupon_code: 'TEN',
      type: 'percentage',
      percentage_off: '10',
      cadence: 'forever',
    });
    const rate = await api.make('/v1/taxes/rates', {
      name: 'VAT',
      code: 'vat',
      tax_rate_type: 'percentage',
      percentage_value: '20',
    });
    const { customer, subscription } = await subscribeMonthly(api, { coupons: ['TEN'] });
    await api.make('/v1/taxes/associations', {
      tax_rate_code: rate.code,
      entity_type: 'customer',
      entity_id: customer.id,
    });
    await bill('2026-12-01T00:30:00.000Z');
    const draft = await latestOf(api, subscription.id);
    const path = `/v1/invoices/${draft.id}`;
    // 130 − 13 = 117; 20 % of it is 23.40.
    expect(draft).toMatchObject({ total_discount: '13.00', total_tax: '23.40', total: '140.40' });
    const added = await api.call('POST', `${path}/line_items`, {
      body: { display_name: 'Goodwill', amount: '20', quantity: '2' },
    });
    expect(added.body).toMatchObject({
      is_manually_edited: true,
      subtotal: '150.00',
      total_discount: '15.00',
      total_tax: '27.00',
      total: '162.00',
      amount_due: '162.00',
    });
    const [first] = draft.line_items;
    const changed = await api.call('PUT', `${path}/line_items/${first.id}`, {
      body: { amount: '50.00' },
    });
    expect(changed.body).toMatchObject({ subtotal: '100.00', total: '108.00' });
    expect(changed.body.line_items[0].id).toBe(first.id);
    const removed = await api.call('DELETE', `${path}/line_items/${first.id}`);
    expect(removed.body).toMatchObject({ subtotal: '50.00', total: '54.00' });
    const recompute = await api.call('POST', `${path}/recompute`);
    expect(recompute.status).toBe(400);
    await bill('2026-12-01T02:00:00.000Z');
    expect((await api.call('GET', path)).body).toMatchObject({
      invoice_status: 'FINALIZED',
      subtotal: '50.00',
      total_discount: '5.00',
      total_tax: '9.00',
      total: '54.00',
      is_manually_edited: true,
    });
  });

  test('that is a draft gets a tax of its own beside those of its customer, and no other does', async ({
    api,
    bill,
  }) => {
    for (const [code, value] of [
      ['vat', '20'],
      ['city', '1'],
    ]) {
      await api.make('/v1/taxes/rates', { name: code, code, percentage_value: value });
    }
    const { customer, subscription } = await subscribeMonthly(api);
    const associate = (entity_type: string, entity_id: string, tax_rate_code: string) =>
      api.call('POST', '/v1/taxes/associations', {
        body: { tax_rate_code, entity_type, entity_id },
      });
    await associate('customer', customer.id, 'vat');
    await bill('2026-12-01T00:30:00.000Z');
    const draft = await latestOf(api, subscription.id);
    expect(draft).toMatchObject({ invoice_status: 'DRAFT', total_tax: '26.00' });
    expect(await associate('invoice', draft.id, 'city')).toMatchObject({
      status: 200,
      body: { entity_type: 'invoice', entity_id: draft.id },
    });
    const path = `/v1/invoices/${draft.id}`;
    const recomputed = await api.call('POST', `${path}/recompute`);
    expect(recomputed.body).toMatchObject({ total_tax: '27.30', total: '157.30' });
    await bill('2026-12-01T02:00:00.000Z');
    const { body: final } = await api.call('GET', path);
    expect(final).toMatchObject({ invoice_status: 'FINALIZED', total_tax: '27.30' });
    const late = await associate('invoice', draft.id, 'vat');
    expect([late.status, late.body.message]).toEqual([400, expect.stringMatching(/FINALIZED/)]);
    expect((await associate('invoice', 'inv_unknown', 'vat')).status).toBe(404);
    const { body: checked } = await api.call('GET', `${path}/verify`);
    expect(checked).toMatchObject({ same_from_inputs: true, differences: [] });
    const edited = { display_name: 'Goodwill', amount: '10' };
    await bill('2027-01-01T00:30:00.000Z');
    const next = await latestOf(api, subscription.id);
    await associate('invoice', next.id, 'city');
    const added = await api.call('POST', `/v1/invoices/${next.id}/line_items`, { body: edited });
    expect(added.body).toMatchObject({ subtotal: '140.00', total_tax: '29.40' });
  });

  test('with given lines is finalized at once, with coupons and taxes, or as a credit', async ({
    api,
  }) => {
    await api.make('/v1/customers', { external_id: 'acme' });
    const customer = (await api.call('GET', '/v1/customers/external/acme')).body;
    await api.make('/v1/coupons', {
      name: 'Five',
      coupon_code: 'FIVE',
      type: 'fixed',
      amount_off: '5',
      currency: 'usd',
      cadence: 'once',
      max_redemptions: 1,
    });
    await api.make('/v1/taxes/rates', {
      name: 'VAT',
      code: 'vat',
      tax_rate_type: 'percentage',
      percentage_value: '20',
    });
    const lines = [
      { display_name: 'Workshop', amount: '100' },
      { display_name: 'Travel', amount: '25.5', quantity: '3' },
    ];
    const sums = { subtotal: '125.50', total: '125.5', amount_due: '125.50' };
    const body = { customer_id: customer.id, currency: 'USD', line_items: lines, ...sums };
    const made = await api.call('POST', '/v1/invoices', {
      body: { ...body, coupons: ['FIVE'], tax_rates: ['vat'], invoice_number: 'A-1' },
    });
    expect(made.status).toBe(201);
    // 125.50 − 5 = 120.50; 20 % of it is 24.10.
    expect(made.body).toMatchObject({
      invoice_type: 'ONE_OFF',
      invoice_status: 'FINALIZED',
      payment_status: 'PENDING',
      invoice_number: 'A-1',
      subtotal: '125.50',
      total_discount: '5.00',
      total_tax: '24.10',
      total: '144.60',
      period_start: null,
      billing_reason: 'MANUAL',
    });
    expect(made.body.line_items.map((line: { amount: string }) => line.amount)).toEqual([
      '100.00',
      '25.50',
    ]);
    const refusals = [
      [{ ...body, invoice_number: 'A-1' }, 409, 'invoice_number'],
      [{ ...body, invoice_number: 'A-2\r\nX: y' }, 400, 'invoice_number'],
      [
        { ...body, line_items: [{ display_name: 'A\u202Eb', amount: '1' }] },
        400,
        'line_items.0.display_name',
      ],
      [{ ...body, coupons: ['FIVE'] }, 400, 'coupons.0'],
      [{ ...body, subtotal: '125' }, 400, 'subtotal'],
      [
        { ...body, line_items: [{ display_name: 'A', amount: '0.001' }] },
        400,
        'line_items.0.amount',
      ],
      [{ ...body, line_items: [{ display_name: 'A', amount: '-1' }] }, 400, 'line_items.0.amount'],
      [{ ...body, invoice_type: 'CREDIT', tax_rates: ['vat'] }, 400, 'tax_rates'],
    ] as const;
    for (const [wrong, status, member] of refusals) {
      const answer = await api.call('POST', '/v1/invoices', { body: wrong });
      expect([member, answer.status]).toEqual([member, status]);
      expect(Object.keys(answer.body.details)).toContain(member);
    }
    const credit = await api.call('POST', '/v1/invoices', {
      body: {
        customer_id: customer.id,
        currency: 'usd',
        invoice_type: 'CREDIT',
        subtotal: '-20',
        total: '-20',
        amount_due: '-20',
        line_items: [{ display_name: 'Goodwill', amount: '-20' }],
      },
    });
    expect(credit.body).toMatchObject({
      total: '-20.00',
      amount_due: '-20.00',
      amount_remaining: '0.00',
      payment_status: 'SUCCEEDED',
      invoice_status: 'FINALIZED',
      total_tax: '0.00',
    });
  });

  test('with given lines may belong to a subscription: one for a period, with its taxes and terms', async ({
    api,
    bill,
  }) => {
    await api.make('/v1/taxes/rates', {
      name: 'VAT',
      code: 'vat',
      tax_rate_type: 'percentage',
      percentage_value: '20',
    });
    await api.make('/v1/taxes/rates', {
      name: 'Reduced',
      code: 'low',
      tax_rate_type: 'percentage',
      percentage_value: '10',
    });
    const { customer, subscription } = await subscribeMonthly(api, { payment_terms: '15 NET' });
    for (const [tax_rate_code, entity_type, entity_id] of [
      ['vat', 'customer', customer.id],
      ['low', 'subscription', subscription.id],
    ]) {
      await api.make('/v1/taxes/associations', { tax_rate_code, entity_type, entity_id });
    }
    const sums = { subtotal: '40', total: '40', amount_due: '40' };
    const body = {
      customer_id: customer.id,
      currency: 'usd',
      invoice_type: 'SUBSCRIPTION',
      ...sums,
      subscription_id: subscription.id,
      billing_period: 'MONTHLY',
      period_start: '2026-11-01T00:00:00Z',
      period_end: '2026-12-01T00:00:00Z',
      line_items: [{ display_name: 'Migration', amount: '40' }],
    };
    await bill('2026-11-10T00:00:00.000Z');
    const answers = await Promise.all(
      [1, 2, 3].map(() => api.call('POST', '/v1/invoices', { body })),
    );
    expect(statusOf(answers)).toEqual([201, 409, 409]);
    const made = answers.find(({ status }) => status === 201)?.body;
    expect(made).toMatchObject({
      invoice_type: 'SUBSCRIPTION',
      invoice_status: 'FINALIZED',
      billing_reason: 'MANUAL',
      subscription_id: subscription.id,
      billing_period: 'MONTHLY',
      total: '44.00',
      subtotal: '40.00',
      total_tax: '4.00',
      period_end: '2026-12-01T00:00:00.000Z',
      due_date: '2026-11-25T00:00:00.000Z',
    });
    for (const { body: other } of answers.filter(({ status }) => status === 409)) {
      expect(other).toMatchObject({ code: 'already_exists' });
      expect(other.message).toContain(made.id);
    }
    // The period is billed by itself as before, and the sequence counts both.
    await bill('2026-12-01T02:00:00.000Z');
    const cycle = await latestOf(api, subscription.id);
    expect(cycle).toMatchObject({ billing_reason: 'SUBSCRIPTION_CYCLE', subtotal: '130.00' });
    expect(cycle.billing_sequence).toBe(made.billing_sequence + 1);
    const verified = await api.call('GET', `/v1/invoices/${made.id}/verify`);
    expect(verified.body).toMatchObject({ same_from_inputs: true, differences: [] });
    await api.call('POST', `/v1/invoices/${made.id}/void`, { body: {} });
    const recalculated = await api.call('POST', `/v1/invoices/${made.id}/recalculate`);
    expect([recalculated.status, recalculated.body.message]).toEqual([
      400,
      expect.stringMatching(/lines of the invoice were given/),
    ]);
    const again = await api.call('POST', '/v1/invoices', { body });
    expect([again.status, again.body.billing_sequence]).toEqual([201, cycle.billing_sequence + 1]);
    const skipped = await api.call('POST', '/v1/invoices', {
      body: {
        ...body,
        period_start: '2026-10-01T00:00:00Z',
        period_end: '2026-11-01T00:00:00Z',
        subtotal: '0',
        total: '0',
        amount_due: '0',
        line_items: [{ display_name: 'Nothing', amount: '0' }],
      },
    });
    expect(skipped.body).toMatchObject({ invoice_status: 'SKIPPED', invoice_number: null });
    const recompute = await api.call('POST', `/v1/invoices/${skipped.body.id}/recompute`);
    expect(recompute.status).toBe(400);
    const loose = { ...body, subscription_id: undefined, billing_period: undefined };
    const refusals = [
      [{ ...body, customer_id: 'cust_0' }, 'customer_id'],
      [{ ...body, currency: 'eur' }, 'currency'],
      [{ ...body, billing_period: 'ANNUAL' }, 'billing_period'],
      [{ ...body, billing_reason: 'SUBSCRIPTION_CYCLE' }, 'billing_reason'],
      [{ ...body, period_end: body.period_start }, 'period_end'],
      [loose, 'subscription_id'],
      [loose, 'billing_period'],
      [{ ...body, invoice_type: 'ONE_OFF' }, 'subscription_id'],
    ] as const;
    for (const [wrong, member] of refusals) {
      const answer = await api.call('POST', '/v1/invoices', { body: wrong });
      expect([member, answer.status]).toEqual([member, 400]);
      expect(Object.keys(answer.body.details)).toContain(member);
    }
  });

  test('takes the numbers of each series without a gap, also when its setting changes and back (NUM-2)', async ({
    api,
    bill,
  }) => {
    await subscribeMonthly(api);
    const customer = (await api.call('GET', '/v1/customers/external/acme')).body;
    const make = async (): Promise<string> => {
      const sums = { subtotal: '1', total: '1', amount_due: '1' };
      const line_items = [{ display_name: 'A', amount: '1' }];
      const body = { customer_id: customer.id, currency: 'usd', line_items, ...sums };
      return (await api.call('POST', '/v1/invoices', { body })).body.invoice_number as string;
    };
    const set = (value: object) =>
      api.call('PUT', '/v1/settings/invoice_config', { body: { value } });
    await bill('2026-10-31T23:30:00.000Z');
    const numbers = [await make(), await make()];
    await set({ prefix: 'ACME', format: 'YYYY', timezone: 'Asia/Tokyo', start_sequence: 7 });
    numbers.push(await make(), await make());
    await set({ format: 'YYMMDD', separator: '', suffix_length: 3, timezone: 'Asia/Tokyo' });
    numbers.push(await make());
    await set({});
    numbers.push(await make());
    expect(numbers).toEqual([
      'INV-202610-00001',
      'INV-202610-00002',
      'ACME-2026-00007',
      'ACME-2026-00008',
      'INV261101001',
      'INV-202610-00003',
    ]);
  });
});
