import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { expectRefusals, makeKey, makeSubscription, test } from '../testing/billing-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';

async function partiesOf(api: BillingUnderTest) {
  const { planId, customerId } = await makeSubscription(api);
  return { plan_id: planId, customer_id: customerId, currency: 'usd', billing_period: 'MONTHLY' };
}

describe('POST /subscriptions', () => {
  test('answers 201 with every member and a line item per matching price', async ({
    api,
    clock,
  }) => {
    clock.set('2026-11-20T10:00:00Z');
    const { planId, customerId, priceId, meterId } = await makeSubscription(api);
    const seats = await api.make('/v1/prices', {
      entity_id: planId,
      currency: 'usd',
      amount: '10',
      min_quantity: 3,
      display_name: 'Seats',
    });
    await api.make('/v1/prices', { entity_id: planId, currency: 'eur', amount: '10' });
    const { status, body, headers } = await api.call('POST', '/v1/subscriptions', {
      body: {
        external_customer_id: 'acme',
        plan_id: planId,
        currency: 'USD',
        billing_period: 'MONTHLY',
        billing_cycle: 'calendar',
        customer_timezone: 'Europe/Berlin',
        payment_terms: '15 NET',
        start_date: '2026-11-20T12:00:00+01:00',
        metadata: { source: 'test' },
      },
    });
    expect(status).toBe(201);
    expect(headers.get('etag')).toBe('"1"');
    expect(body).toMatchObject({
      customer_id: customerId,
      plan_id: planId,
      subscription_status: 'active',
      subscription_type: 'standalone',
      currency: 'usd',
      billing_cycle: 'calendar',
      billing_anchor: '2026-11-30T23:00:00.000Z',
      start_date: '2026-11-20T11:00:00.000Z',
      current_period_start: '2026-11-20T11:00:00.000Z',
      current_period_end: '2026-11-30T23:00:00.000Z',
      collection_method: 'charge_automatically',
      payment_behavior: 'default_active',
      payment_terms: '15 NET',
      proration_behavior: 'none',
      pause_status: 'none',
      version: 1,
      latest_invoice: { billing_reason: 'SUBSCRIPTION_CREATE', total: '30.00' },
      plan_prices_out_of_sync: false,
      pauses: [],
      phases: [],
      coupon_associations: [],
      credit_grants: [],
    });
    expect(body.line_items).toHaveLength(2);
    expect(body.line_items[0]).toMatchObject({
      price_id: priceId,
      price_type: 'USAGE',
      meter_id: meterId,
      meter_display_name: 'Calls',
      plan_display_name: 'Pro',
      display_name: 'Calls',
      quantity: '0',
      entity_type: 'plan',
      start_date: '2026-11-20T11:00:00.000Z',
      commitment_time_buckets: [],
    });
    expect(body.line_items[1]).toMatchObject({
      price_id: seats.id,
      quantity: '3',
      display_name: 'Seats',
      invoice_cadence: 'ADVANCE',
    });
    const read = await api.call('GET', `/v1/subscriptions/${body.id}`);
    expect(read.body).toEqual({ ...body, warnings: undefined });
  });

  test('keeps the 31st as anchor over short months', async ({ api }) => {
    const parties = await partiesOf(api);
    const subscription = await api.make('/v1/subscriptions', {
      ...parties,
      start_date: '2027-01-31T10:00:00Z',
    });
    expect(subscription.current_period_end).toBe('2027-02-28T10:00:00.000Z');
  });

  test('takes prices of a whole multiple of the period and refuses a plan without any', async ({
    api,
  }) => {
    const parties = await partiesOf(api);
    const quarterly = { ...parties, billing_period: 'QUARTERLY' };
    const { status, body } = await api.call('POST', '/v1/subscriptions', { body: quarterly });
    expect(status).toBe(400);
    expect(Object.keys(body.details)).toEqual(['plan_id']);
    const price = { entity_id: parties.plan_id, currency: 'usd', amount: '1' };
    await api.make('/v1/prices', { ...price, billing_period: 'ANNUAL' });
    const made = await api.make('/v1/subscriptions', quarterly);
    expect(made.line_items).toHaveLength(1);
  });

  test('leaves a price that begins later uncharged until then', async ({ api, clock }) => {
    clock.set('2026-11-01T00:00:00Z');
    const parties = await partiesOf(api);
    const price = { entity_id: parties.plan_id, currency: 'usd', amount: '1' };
    await api.make('/v1/prices', { ...price, start_date: '2027-01-01T00:00:00Z' });
    const start = { start_date: '2020-06-01T00:00:00Z' };
    const subscription = await api.make('/v1/subscriptions', { ...parties, ...start });
    const starts = subscription.line_items.map((line: { start_date: string }) => line.start_date);
    expect(starts).toEqual(['2020-06-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z']);
  });

  test('prices a line by its override, which is a price of the subscription', async ({ api }) => {
    const { planId, customerId, priceId } = await makeSubscription(api);
    const seats = await api.make('/v1/prices', {
      entity_id: planId,
      currency: 'usd',
      amount: '10',
      min_quantity: 3,
    });
    const parties = {
      customer_id: customerId,
      plan_id: planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
    };
    const subscription = await api.make('/v1/subscriptions', {
      ...parties,
      override_line_items: [
        { price_id: seats.id, quantity: '7.5' },
        { price_id: priceId, tiers: [{ unit_amount: '0.2', up_to: 10 }, { unit_amount: '0.1' }] },
      ],
    });
    const [usage, fixed] = subscription.line_items;
    expect(usage).toMatchObject({ entity_type: 'plan', entity_id: planId, quantity: '0' });
    expect(usage.price).toMatchObject({
      id: usage.price_id,
      entity_type: 'SUBSCRIPTION',
      entity_id: subscription.id,
      parent_price_id: priceId,
      billing_model: 'TIERED',
      meter_id: usage.meter_id,
    });
    expect(usage.price.tiers).toEqual([
      { unit_amount: '0.2', flat_amount: null, up_to: 10 },
      { unit_amount: '0.1', flat_amount: null, up_to: null },
    ]);
    expect(fixed).toMatchObject({ price_id: seats.id, quantity: '7.5' });
    const { body: read } = await api.call('GET', `/v1/subscriptions/${subscription.id}`);
    expect(read).toEqual({ ...subscription, warnings: undefined });
    const plan = await api.call('GET', `/v1/plans/${planId}`);
    expect(plan.body.prices).toHaveLength(2);
    const preview = await api.make('/v1/invoices/preview', { subscription_id: subscription.id });
    expect(preview.line_items[1].amount).toBe('75.00');
    const line = (members: object) => ({
      ...parties,
      override_line_items: [{ price_id: priceId, ...members }],
    });
    const place = 'override_line_items.0';
    await expectRefusals(api, '/v1/subscriptions', [
      ['another price', line({ price_id: 'price_x' }), `${place}.price_id`],
      ['a negative amount', line({ amount: '-1' }), `${place}.amount`],
      [
        'tiers without an end',
        line({ tiers: [{ unit_amount: '1', up_to: 1 }] }),
        `${place}.tiers.0.up_to`,
      ],
      [
        'a model without its members',
        line({ billing_model: 'PACKAGE' }),
        `${place}.transform_quantity`,
      ],
      ['a quantity of usage', line({ quantity: '2' }), `${place}.quantity`],
      ['a negative quantity', line({ quantity: '-2' }), `${place}.quantity`],
      ['an unknown member', line({ colour: 1 }), `${place}.colour`],
    ]);
    const twice = { override_line_items: [{ price_id: priceId }, { price_id: priceId }] };
    await expectRefusals(api, '/v1/subscriptions', [
      ['a price twice', { ...parties, ...twice }, 'override_line_items.1.price_id'],
    ]);
  });

  test('takes members that say what holds without them', async ({ api }) => {
    const parties = await partiesOf(api);
    const body = { ...parties, trial_period_days: 0, enable_true_up: false };
    expect((await api.call('POST', '/v1/subscriptions', { body })).status).toBe(201);
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    const parties = await partiesOf(api);
    const past = { start_date: '2026-01-01T00:00:00Z' };
    await expectRefusals(api, '/v1/subscriptions', [
      ['no customer', { ...parties, customer_id: undefined }, 'customer_id'],
      ['no plan', { ...parties, plan_id: undefined }, 'plan_id'],
      ['no currency', { ...parties, currency: undefined }, 'currency'],
      ['a currency of signs', { ...parties, currency: 'us$' }, 'currency'],
      ['a period of ONETIME', { ...parties, billing_period: 'ONETIME' }, 'billing_period'],
      ['an unknown period', { ...parties, billing_period: 'YEARLY' }, 'billing_period'],
      ['a count of 0', { ...parties, billing_period_count: 0 }, 'billing_period_count'],
      ['an end at the start', { ...parties, ...past, end_date: past.start_date }, 'end_date'],
      [
        'an anchor with calendar',
        { ...parties, billing_cycle: 'calendar', billing_anchor: '2030-01-01T00:00:00Z' },
        'billing_anchor',
      ],
      [
        'an anchor before the start',
        { ...parties, ...past, billing_anchor: '2025-01-01T00:00:00Z' },
        'billing_anchor',
      ],
      ['an impossible date', { ...parties, start_date: '2026-13-01T00:00:00Z' }, 'start_date'],
      ['a date far away', { ...parties, start_date: '9999-12-31T23:59:59Z' }, 'start_date'],
      ['an unknown zone', { ...parties, customer_timezone: 'X/Y' }, 'customer_timezone'],
      ['unknown terms', { ...parties, payment_terms: '10 NET' }, 'payment_terms'],
      [
        'prorations of the past',
        { ...parties, ...past, proration_behavior: 'create_prorations' },
        'proration_behavior',
      ],
      ['an unknown member', { ...parties, colour: 1 }, 'colour'],
    ]);
  });

  test('answers 404 for customers and plans that are unknown or of others, 409 for a key', async ({
    api,
    database,
  }) => {
    const parties = await partiesOf(api);
    const statusOf = async (body: object, headers = {}): Promise<number> =>
      (await api.call('POST', '/v1/subscriptions', { body, headers })).status;
    expect(await statusOf({ ...parties, customer_id: 'cust_x' })).toBe(404);
    expect(await statusOf({ ...parties, plan_id: 'plan_x' })).toBe(404);
    const { apiKey } = await makeKey(database.database, {});
    expect(await statusOf(parties, { 'x-api-key': apiKey })).toBe(404);
    expect(await statusOf({ ...parties, lookup_key: 'main' })).toBe(201);
    expect(await statusOf({ ...parties, lookup_key: 'main' })).toBe(409);
  });
});

