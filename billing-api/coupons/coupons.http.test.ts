import { describe, expect } from 'vitest';
import { expectRefusals, makeKey, test } from '../testing/billing-test.js';

const PATH = '/v1/coupons';
const PERCENTAGE = { name: 'Spring', type: 'percentage', percentage_off: '10', cadence: 'forever' };
const FIXED = { name: 'Five', type: 'fixed', amount_off: '5', currency: 'usd', cadence: 'once' };

describe('POST /coupons', () => {
  test('answers 201 with every member of the specification and no other', async ({ api }) => {
    const body = {
      ...FIXED,
      currency: 'USD',
      amount_off: '5.50',
      coupon_code: 'FIVE',
      max_redemptions: 3,
      redeem_after: '2026-01-01T00:00:00.000Z',
      redeem_before: '2026-02-01T00:00:00.000Z',
      rules: { segment: { is: ['new'] } },
      metadata: { team: 'core' },
    };
    const { status, body: coupon, headers } = await api.call('POST', PATH, { body });
    expect([status, headers.get('etag'), coupon]).toEqual([
      201,
      '"1"',
      {
        ...body,
        id: expect.stringMatching(/^coupon_/),
        amount_off: '5.5',
        currency: 'usd',
        percentage_off: null,
        duration_in_periods: null,
        total_redemptions: 0,
        tenant_id: api.environment.tenantId,
        environment_id: api.environment.environmentId,
        status: 'published',
        created_at: expect.any(String),
        created_by: expect.any(String),
        updated_at: expect.any(String),
        updated_by: expect.any(String),
      },
    ]);
    const repeated = { ...PERCENTAGE, cadence: 'repeated', duration_in_periods: 3 };
    expect(await api.make(PATH, { ...repeated, currency: 'EUR' })).toMatchObject({
      ...repeated,
      amount_off: null,
      currency: 'eur',
      coupon_code: null,
      max_redemptions: null,
      rules: null,
    });
  });

  test('takes what lies on a bound', async ({ api }) => {
    const bounds = [
      { ...PERCENTAGE, percentage_off: '100', max_redemptions: 1 },
      { ...PERCENTAGE, percentage_off: '0.000000000000000001', max_redemptions: 1_000_000 },
      { ...PERCENTAGE, cadence: 'repeated', duration_in_periods: 1 },
      { ...PERCENTAGE, cadence: 'repeated', duration_in_periods: 1000 },
      { ...FIXED, amount_off: '0.01' },
      { ...FIXED, amount_off: '0.001', currency: 'kwd' },
      { ...FIXED, coupon_code: 'x'.repeat(255) },
      { ...FIXED, redeem_after: '2026-01-01T00:00:00Z', redeem_before: '2026-01-01T00:00:00Z' },
    ];
    for (const body of bounds) {
      expect((await api.call('POST', PATH, { body })).status, JSON.stringify(body)).toBe(201);
    }
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    await expectRefusals(api, PATH, [
      ['an empty name', { ...FIXED, name: ' ' }, 'name'],
      ['another type', { ...FIXED, type: 'free' }, 'type'],
      ['another cadence', { ...FIXED, cadence: 'twice' }, 'cadence'],
      ['no amount', { ...FIXED, amount_off: undefined }, 'amount_off'],
      ['an amount of 0', { ...FIXED, amount_off: '0' }, 'amount_off'],
      ['too fine an amount', { ...FIXED, amount_off: '0.001' }, 'amount_off'],
      ['a fraction of a yen', { ...FIXED, amount_off: '1.5', currency: 'jpy' }, 'amount_off'],
      ['no currency', { ...FIXED, currency: undefined }, 'currency'],
      ['no such currency', { ...FIXED, currency: 'us' }, 'currency'],
      ['a percentage of a fixed one', { ...FIXED, percentage_off: '5' }, 'percentage_off'],
      ['no percentage', { ...PERCENTAGE, percentage_off: undefined }, 'percentage_off'],
      ['0 percent', { ...PERCENTAGE, percentage_off: '0' }, 'percentage_off'],
      ['more than all', { ...PERCENTAGE, percentage_off: '100.01' }, 'percentage_off'],
      ['an amount of a percentage', { ...PERCENTAGE, amount_off: '5' }, 'amount_off'],
      ['no duration', { ...FIXED, cadence: 'repeated' }, 'duration_in_periods'],
      ['a duration of once', { ...FIXED, duration_in_periods: 1 }, 'duration_in_periods'],
      [
        'a duration of 0',
        { ...FIXED, cadence: 'repeated', duration_in_periods: 0 },
        'duration_in_periods',
      ],
      ['no redemption', { ...FIXED, max_redemptions: 0 }, 'max_redemptions'],
      ['too many redemptions', { ...FIXED, max_redemptions: 1_000_001 }, 'max_redemptions'],
      [
        'an end before the start',
        { ...FIXED, redeem_after: '2026-01-02T00:00:00Z', redeem_before: '2026-01-01T23:59:59Z' },
        'redeem_before',
      ],
      ['an empty code', { ...FIXED, coupon_code: ' ' }, 'coupon_code'],
      ['a code of 256', { ...FIXED, coupon_code: 'x'.repeat(256) }, 'coupon_code'],
      ['redemptions of its own', { ...FIXED, total_redemptions: 1 }, 'total_redemptions'],
      ['rules that are a text', { ...FIXED, rules: 'x' }, 'rules'],
    ]);
  });

  test('answers 409 for a code that is taken, but not by an archived coupon or another tenant', async ({
    api,
    database,
  }) => {
    const body = { ...FIXED, coupon_code: 'FIVE' };
    const { id } = await api.make(PATH, body);
    const again = await api.call('POST', PATH, { body });
    expect([again.status, again.body.details]).toEqual([409, { coupon_code: 'is taken' }]);
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    expect((await api.call('POST', PATH, { body, headers })).status).toBe(201);
    await api.call('DELETE', `${PATH}/${id}`);
    expect((await api.call('POST', PATH, { body })).status).toBe(201);
  });

  test('gives a code to one of ten who take it at once', async ({ api }) => {
    const body = { ...FIXED, coupon_code: 'FIVE' };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => api.call('POST', PATH, { body })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
    expect((await api.make(`${PATH}/search`, {})).items).toHaveLength(1);
  });
});

