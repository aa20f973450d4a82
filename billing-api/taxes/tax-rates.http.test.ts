import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { expectRefusals, makeKey, test } from '../testing/billing-test.js';

const PATH = '/v1/taxes/rates';
const VAT = { name: 'VAT', code: 'DE-19', percentage_value: '19' };
const LEVY = { name: 'Levy', code: 'LEVY', fixed_value: '1.005' };

describe('POST /taxes/rates', () => {
  test('answers 201 with every member of the specification and no other', async ({ api }) => {
    const body = { ...VAT, description: 'Germany', metadata: { a: true } };
    const { status, body: rate, headers } = await api.call('POST', PATH, { body });
    expect([status, headers.get('etag'), rate]).toEqual([
      201,
      '"1"',
      {
        ...body,
        id: expect.stringMatching(/^taxrate_/),
        tax_rate_type: 'percentage',
        fixed_value: null,
        scope: 'INTERNAL',
        tax_rate_status: 'ACTIVE',
        tenant_id: api.environment.tenantId,
        environment_id: api.environment.environmentId,
        status: 'published',
        created_at: expect.any(String),
        created_by: expect.any(String),
        updated_at: expect.any(String),
        updated_by: expect.any(String),
      },
    ]);
    const levy = { ...LEVY, tax_rate_type: 'fixed', scope: 'ONETIME' };
    expect(await api.make(PATH, levy)).toMatchObject({ ...levy, percentage_value: null });
    const zero = { ...VAT, code: 'ZERO', percentage_value: '0', tax_rate_type: '', scope: '' };
    expect(await api.make(PATH, zero)).toMatchObject({
      tax_rate_type: 'percentage',
      percentage_value: '0',
      scope: 'INTERNAL',
    });
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    await expectRefusals(api, PATH, [
      ['an empty name', { ...VAT, name: '' }, 'name'],
      ['a blank code', { ...VAT, code: ' ' }, 'code'],
      ['a code of 256', { ...VAT, code: 'x'.repeat(256) }, 'code'],
      ['no value', { ...VAT, percentage_value: undefined }, 'percentage_value'],
      ['both values', { ...VAT, fixed_value: '1' }, 'fixed_value'],
      ['a negative percentage', { ...VAT, percentage_value: '-0.01' }, 'percentage_value'],
      ['a negative amount', { ...LEVY, fixed_value: '-1' }, 'fixed_value'],
      ['no number', { ...LEVY, fixed_value: 'x' }, 'fixed_value'],
      ['another type than its value', { ...VAT, tax_rate_type: 'fixed' }, 'tax_rate_type'],
      ['an unknown type', { ...VAT, tax_rate_type: 'flat' }, 'tax_rate_type'],
      ['an unknown scope', { ...VAT, scope: 'LOCAL' }, 'scope'],
      ['a status of its own', { ...VAT, tax_rate_status: 'ACTIVE' }, 'tax_rate_status'],
    ]);
  });

  test('gives a code to one of ten who take it at once, and to another tenant', async ({
    api,
    database,
  }) => {
    const call = () => api.call('POST', PATH, { body: VAT });
    const answers = await Promise.all(Array.from({ length: 10 }, call));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
    const lost = answers.find(({ status }) => status === 409);
    expect(lost?.body.details).toEqual({ code: 'is taken' });
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    expect((await api.call('POST', PATH, { body: VAT, headers })).status).toBe(201);
  });
});

describe('GET /taxes/rates', () => {
  test('lists by status, sort and page, and reads by id', async ({ api }) => {
    const vat = await api.make(PATH, VAT);
    const levy = await api.make(PATH, LEVY);
    const idsOf = async (query: string): Promise<string[]> =>
      (await api.call('GET', `${PATH}${query}`)).body.items.map((rate: { id: string }) => rate.id);
    expect(await idsOf('')).toEqual([levy.id, vat.id]);
    expect(await idsOf('?sort=code&order=asc')).toEqual([vat.id, levy.id]);
    expect(await idsOf('?limit=1&offset=1')).toEqual([vat.id]);
    for (const query of [
      '?limit=0',
      '?offset=-1',
      '?sort=version',
      '?status=x',
      '?order=up',
      '?unknown=x',
    ]) {
      expect((await api.call('GET', `${PATH}${query}`)).status, query).toBe(400);
    }
    await api.call('DELETE', `${PATH}/${levy.id}`);
    expect(await idsOf('?status=archived')).toEqual([levy.id]);
    expect((await api.call('GET', `${PATH}/${levy.id}`)).body.status).toBe('archived');
    expect((await api.call('GET', `${PATH}/taxrate_x`)).status).toBe(404);
  });
});