test('a second subscription to the same meters is made, and says that both bill them', async ({
  api,
}) => {
  const { id, planId, customerId } = await makeSubscription(api);
  const body = { customer_id: customerId, plan_id: planId, currency: 'usd' };
  const again = await api.make('/v1/subscriptions', { ...body, billing_period: 'MONTHLY' });
  expect(again.warnings).toEqual([
    `subscription ${id} of this customer bills the usage of Calls as well`,
  ]);
  const { id: other } = await api.make('/v1/customers', { external_id: 'other' });
  const elsewhere = { ...body, customer_id: other, billing_period: 'MONTHLY' };
  expect(await api.make('/v1/subscriptions', elsewhere)).not.toHaveProperty('warnings');
});

test('a plan without a matching price is refused with the prices that it has', async ({ api }) => {
  const { planId, customerId } = await makeSubscription(api);
  const body = { customer_id: customerId, plan_id: planId, currency: 'eur' };
  const refused = await api.call('POST', '/v1/subscriptions', {
    body: { ...body, billing_period: 'MONTHLY' },
  });
  expect(refused.body.details).toEqual({
    plan_id: 'the plan has no live price for eur, MONTHLY × 1: it has usd, MONTHLY × 1',
  });
});

/** Members that a list has as a single answer has them. */
const BELONGINGS = ['pauses', 'phases', 'coupon_associations', 'credit_grants', 'latest_invoice'];

