import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { noRows } from '../../../sql/columns.js';
import { expectRefusals, makeKey, makeSubscription, test } from '../../testing/billing-test.js';

const PATH = '/v1/prices/units';
const TOKENS = {
  name: 'Tokens',
  code: 'tokens',
  symbol: 'T',
  base_currency: 'USD',
  conversion_rate: '0.010',
  metadata: { team: 'core' },
};

describe('POST /prices/units', () => {
  test('answers 201 with every member', async ({ api }) => {
    const { status, body, headers } = await api.call('POST', PATH, { body: TOKENS });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...TOKENS,
      base_currency: 'usd',
      conversion_rate: '0.01',
      status: 'published',
    });
    expect(body.id).toMatch(/^price_unit_/);
    expect(headers.get('etag')).toBe('"1"');
  });

  test('answers 409 for a code that is taken, but not by another tenant or an archived unit', async ({
    api,
    database,
  }) => {
    const unit = await api.make(PATH, TOKENS);
    const again = await api.call('POST', PATH, { body: TOKENS });
    expect([again.status, again.body.code]).toEqual([409, 'already_exists']);
    expect(again.body.details).toEqual({ code: 'is taken' });
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    expect((await api.call('POST', PATH, { body: TOKENS, headers })).status).toBe(201);
    await api.call('DELETE', `${PATH}/${unit.id}`);
    expect((await api.call('POST', PATH, { body: TOKENS })).status).toBe(201);
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    await expectRefusals(api, PATH, [
      ['an empty name', { ...TOKENS, name: ' ' }, 'name'],
      ['no code', { ...TOKENS, code: undefined }, 'code'],
      ['a code with a blank', { ...TOKENS, code: 'a b' }, 'code'],
      ['a code of 21', { ...TOKENS, code: 'x'.repeat(21) }, 'code'],
      ['an empty symbol', { ...TOKENS, symbol: ' ' }, 'symbol'],
      ['no currency', { ...TOKENS, base_currency: '12a' }, 'base_currency'],
      ['a rate of 0', { ...TOKENS, conversion_rate: '0' }, 'conversion_rate'],
      ['a negative rate', { ...TOKENS, conversion_rate: '-1' }, 'conversion_rate'],
      ['a number as rate', { ...TOKENS, conversion_rate: 0.01 }, 'conversion_rate'],
      ['an unknown member', { ...TOKENS, rate: '1' }, 'rate'],
    ]);
  });
});

describe('POST /prices/units/search', () => {
  test('finds by ids, filters and status', async ({ api }) => {
    const tokens = await api.make(PATH, TOKENS);
    const coins = await api.make(PATH, { ...TOKENS, code: 'coins', conversion_rate: '2' });
    const gone = await api.make(PATH, { ...TOKENS, code: 'gone' });
    await api.call('DELETE', `${PATH}/${gone.id}`);
    const idsOf = async (body: unknown): Promise<string[]> =>
      (await api.make(`${PATH}/search`, body)).items.map((unit: { id: string }) => unit.id);
    expect(await idsOf({})).toEqual([coins.id, tokens.id]);
    expect(await idsOf({ price_unit_ids: [tokens.id, gone.id] })).toEqual([tokens.id]);
    expect(await idsOf({ status: 'archived' })).toEqual([gone.id]);
    const dear = { field: 'conversion_rate', operator: 'gt', value: { number: 1 } };
    expect(await idsOf({ filters: [dear] })).toEqual([coins.id]);
    const sorted = { sort: [{ field: 'code', direction: 'desc' }], limit: 1 };
    expect(await api.make(`${PATH}/search`, sorted)).toMatchObject({
      items: [tokens],
      pagination: { limit: 1, offset: 0, total: 2 },
    });
    for (const body of [{ filters: [{ ...dear, field: 'version' }] }]) {
      const { status } = await api.call('POST', `${PATH}/search`, { body });
      expect(status).toBe(400);
    }
  });
});

describe('GET /prices/units', () => {
  test('lists by status, sort and page, and reads by code', async ({ api }) => {
    const tokens = await api.make(PATH, TOKENS);
    const coins = await api.make(PATH, { ...TOKENS, code: 'coins' });
    const idsOf = async (query: string): Promise<string[]> =>
      (await api.call('GET', `${PATH}${query}`)).body.items.map((unit: { id: string }) => unit.id);
    expect(await idsOf('')).toEqual([coins.id, tokens.id]);
    expect(await idsOf('?sort=code&order=asc')).toEqual([coins.id, tokens.id]);
    expect(await idsOf('?limit=1&offset=1')).toEqual([tokens.id]);
    for (const query of ['?limit=0', '?limit=1001', '?offset=-1', '?sort=version', '?status=x']) {
      expect((await api.call('GET', `${PATH}${query}`)).status, query).toBe(400);
    }
    const byCode = (code: string) => api.call('GET', `${PATH}/code/${code}`);
    expect((await byCode('coins')).body).toEqual(coins);
    expect((await byCode('COINS')).status).toBe(404);
    await api.call('DELETE', `${PATH}/${coins.id}`);
    expect((await byCode('coins')).status).toBe(404);
    expect(await idsOf('?status=archived')).toEqual([coins.id]);
  });
});

