import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { waitingSessions } from '../../load-tests/harness/waiting-sessions.js';
import { noRows } from '../../sql/columns.js';
import { makeSubscription, test } from '../testing/billing-test.js';

const PATH = '/v1/coupons';
const ASSOCIATIONS = '/v1/coupons/associations';
const PERCENTAGE = { name: 'Spring', type: 'percentage', percentage_off: '10', cadence: 'forever' };
const FIXED = { name: 'Five', type: 'fixed', amount_off: '5', currency: 'usd', cadence: 'once' };

describe('POST /subscriptions with coupons', () => {
  test('attaches them to the invoices and to lines, from the start of the subscription on', async ({
    api,
    clock,
  }) => {
    clock.set('2026-02-01T00:00:00Z');
    const repeated = { cadence: 'repeated', duration_in_periods: 2 };
    await api.make(PATH, { ...PERCENTAGE, ...repeated, coupon_code: 'TWO' });
    await api.make(PATH, { ...FIXED, coupon_code: 'FIVE' });
    const made = await makeSubscription(api, { start_date: '2026-01-31T00:00:00Z' });
    const terms = {
      customer_id: made.customerId,
      plan_id: made.planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-01-31T00:00:00Z',
    };
    const subscription = await api.make('/v1/subscriptions', {
      ...terms,
      coupons: ['TWO'],
      line_item_coupons: { [made.priceId]: ['FIVE'] },
    });
    const lineId = subscription.line_items[0].id;
    const [onInvoice, onLine] = subscription.coupon_associations;
    const five = (await api.call('GET', `${PATH}/code/FIVE`)).body;
    expect(onLine).toEqual({
      id: expect.stringMatching(/^coupon_assoc_/),
      coupon_id: five.id,
      coupon: five,
      subscription_id: subscription.id,
      subscription_line_item_id: lineId,
      subscription_phase_id: null,
      start_date: '2026-01-31T00:00:00.000Z',
      end_date: null,
      metadata: {},
      status: 'published',
      created_at: '2026-02-01T00:00:00.000Z',
      created_by: expect.any(String),
      updated_at: '2026-02-01T00:00:00.000Z',
      updated_by: expect.any(String),
      tenant_id: api.environment.tenantId,
      environment_id: api.environment.environmentId,
    });
    expect(five.total_redemptions).toBe(1);
    expect(onInvoice).toMatchObject({
      subscription_line_item_id: null,
      coupon: { coupon_code: 'TWO', total_redemptions: 1 },
      // Two months after 31 January: the day comes back after February (docs/domain.md 12.3).
      end_date: '2026-03-31T00:00:00.000Z',
    });
    const read = await api.call('GET', `/v1/subscriptions/${subscription.id}`);
    expect(read.body.coupon_associations).toEqual(subscription.coupon_associations);
  });

  test('refuses a coupon that cannot be attached, and changes nothing', async ({ api, clock }) => {
    clock.set('2026-02-01T00:00:00Z');
    const coupon = (code: string, members: object) =>
      api.make(PATH, { ...PERCENTAGE, coupon_code: code, ...members });
    const { id: archived } = await coupon('GONE', {});
    await api.call('DELETE', `${PATH}/${archived}`);
    await coupon('EARLY', { redeem_after: '2026-02-01T00:00:00.001Z' });
    await coupon('ON_TIME', { redeem_after: '2026-02-01T00:00:00Z', max_redemptions: 3 });
    await coupon('LATE', { redeem_before: '2026-02-01T00:00:00Z' });
    await coupon('NOT_LATE', { redeem_before: '2026-02-01T00:00:00.001Z' });
    await coupon('EURO', { ...FIXED, percentage_off: undefined, currency: 'eur' });
    await coupon('EURO_SHARE', { currency: 'eur' });
    const { customerId, planId, priceId } = await makeSubscription(api);
    const subscribe = (members: object) =>
      api.call('POST', '/v1/subscriptions', {
        body: {
          customer_id: customerId,
          plan_id: planId,
          currency: 'usd',
          billing_period: 'MONTHLY',
          ...members,
        },
      });
    const refused: readonly (readonly [object, string, RegExp])[] = [
      [{ coupons: ['ON_TIME', 'GONE'] }, 'coupons.1', /is archived/],
      [{ coupons: ['EARLY'] }, 'coupons.0', /cannot be redeemed yet/],
      [{ coupons: ['LATE'] }, 'coupons.0', /can no longer be redeemed/],
      [{ coupons: ['EURO'] }, 'coupons.0', /in eur; the subscription is in usd/],
      [{ coupons: ['ON_TIME', 'ON_TIME'] }, 'coupons.1', /given twice/],
      [{ line_item_coupons: { price_x: ['ON_TIME'] } }, 'line_item_coupons.price_x', /not a price/],
      [
        { line_item_coupons: { [priceId]: ['LATE'] } },
        `line_item_coupons.${priceId}.0`,
        /can no longer/,
      ],
    ];
    for (const [members, member, problem] of refused) {
      const { status, body } = await subscribe(members);
      expect([member, status, body.code]).toEqual([member, 400, 'validation_error']);
      expect(body.details[member], member).toMatch(problem);
    }
    const unknown = await subscribe({ coupons: ['ON_TIME', 'NOBODY'] });
    expect([unknown.status, unknown.body.message]).toEqual([404, 'coupon NOBODY does not exist']);
    const found = async (code: string) => (await api.call('GET', `${PATH}/code/${code}`)).body;
    expect((await found('ON_TIME')).total_redemptions).toBe(0);
    const good = await subscribe({
      coupons: ['ON_TIME', 'NOT_LATE', 'EURO_SHARE'],
      line_item_coupons: { [priceId]: ['ON_TIME'] },
    });
    expect([good.status, good.body.coupon_associations.length]).toEqual([201, 4]);
    // Every association is a redemption.
    expect((await found('ON_TIME')).total_redemptions).toBe(2);
    const both = { coupons: ['ON_TIME'], line_item_coupons: { [priceId]: ['ON_TIME'] } };
    expect((await subscribe(both)).body.details).toEqual({
      [`line_item_coupons.${priceId}.0`]: 'names a coupon that has no redemptions left',
    });
    expect((await found('ON_TIME')).total_redemptions).toBe(2);
  });

  test('takes a coupon by its id, which one without a code has alone', async ({ api }) => {
    const coupon = await api.make(PATH, PERCENTAGE);
    const coded = await api.make(PATH, { ...FIXED, coupon_code: 'FIVE' });
    const { customerId } = await makeSubscription(api, { coupons: [coupon.id, coded.id, 'FIVE'] });
    const held = (await api.call('GET', ASSOCIATIONS)).body.items;
    const ids = held.map((one: { coupon_id: string }) => one.coupon_id).sort();
    expect(ids).toEqual([coupon.id, coded.id, coded.id].sort());
    const invoice = await api.make('/v1/invoices', {
      customer_id: customerId,
      currency: 'usd',
      invoice_type: 'ONE_OFF',
      line_items: [{ display_name: 'Setup', quantity: '1', amount: '20.00' }],
      subtotal: '20.00',
      total: '20',
      amount_due: '20',
      coupons: [coupon.id],
    });
    expect(invoice.total).toBe('18.00');
  });

  test('gives the last redemption to one of ten who want it at once', async ({ api }) => {
    const { id } = await api.make(PATH, { ...PERCENTAGE, coupon_code: 'LAST', max_redemptions: 1 });
    const { customerId, planId } = await makeSubscription(api);
    const body = {
      customer_id: customerId,
      plan_id: planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      coupons: ['LAST'],
    };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => api.call('POST', '/v1/subscriptions', { body })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(400)]);
    const lost = answers.filter(({ status }) => status === 400);
    expect(lost.map((answer) => answer.body.details)).toEqual(
      Array(9).fill({ 'coupons.0': 'names a coupon that has no redemptions left' }),
    );
    const coupon = (await api.call('GET', `${PATH}/${id}`)).body;
    expect(coupon.total_redemptions).toBe(1);
    const { pagination } = (await api.call('GET', ASSOCIATIONS)).body;
    const stored = await api.make('/v1/subscriptions/search', {});
    // That of makeSubscription and the one that won.
    expect([pagination.total, stored.pagination.total]).toEqual([1, 2]);
  });

  test('of archiving a coupon and attaching it one comes first, and nothing is half done', async ({
    api,
  }) => {
    const { customerId, planId } = await makeSubscription(api);
    const terms = { customer_id: customerId, plan_id: planId, currency: 'usd' };
    for (let round = 0; round < 12; round += 1) {
      const code = `ROUND-${round}`;
      const { id } = await api.make(PATH, { ...PERCENTAGE, coupon_code: code });
      const body = { ...terms, billing_period: 'MONTHLY', coupons: [code] };
      const attach = () => api.call('POST', '/v1/subscriptions', { body });
      const archive = () => api.call('DELETE', `${PATH}/${id}`);
      const archiving = round % 2 === 0 ? null : archive();
      const [attached, archived] = await Promise.all([attach(), archiving ?? archive()]);
      expect(archived.status).toBe(200);
      const { total_redemptions: total } = (await api.call('GET', `${PATH}/${id}`)).body;
      // Nobody redeems a coupon that is archived already.
      const redeemed = { entity_id: id, action: 'updated' };
      const trail = (await api.make('/v1/audit/search', redeemed)).items;
      const statuses = trail.map((one: { after: { status: string } }) => one.after.status);
      expect(statuses).toEqual(trail.map(() => 'published'));
      const held = await api.call('GET', `${ASSOCIATIONS}?coupon_id=${id}`);
      const count = attached.status === 201 ? 1 : 0;
      expect([attached.status, total, held.body.pagination.total]).toEqual([
        count === 1 ? 201 : 400,
        count,
        count,
      ]);
    }
  });

  test('does not redeem a coupon that is being archived', async ({ api, database }) => {
    const { id } = await api.make(PATH, { ...PERCENTAGE, coupon_code: 'GONE' });
    const { customerId, planId } = await makeSubscription(api);
    const terms = { customer_id: customerId, plan_id: planId, currency: 'usd' };
    const body = { ...terms, billing_period: 'MONTHLY', coupons: ['GONE'] };
    const { attaching } = await ownerOf(database.database).transaction(async (tx) => {
      await tx.query(sql.type(noRows)`UPDATE coupons SET status = 'archived' WHERE id = ${id}`);
      const attaching = api.call('POST', '/v1/subscriptions', { body });
      await expect
        .poll(() => waitingSessions(tx), { timeout: 30_000, interval: 20 })
        .toBeGreaterThan(0);
      return { attaching };
    });
    const { status, body: refused } = await attaching;
    expect([status, refused.details]).toEqual([
      400,
      { 'coupons.0': 'names a coupon that is archived' },
    ]);
    expect((await api.call('GET', `${PATH}/${id}`)).body.total_redemptions).toBe(0);
  });
});