describe('POST /subscriptions/search', () => {
  test('finds by every member of its own', async ({ api, database, clock }) => {
    clock.set('2026-11-20T00:00:00Z');
    const first = await makeSubscription(api, { start_date: '2026-11-01T00:00:00Z' });
    const other = await api.make('/v1/customers', { external_id: 'other' });
    clock.set('2026-11-20T00:00:01Z');
    const { id: second } = await api.make('/v1/subscriptions', {
      customer_id: other.id,
      plan_id: first.planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-11-10T00:00:00Z',
      end_date: '2026-11-15T00:00:00Z',
    });
    const idsOf = async (body: unknown): Promise<string[]> =>
      (await api.make('/v1/subscriptions/search', body)).items.map((row: { id: string }) => row.id);
    expect(await idsOf({})).toEqual([second, first.id]);
    expect(await idsOf({ customer_id: other.id })).toEqual([second]);
    expect(await idsOf({ customer_ids: [other.id, 'x'] })).toEqual([second]);
    expect(await idsOf({ external_customer_id: 'acme' })).toEqual([first.id]);
    expect(await idsOf({ external_customer_id: 'nobody' })).toEqual([]);
    expect(await idsOf({ plan_id: first.planId, subscription_ids: [first.id] })).toEqual([
      first.id,
    ]);
    expect(await idsOf({ plan_id: 'plan_x' })).toEqual([]);
    expect(await idsOf({ subscription_status: ['cancelled', 'paused'] })).toEqual([]);
    expect(await idsOf({ subscription_type: ['standalone'] })).toEqual([second, first.id]);
    expect(await idsOf({ billing_cadence: ['ONETIME'] })).toEqual([]);
    expect(await idsOf({ billing_period: ['MONTHLY'] })).toEqual([second, first.id]);
    expect(await idsOf({ invoicing_customer_ids: ['x'] })).toEqual([]);
    expect(await idsOf({ parent_subscription_ids: ['x'] })).toEqual([]);
    expect(await idsOf({ active_at: '2026-11-15T00:00:00Z' })).toEqual([first.id]);
    expect(await idsOf({ active_at: '2026-11-14T23:59:59Z' })).toEqual([second, first.id]);
    expect(await idsOf({ active_at: '2026-10-31T23:59:59Z' })).toEqual([]);
    expect(await idsOf({ effective_date_for_update: '2026-11-30T23:59:59Z' })).toEqual([second]);
    expect(await idsOf({ effective_date_for_update: '2026-12-01T00:00:00Z' })).toHaveLength(2);
    expect(await idsOf({ trial_end_due_lte: '2030-01-01T00:00:00Z' })).toEqual([]);
    await ownerOf(database.database).query(sql.type(z.unknown())`
      UPDATE subscriptions SET cancel_at = '2026-11-21', trial_end = '2026-11-22'
      WHERE id = ${first.id}`);
    expect(await idsOf({ effective_date_for_update: '2026-11-22T00:00:00Z' })).toHaveLength(2);
    expect(await idsOf({ trial_end_due_lte: '2026-11-22T00:00:00Z' })).toEqual([first.id]);
    await expectRefusals(api, '/v1/subscriptions/search', [
      ['a status alone', { subscription_status: 'active' }, 'subscription_status'],
      ['an unknown status', { subscription_status: ['gone'] }, 'subscription_status.0'],
      ['a date that is none', { active_at: 'today' }, 'active_at'],
    ]);
  });

  test('adds line items and expansions only on request', async ({ api }) => {
    const { id, priceId } = await makeSubscription(api);
    const plain = (await api.make('/v1/subscriptions/search', {})).items[0];
    expect(plain).toMatchObject({ line_items: null, customer: null, plan: null });
    const body = { with_line_items: true, expand: 'customer,plan', subscription_ids: [id] };
    const full = (await api.make('/v1/subscriptions/search', body)).items[0];
    expect(full.line_items[0].price.id).toBe(priceId);
    expect([full.customer.external_id, full.plan.name]).toEqual(['acme', 'Pro']);
    const one = (await api.call('GET', `/v1/subscriptions/${id}`)).body;
    for (const member of BELONGINGS) expect(plain[member], member).toEqual(one[member]);
  });
});

