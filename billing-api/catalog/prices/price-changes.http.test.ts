import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { noRows } from '../../../sql/columns.js';
import { makeKey, makeSubscription, test } from '../../testing/billing-test.js';
import type { Answer, BillingUnderTest } from '../../testing/billing-harness.js';

const START = '2026-01-01T00:00:00Z';

/** A plan with a base fee, at the start of 2026. */
async function makeFee(api: BillingUnderTest, members: object = {}) {
  const plan = await api.make('/v1/plans', { name: 'Pro' });
  const fee = { plan_id: plan.id, currency: 'usd', amount: '100', invoice_cadence: 'ARREAR' };
  const price = await api.make('/v1/prices', { ...fee, start_date: START, ...members });
  const { id: customerId } = await api.make('/v1/customers', { external_id: 'acme' });
  const subscribe = (others: object = {}) =>
    api.make('/v1/subscriptions', {
      customer_id: customerId,
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      billing_cycle: 'calendar',
      start_date: START,
      ...others,
    });
  const put = (body: object, id = price.id) => api.call('PUT', `/v1/prices/${id}`, { body });
  return { planId: plan.id as string, price, put, subscribe };
}

const amountsOf = ({ line_items: lines }: Answer['body']): readonly string[] =>
  lines.map((line: { amount: string }) => line.amount);