describe('GET /coupons/associations', () => {
  test('lists by coupon, subscription and whether they count now', async ({ api, clock }) => {
    clock.set('2026-02-01T00:00:00Z');
    const two = { ...PERCENTAGE, cadence: 'repeated', duration_in_periods: 1 };
    const spring = await api.make(PATH, { ...PERCENTAGE, coupon_code: 'SPRING' });
    await api.make(PATH, { ...two, coupon_code: 'MONTH' });
    const { id } = await makeSubscription(api, {
      start_date: '2026-02-01T00:00:00Z',
      coupons: ['SPRING', 'MONTH'],
    });
    const list = async (query: string) => (await api.call('GET', `${ASSOCIATIONS}${query}`)).body;
    const codesOf = async (query: string): Promise<string[]> =>
      (await list(query)).items.map(
        (one: { coupon: { coupon_code: string } }) => one.coupon.coupon_code,
      );
    expect(await codesOf('?order=asc')).toEqual(['SPRING', 'MONTH']);
    expect(await codesOf(`?coupon_id=${spring.id}`)).toEqual(['SPRING']);
    expect((await list(`?subscription_id=${id}&limit=1`)).pagination.total).toBe(2);
    expect(await codesOf('?subscription_id=subs_x')).toEqual([]);
    expect(await codesOf('?active_only=true&order=asc')).toEqual(['SPRING', 'MONTH']);
    clock.set('2026-01-31T23:59:59.999Z');
    expect(await codesOf('?active_only=true')).toEqual([]);
    clock.set('2026-03-01T00:00:00Z');
    expect(await codesOf('?active_only=true')).toEqual(['SPRING']);
    expect(await codesOf('?active_only=false&order=asc')).toEqual(['SPRING', 'MONTH']);
    for (const query of ['?active_only=maybe', '?limit=0', '?sort=version', '?status=x']) {
      expect((await api.call('GET', `${ASSOCIATIONS}${query}`)).status, query).toBe(400);
    }
  });

  test('reads one by its id, with its coupon as it is today', async ({ api }) => {
    const { id: couponId } = await api.make(PATH, { ...PERCENTAGE, coupon_code: 'SPRING' });
    await makeSubscription(api, { coupons: ['SPRING'] });
    const [listed] = (await api.call('GET', ASSOCIATIONS)).body.items;
    const read = () => api.call('GET', `${ASSOCIATIONS}/${listed.id}`);
    expect((await read()).body).toEqual(listed);
    await api.call('DELETE', `${PATH}/${couponId}`);
    expect((await read()).body.coupon.status).toBe('archived');
    expect((await api.call('GET', `${ASSOCIATIONS}/coupon_assoc_x`)).status).toBe(404);
  });
});