describe('GET /coupons', () => {
  test('reads by id in any status, and by code while it is published', async ({ api }) => {
    const coupon = await api.make(PATH, { ...FIXED, coupon_code: 'a/b c' });
    const byCode = () => api.call('GET', `${PATH}/code/${encodeURIComponent('a/b c')}`);
    const byId = (id: string) => api.call('GET', `${PATH}/${id}`);
    expect((await byCode()).body).toEqual(coupon);
    expect((await byId(coupon.id)).body).toEqual(coupon);
    expect((await api.call('GET', `${PATH}/code/A%2Fb%20c`)).status).toBe(404);
    expect((await byId('coupon_x')).status).toBe(404);
    await api.call('DELETE', `${PATH}/${coupon.id}`);
    expect((await byCode()).status).toBe(404);
    expect((await byId(coupon.id)).body.status).toBe('archived');
  });

  test('finds by ids, codes and members', async ({ api }) => {
    const five = await api.make(PATH, { ...FIXED, coupon_code: 'FIVE' });
    const spring = await api.make(PATH, { ...PERCENTAGE, coupon_code: 'SPRING' });
    const idsOf = async (body: unknown): Promise<string[]> =>
      (await api.make(`${PATH}/search`, body)).items.map((one: { id: string }) => one.id);
    expect(await idsOf({})).toEqual([spring.id, five.id]);
    expect(await idsOf({ coupon_ids: [five.id] })).toEqual([five.id]);
    expect(await idsOf({ coupon_codes: ['SPRING', 'x'] })).toEqual([spring.id]);
    const filters = [{ field: 'amount_off', operator: 'gte', value: { number: 5 } }];
    expect(await idsOf({ filters })).toEqual([five.id]);
  });
});

describe('PUT /coupons/{id}', () => {
  test('changes name and metadata and nothing else', async ({ api }) => {
    const coupon = await api.make(PATH, FIXED);
    const put = (body: unknown) => api.call('PUT', `${PATH}/${coupon.id}`, { body });
    const changed = await put({ name: 'Fiver', metadata: { a: 1 } });
    const { updated_at: updatedAt } = changed.body;
    const expected = { ...coupon, name: 'Fiver', metadata: { a: 1 }, updated_at: updatedAt };
    expect([changed.status, changed.body]).toEqual([200, expected]);
    expect((await put({ metadata: null })).body).toMatchObject({ name: 'Fiver', metadata: {} });
    for (const member of ['amount_off', 'coupon_code', 'max_redemptions', 'status', 'rules']) {
      const { status, body } = await put({ [member]: coupon[member] ?? 1 });
      expect([member, status, body.code]).toEqual([member, 400, 'validation_error']);
    }
    expect((await put({ name: ' ' })).status).toBe(400);
    const unknown = await api.call('PUT', `${PATH}/coupon_x`, { body: { name: 'X' } });
    expect(unknown.status).toBe(404);
  });

  test('lets one of two writers through who have read the same version', async ({ api }) => {
    const coupon = await api.make(PATH, FIXED);
    const putAs = (name: string) =>
      api.call('PUT', `${PATH}/${coupon.id}`, { body: { name }, headers: { 'if-match': '"1"' } });
    const answers = await Promise.all([putAs('First'), putAs('Second')]);
    const won = answers.find(({ status }) => status === 200);
    const lost = answers.find(({ status }) => status === 409);
    expect([won?.headers.get('etag'), lost?.body.code]).toEqual(['"2"', 'version_conflict']);
    const read = await api.call('GET', `${PATH}/${coupon.id}`);
    expect([read.headers.get('etag'), read.body.name]).toEqual(['"2"', won?.body.name]);
  });
});

describe('DELETE /coupons/{id}', () => {
  test('archives a coupon, once', async ({ api }) => {
    const { id } = await api.make(PATH, FIXED);
    const { status, body } = await api.call('DELETE', `${PATH}/${id}`);
    expect([status, body]).toEqual([200, { message: `coupon ${id} is archived` }]);
    const again = await api.call('DELETE', `${PATH}/${id}`);
    expect([again.status, again.body.code]).toEqual([400, 'invalid_operation']);
    const change = await api.call('PUT', `${PATH}/${id}`, { body: { name: 'X' } });
    expect([change.status, change.body.code]).toEqual([400, 'invalid_operation']);
    expect((await api.call('DELETE', `${PATH}/coupon_x`)).status).toBe(404);
    const trail = { entity_type: 'coupon', entity_id: id };
    const { items } = await api.make('/v1/audit/search', trail);
    expect(items.map((one: { action: string }) => one.action)).toEqual(['archived', 'created']);
  });
});