describe('PUT /prices/{id}', () => {
  test('changes in place what a price says of itself', async ({ api, clock }) => {
    clock.set(START);
    const { price, put, subscribe } = await makeFee(api, { lookup_key: 'fee' });
    const { id } = await subscribe();
    const grouped = { name: 'Fees', entity_type: 'price', lookup_key: 'fees' };
    const group = await api.make('/v1/groups', grouped);
    const members = {
      lookup_key: 'base',
      display_name: 'Base',
      description: 'Monthly',
      group_id: group.id,
      metadata: { team: 'a' },
    };
    const changed = await put(members);
    const own = { ...price, ...members, group: expect.objectContaining({ id: group.id }) };
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...own, updated_at: expect.any(String) },
    ]);
    expect((await api.call('GET', '/v1/prices/lookup/base')).body).toEqual(changed.body);
    expect((await api.call('GET', '/v1/prices/lookup/fee')).status).toBe(404);
    const subscription = (await api.call('GET', `/v1/subscriptions/${id}`)).body;
    expect(subscription).toMatchObject({ plan_prices_out_of_sync: false });
    const cleared = { lookup_key: null, display_name: null, description: null, metadata: {} };
    const none = await put({ ...cleared, metadata: null, group_id: '' });
    expect(none.body).toMatchObject({ ...cleared, group_id: null, group: null, sequence: 1 });
    expect((await put({})).status).toBe(200);
  });

  test('replaces a price whose charges change: subscriptions that run keep it', async ({
    api,
    clock,
  }) => {
    clock.set(START);
    const { planId, price, put, subscribe } = await makeFee(api, { lookup_key: 'fee' });
    const old = await subscribe();
    clock.set('2026-01-10T00:00:00Z');
    const { status, body: second } = await put({ amount: '250', metadata: { reason: 'costs' } });
    expect(status).toBe(200);
    const at = '2026-01-10T00:00:00.000Z';
    expect(second).toMatchObject({
      amount: '250',
      start_date: at,
      end_date: null,
      parent_price_id: price.id,
      sequence: 3,
      lookup_key: 'fee',
      metadata: { reason: 'costs' },
      invoice_cadence: 'ARREAR',
    });
    expect((await api.call('GET', `/v1/prices/${price.id}`)).body).toMatchObject({
      amount: '100',
      end_date: at,
      lookup_key: null,
      sequence: 2,
      metadata: {},
    });
    const { body: third } = await put({ amount: '300' }, second.id);
    expect(third).toMatchObject({ parent_price_id: price.id, sequence: 5 });
    const ids = { parent_price_id: price.id, allow_expired_prices: true };
    expect((await api.make('/v1/prices/search', ids)).pagination.total).toBe(2);
    const plan = (await api.call('GET', `/v1/plans/${planId}`)).body;
    expect(plan.prices).toMatchObject([{ id: third.id }]);
    // 100 is charged where it is agreed, and 300 to whoever comes now.
    const preview = (id: string) => api.make('/v1/invoices/preview', { subscription_id: id });
    expect(amountsOf(await preview(old.id))).toEqual(['100.00']);
    expect(amountsOf(await preview((await subscribe()).id))).toEqual(['300.00']);
    const running = (await api.call('GET', `/v1/subscriptions/${old.id}`)).body;
    expect(running).toMatchObject({ plan_prices_out_of_sync: true, synced_price_sequence: 1 });
  });

  test('with a later effective_from hands over at that instant, to the cent', async ({
    api,
    clock,
  }) => {
    clock.set(START);
    const { price, put, subscribe } = await makeFee(api);
    const from = '2026-01-16T00:00:00.000Z';
    const { body: next } = await put({ amount: '200', effective_from: from });
    const { id, line_items: lines } = await subscribe();
    expect(lines).toMatchObject([
      { price_id: price.id, start_date: '2026-01-01T00:00:00.000Z', end_date: from },
      { price_id: next.id, start_date: from, end_date: null },
    ]);
    // 100 × 15 ÷ 31 and 200 × 16 ÷ 31 (docs/domain.md 13.4).
    const preview = await api.make('/v1/invoices/preview', { subscription_id: id });
    expect([amountsOf(preview), preview.total]).toEqual([['48.39', '103.23'], '151.62']);
    // A subscription that starts later begins with the successor.
    const late = await subscribe({ start_date: from });
    expect(late.line_items).toMatchObject([{ price_id: next.id, start_date: from }]);
    expect(late.line_items).toHaveLength(1);
  });

  test('refuses what breaks a rule, naming the member, and changes nothing', async ({
    api,
    clock,
    database,
  }) => {
    clock.set(START);
    const end = '2026-06-01T00:00:00Z';
    const { planId, price, put } = await makeFee(api, { end_date: end });
    const wrong: readonly (readonly [object, string])[] = [
      [{ effective_from: '2026-02-01T00:00:00Z' }, 'effective_from'],
      [{ amount: '1', effective_from: '2025-12-31T23:59:59Z' }, 'effective_from'],
      [{ amount: '1', effective_from: end }, 'effective_from'],
      [{ amount: '1', effective_from: 'soon' }, 'effective_from'],
      [{ amount: '-1' }, 'amount'],
      [{ billing_model: 'TIERED' }, 'tiers'],
      [{ tiers: [{ unit_amount: '1', up_to: 5 }] }, 'tiers.0.up_to'],
      [{ price_unit_config: { price_unit: 'TOK', amount: '1' } }, 'price_unit_config'],
      [{ currency: 'eur' }, 'currency'],
      [{ lookup_key: '' }, 'lookup_key'],
      [{ metadata: { '': 1 } }, 'metadata'],
    ];
    for (const [body, member] of wrong) {
      const answer = await put(body);
      expect([body, answer.status, answer.body.code]).toEqual([body, 400, 'validation_error']);
      expect(Object.keys(answer.body.details)).toContain(member);
    }
    expect((await put({ group_id: 'group_x' })).status).toBe(404);
    expect((await put({ amount: '1' }, 'price_x')).status).toBe(404);
    const { apiKey } = await makeKey(database.database, {});
    const foreign = { body: { amount: '1' }, headers: { 'x-api-key': apiKey } };
    expect((await api.call('PUT', `/v1/prices/${price.id}`, foreign)).status).toBe(404);
    const other = { plan_id: planId, currency: 'usd', amount: '1', lookup_key: 'taken' };
    await api.make('/v1/prices', other);
    expect((await put({ lookup_key: 'taken' })).status).toBe(409);
    expect((await put({ amount: '2', lookup_key: 'taken' })).status).toBe(409);
    expect((await api.call('GET', `/v1/prices/${price.id}`)).body).toEqual(price);
    const last = { amount: '1', effective_from: '2026-05-31T23:59:59.999Z' };
    expect((await put(last)).body).toMatchObject({ end_date: '2026-06-01T00:00:00.000Z' });
    expect((await put({ amount: '1' })).body.details.effective_from).toContain('takes its place');
    clock.set(end);
    expect((await put({ amount: '1' })).body.details.effective_from).toContain('has ended');
    expect((await put({ display_name: 'Old' })).status).toBe(200);
  });

  test('gives a price one successor of ten callers', async ({ api }) => {
    const { planId, price, put } = await makeFee(api);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => put({ amount: String(index + 1) })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)]);
    const { prices } = (await api.call('GET', `/v1/plans/${planId}`)).body;
    const [made] = answers.filter(({ status }) => status === 200);
    expect(prices).toMatchObject([{ id: made?.body.id, parent_price_id: price.id }]);
    expect(
      (await api.make('/v1/prices/search', { allow_expired_prices: true })).items,
    ).toHaveLength(2);
  });

  test('or the end of the price or the archiving of its plan wins', async ({ api }) => {
    const { planId } = await makeFee(api);
    for (let round = 0; round < 5; round += 1) {
      const { id, prices } = await api.make(`/v1/plans/${planId}/clone`, {});
      const path = `/v1/prices/${prices[0].id}`;
      const [replaced, ended, archived] = await Promise.all([
        api.call('PUT', path, { body: { amount: '1' } }),
        api.call('DELETE', path),
        api.call('DELETE', `/v1/plans/${id}`),
      ]);
      expect(archived.status).toBe(200);
      // Both succeed when the end lies a millisecond ahead of the successor, which ends with it.
      expect([
        [200, 400],
        [400, 200],
        [200, 200],
      ]).toContainEqual([replaced.status, ended.status]);
      const left = (await api.call('GET', `/v1/plans/${id}`)).body.prices;
      expect(left).toHaveLength(ended.status === 200 ? 0 : 1);
    }
  });

  test('refuses a successor to a price of an archived plan, which can end', async ({ api }) => {
    const { planId, price, put } = await makeFee(api);
    await api.call('DELETE', `/v1/plans/${planId}`);
    const refused = await put({ amount: '1' });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
    expect((await api.call('DELETE', `/v1/prices/${price.id}`)).status).toBe(200);
  });
});