describe('GET and PUT /prices/units/{id}', () => {
  test('change name, symbol and metadata and nothing else', async ({ api }) => {
    const unit = await api.make(PATH, TOKENS);
    const put = (body: unknown) => api.call('PUT', `${PATH}/${unit.id}`, { body });
    const changed = await put({ name: 'Credits', symbol: 'C' });
    expect(changed.status).toBe(200);
    const { updated_at: updatedAt } = changed.body;
    expect(changed.body).toEqual({ ...unit, name: 'Credits', symbol: 'C', updated_at: updatedAt });
    expect((await put({ metadata: null })).body).toMatchObject({ name: 'Credits', metadata: {} });
    for (const member of ['code', 'base_currency', 'conversion_rate', 'status'] as const) {
      const { status, body } = await put({ [member]: unit[member] });
      expect([member, status, body.code]).toEqual([member, 400, 'validation_error']);
    }
    expect((await put({ name: ' ' })).status).toBe(400);
    const read = await api.call('GET', `${PATH}/${unit.id}`);
    expect(read.body).toMatchObject({ name: 'Credits', code: 'tokens', conversion_rate: '0.01' });
  });

  test('answer 409 when If-Match names another version, and 404 for an unknown unit', async ({
    api,
  }) => {
    const unit = await api.make(PATH, TOKENS);
    const putAt = (ifMatch: string, name: string) =>
      api.call('PUT', `${PATH}/${unit.id}`, { body: { name }, headers: { 'if-match': ifMatch } });
    expect((await putAt('"1"', 'First')).headers.get('etag')).toBe('"2"');
    const late = await putAt('"1"', 'Late');
    expect([late.status, late.body.code]).toEqual([409, 'version_conflict']);
    expect((await api.call('GET', `${PATH}/${unit.id}`)).headers.get('etag')).toBe('"2"');
    const body = { name: 'X' };
    expect((await api.call('PUT', `${PATH}/price_unit_x`, { body })).status).toBe(404);
    expect((await api.call('GET', `${PATH}/price_unit_x`)).status).toBe(404);
  });
});

describe('DELETE /prices/units/{id}', () => {
  test('archives a unit that no price refers to', async ({ api }) => {
    const unit = await api.make(PATH, TOKENS);
    const { status, body } = await api.call('DELETE', `${PATH}/${unit.id}`);
    expect([status, body]).toEqual([200, { message: `price unit ${unit.id} is archived` }]);
    expect((await api.call('GET', `${PATH}/${unit.id}`)).body.status).toBe('archived');
    const again = await api.call('DELETE', `${PATH}/${unit.id}`);
    expect([again.status, again.body.code]).toEqual([400, 'invalid_operation']);
    const change = await api.call('PUT', `${PATH}/${unit.id}`, { body: { name: 'X' } });
    expect([change.status, change.body.code]).toEqual([400, 'invalid_operation']);
    expect((await api.call('DELETE', `${PATH}/price_unit_x`)).status).toBe(404);
  });

  test('refuses while a price refers to the unit, also one that has ended', async ({
    api,
    database,
  }) => {
    const unit = await api.make(PATH, TOKENS);
    const { priceId } = await makeSubscription(api);
    const refer = (unitId: string | null) =>
      ownerOf(database.database).query(sql.type(noRows)`
        UPDATE prices SET price_unit_id = ${unitId}, end_date = start_date WHERE id = ${priceId}`);
    await refer(unit.id as string);
    const { status, body } = await api.call('DELETE', `${PATH}/${unit.id}`);
    expect([status, body.code]).toEqual([400, 'invalid_operation']);
    expect(body.message).toBe('the price unit has prices, which keep their unit for ever');
    expect((await api.call('GET', `${PATH}/${unit.id}`)).body.status).toBe('published');
    await expect(refer('price_unit_x')).rejects.toMatchObject({ constraint: 'prices_price_unit' });
    await refer(null);
    expect((await api.call('DELETE', `${PATH}/${unit.id}`)).status).toBe(200);
  });
});