describe('GET /subscriptions/{id}', () => {
  test('says when the plan has newer prices, and answers 404 for what is unknown', async ({
    api,
    database,
  }) => {
    const { id, planId } = await makeSubscription(api);
    await api.make('/v1/prices', { entity_id: planId, currency: 'usd', amount: '1' });
    const { body } = await api.call('GET', `/v1/subscriptions/${id}`);
    expect(body.plan_prices_out_of_sync).toBe(true);
    const found = async (operator: string, boolean: boolean): Promise<number> => {
      const filter = { field: 'plan_prices_out_of_sync', operator, value: { boolean } };
      const page = await api.make('/v1/subscriptions/search', { filters: [filter] });
      return page.pagination.total;
    };
    expect([await found('eq', true), await found('neq', true)]).toEqual([1, 0]);
    expect([await found('eq', false), await found('neq', false)]).toEqual([0, 1]);
    await expectRefusals(api, '/v1/subscriptions/search', [
      [
        'a text',
        { filters: [{ field: 'plan_prices_out_of_sync', value: { string: 'x' } }] },
        'filters.0',
      ],
    ]);
    expect((await api.call('GET', '/v1/subscriptions/subs_x')).status).toBe(404);
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    expect((await api.call('GET', `/v1/subscriptions/${id}`, { headers })).status).toBe(404);
    const stale = { headers: { 'if-match': '"7"' } };
    expect((await api.call('GET', `/v1/subscriptions/${id}`, stale)).status).toBe(409);
  });
});

describe('a price on a subscription that begins in the past', () => {
  test('begins where its caller says, and where the subscription does if nobody said', async ({
    api,
    clock,
  }) => {
    clock.set('2026-11-20T00:00:00Z');
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd', invoice_cadence: 'ARREAR' };
    const given = { start_date: '2026-10-15T00:00:00Z', display_name: 'given' };
    await api.make('/v1/prices', { ...price, amount: '1', display_name: 'defaulted' });
    await api.make('/v1/prices', { ...price, amount: '2', ...given });
    const changed = await api.make('/v1/prices', {
      ...price,
      amount: '3',
      display_name: 'changed',
    });
    clock.set('2026-11-25T00:00:00Z');
    await api.call('PUT', `/v1/prices/${changed.id}`, { body: { amount: '4' } });
    await api.make('/v1/customers', { external_id: 'acme' });
    const subscription = await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-10-01T00:00:00Z',
      override_line_items: [],
    });
    const starts = subscription.line_items.map((item: Record<string, string>) => [
      item['display_name'],
      item['start_date'],
    ]);
    expect(Object.fromEntries(starts)).toEqual({
      defaulted: '2026-10-01T00:00:00.000Z',
      given: '2026-10-15T00:00:00.000Z',
      changed: '2026-10-01T00:00:00.000Z',
    });
  });
});