describe('DELETE /prices/{id}', () => {
  test('ends a price now or at a given instant; subscriptions that run keep it', async ({
    api,
    clock,
  }) => {
    clock.set(START);
    const { planId, price, subscribe } = await makeFee(api);
    const { id } = await subscribe();
    const end = (body?: object) =>
      api.call('DELETE', `/v1/prices/${price.id}`, body === undefined ? {} : { body });
    const later = await end({ end_date: '2026-03-01T00:00:00+01:00' });
    const message = `price ${price.id} ends at 2026-02-28T23:00:00.000Z`;
    expect([later.status, later.body]).toEqual([200, { message }]);
    for (const [date, problem] of [
      ['2025-12-31T23:59:59Z', 'before its start'],
      ['2026-03-01T00:00:00Z', 'before its present end'],
      ['x', 'date-time'],
    ] as const) {
      const refused = await end({ end_date: date });
      expect([refused.status, refused.body.code]).toEqual([400, 'validation_error']);
      expect(refused.body.details.end_date).toContain(problem);
    }
    expect((await end({ colour: 1 })).status).toBe(400);
    clock.set('2026-02-01T00:00:00Z');
    expect((await end()).status).toBe(200);
    const ended = (await api.call('GET', `/v1/prices/${price.id}`)).body;
    expect(ended).toMatchObject({
      status: 'published',
      end_date: '2026-02-01T00:00:00.000Z',
      sequence: 3,
    });
    expect((await end()).body.details.end_date).toContain('has ended');
    expect((await api.call('GET', `/v1/plans/${planId}`)).body.prices).toEqual([]);
    const preview = await api.make('/v1/invoices/preview', {
      subscription_id: id,
      period_start: START,
      period_end: '2026-02-01T00:00:00Z',
    });
    expect(amountsOf(preview)).toEqual(['100.00']);
    expect((await api.call('DELETE', '/v1/prices/price_x')).status).toBe(404);
  });

  test('lets the meter go that only this price used', async ({ api, database }) => {
    const { priceId, meterId } = await makeSubscription(api);
    const archive = () => api.call('DELETE', `/v1/meters/${meterId}`);
    expect((await archive()).status).toBe(400);
    const replaced = await api.call('PUT', `/v1/prices/${priceId}`, { body: { amount: '1' } });
    expect(replaced.status).toBe(200);
    expect((await archive()).status).toBe(400);
    expect((await api.call('DELETE', `/v1/prices/${replaced.body.id}`)).status).toBe(200);
    await ownerOf(database.database).query(sql.type(noRows)`
      UPDATE subscriptions SET subscription_status = 'cancelled'`);
    expect((await archive()).status).toBe(200);
  });

  test('leaves its meter needed by the subscriptions that still bill by it', async ({
    api,
    clock,
  }) => {
    clock.set(START);
    const calls = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } };
    const meter = await api.make('/v1/meters', calls);
    const usage = { meter_id: meter.id, amount: '0.5', type: 'USAGE' };
    const { price, subscribe } = await makeFee(api, usage);
    await subscribe({ end_date: '2026-03-01T00:00:00Z' });
    clock.set('2026-01-10T00:00:00Z');
    expect((await api.call('DELETE', `/v1/prices/${price.id}`)).status).toBe(200);
    const kept = await api.call('DELETE', `/v1/meters/${meter.id}`);
    const message = 'the meter is on a line of a subscription that goes on';
    expect([kept.status, kept.body.code, kept.body.message]).toEqual([
      400,
      'invalid_operation',
      message,
    ]);
    clock.set('2026-03-02T00:00:00Z');
    expect((await api.call('DELETE', `/v1/meters/${meter.id}`)).status).toBe(200);
  });
});