describe('PUT /taxes/rates/{id}', () => {
  test('changes what is given, the kind of value too', async ({ api }) => {
    const rate = await api.make(PATH, { ...VAT, description: 'Germany' });
    const put = (body: unknown) => api.call('PUT', `${PATH}/${rate.id}`, { body });
    const changed = await put({ name: 'MwSt', description: null, tax_rate_status: 'INACTIVE' });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"']);
    expect(changed.body).toEqual({
      ...rate,
      name: 'MwSt',
      description: null,
      tax_rate_status: 'INACTIVE',
      updated_at: changed.body.updated_at,
    });
    const fixed = { tax_rate_type: 'fixed', percentage_value: null, fixed_value: '2' };
    expect((await put({ fixed_value: '2.00' })).body).toMatchObject(fixed);
    const percentage = { tax_rate_type: 'percentage', percentage_value: '7', fixed_value: null };
    expect((await put({ percentage_value: '7', metadata: { a: 1 } })).body).toMatchObject({
      ...percentage,
      metadata: { a: 1 },
    });
    for (const body of [
      { percentage_value: '1', fixed_value: '1' },
      { percentage_value: '-1' },
      { code: 'X' },
      { scope: 'EXTERNAL' },
      { name: ' ' },
      { tax_rate_status: 'OFF' },
    ]) {
      const { status, body: error } = await put(body);
      expect([JSON.stringify(body), status, error.code]).toEqual([
        JSON.stringify(body),
        400,
        'validation_error',
      ]);
    }
    expect((await api.call('PUT', `${PATH}/taxrate_x`, { body: {} })).status).toBe(404);
    const headers = { 'if-match': '"1"' };
    const late = await api.call('PUT', `${PATH}/${rate.id}`, { body: { name: 'X' }, headers });
    expect([late.status, late.body.code]).toEqual([409, 'version_conflict']);
  });

  test('refuses another value while the rate has an association, and nothing else', async ({
    api,
  }) => {
    const rate = await api.make(PATH, VAT);
    const tenant = { tax_rate_code: 'DE-19', entity_type: 'tenant' };
    const { id } = await api.make('/v1/taxes/associations', tenant);
    const put = (body: unknown) => api.call('PUT', `${PATH}/${rate.id}`, { body });
    for (const body of [{ percentage_value: '20' }, { fixed_value: '19' }]) {
      const { status, body: error } = await put(body);
      expect([status, error.code]).toEqual([400, 'invalid_operation']);
      expect(error.message).toMatch(
        /has associations; archive them first, or make a rate with the new value/,
      );
    }
    expect((await put({ percentage_value: '19.00', name: 'MwSt' })).status).toBe(200);
    expect((await put({ tax_rate_status: 'INACTIVE' })).status).toBe(200);
    await api.call('DELETE', `/v1/taxes/associations/${id}`);
    expect((await put({ percentage_value: '20' })).body.percentage_value).toBe('20');
  });
});

describe('DELETE /taxes/rates/{id}', () => {
  test('archives a rate without associations, once', async ({ api }) => {
    const { id } = await api.make(PATH, VAT);
    const association = await api.make('/v1/taxes/associations', {
      tax_rate_code: 'DE-19',
      entity_type: 'tenant',
    });
    const remove = () => api.call('DELETE', `${PATH}/${id}`);
    const refused = await remove();
    expect([refused.status, refused.body.code, refused.body.message]).toEqual([
      400,
      'invalid_operation',
      'the tax rate has associations; archive them first',
    ]);
    await api.call('DELETE', `/v1/taxes/associations/${association.id}`);
    const removed = await remove();
    expect([removed.status, removed.body]).toEqual([204, null]);
    expect((await remove()).body.code).toBe('invalid_operation');
    expect((await api.call('PUT', `${PATH}/${id}`, { body: { name: 'X' } })).status).toBe(400);
    expect((await api.call('DELETE', `${PATH}/taxrate_x`)).status).toBe(404);
    expect((await api.call('POST', PATH, { body: VAT })).status).toBe(201);
  });

  /** Both at once, each of them first by turns; what the rate is afterwards. */
  async function race(
    api: BillingUnderTest,
    round: number,
    change: (path: string) => ReturnType<BillingUnderTest['call']>,
  ) {
    const code = `ROUND-${round}`;
    const { id } = await api.make(PATH, { ...VAT, code });
    const path = `${PATH}/${id}`;
    const body = { tax_rate_code: code, entity_type: 'tenant' };
    const changing = round % 2 === 0 ? null : change(path);
    const associating = api.call('POST', '/v1/taxes/associations', { body });
    const [associated, changed] = await Promise.all([associating, changing ?? change(path)]);
    if (changed.status >= 300) expect(changed.body.code).toBe('invalid_operation');
    return { associated, changed, rate: (await api.call('GET', path)).body };
  }

  test('of archiving a rate and associating it one comes first', async ({ api }) => {
    for (let round = 0; round < 8; round += 1) {
      const { associated, changed, rate } = await race(api, round, (path) =>
        api.call('DELETE', path),
      );
      const isArchived = changed.status === 204;
      expect(rate.status).toBe(isArchived ? 'archived' : 'published');
      // An archived rate is unknown by its code.
      expect(associated.status).toBe(isArchived ? 404 : 200);
    }
  });

  test('of changing the value of a rate and associating it one comes first', async ({ api }) => {
    for (let round = 0; round < 8; round += 1) {
      const { associated, changed, rate } = await race(api, round, (path) =>
        api.call('PUT', path, { body: { percentage_value: '20' } }),
      );
      expect(rate.percentage_value).toBe(changed.status === 200 ? '20' : '19');
      const { status, body } = associated;
      expect([status, body.tax_rate]).toEqual([200, rate]);
    }
  });
});
