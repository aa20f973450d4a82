import { describe, expect } from 'vitest';
import { expectRefusals, makeKey, test } from '../testing/billing-test.js';

const ACME = {
  external_id: 'acme',
  name: 'Acme Ltd',
  email: 'billing@acme.example',
  contact: '+49 30 1',
  address_line1: 'Main St 1',
  address_city: 'Berlin',
  address_country: 'de',
  timezone: 'Europe/Berlin',
  metadata: { tier: 'gold', seats: 5 },
};

describe('POST /customers', () => {
  test('answers 201 with every member', async ({ api }) => {
    const { status, body } = await api.call('POST', '/v1/customers', { body: ACME });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...ACME,
      address_country: 'DE',
      address_line2: null,
      integrations: [],
      status: 'published',
    });
    const named = await api.make('/v1/customers', { external_id: 'other', name: null });
    expect(named.name).toBe('other');
  });

  test('answers 409 for an external id that is taken, but not by another tenant', async ({
    api,
    database,
  }) => {
    await api.make('/v1/customers', ACME);
    const again = await api.call('POST', '/v1/customers', { body: ACME });
    expect([again.status, again.body.code]).toEqual([409, 'already_exists']);
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    const other = await api.call('POST', '/v1/customers', { body: ACME, headers });
    expect(other.status).toBe(201);
  });

  test('takes one of two simultaneous customers with the same external id', async ({ api }) => {
    const answers = await Promise.all(
      [1, 2, 3].map(() => api.call('POST', '/v1/customers', { body: ACME })),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409]);
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    await expectRefusals(api, '/v1/customers', [
      ['no external id', { name: 'x' }, 'external_id'],
      ['an empty external id', { external_id: '' }, 'external_id'],
      ['blanks as external id', { external_id: '  ' }, 'external_id'],
      ['256 characters', { external_id: 'x'.repeat(256) }, 'external_id'],
      ['a bad e-mail', { ...ACME, email: 'acme' }, 'email'],
      ['an unknown country', { ...ACME, address_country: 'XX' }, 'address_country'],
      ['an unknown zone', { ...ACME, timezone: 'Berlin' }, 'timezone'],
      ['a long contact', { ...ACME, contact: '1'.repeat(21) }, 'contact'],
      ['a long city', { ...ACME, address_city: 'x'.repeat(101) }, 'address_city'],
      [
        'a tax rate of no currency',
        { ...ACME, tax_rate_overrides: [{ tax_rate_code: 'vat', currency: 'euro' }] },
        'tax_rate_overrides.0.currency',
      ],
      ['an unknown member', { ...ACME, phone: '1' }, 'phone'],
    ]);
  });
});

describe('GET /customers', () => {
  test('answers by id and by external id, and 404 for what is unknown or of others', async ({
    api,
    database,
  }) => {
    const customer = await api.make('/v1/customers', { ...ACME, external_id: 'a/b c' });
    expect((await api.call('GET', `/v1/customers/${customer.id}`)).body).toEqual(customer);
    const external = `/v1/customers/external/${encodeURIComponent('a/b c')}`;
    expect((await api.call('GET', external)).body).toEqual(customer);
    expect((await api.call('GET', '/v1/customers/cust_x')).status).toBe(404);
    expect((await api.call('GET', '/v1/customers/external/x')).status).toBe(404);
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    expect((await api.call('GET', external, { headers })).status).toBe(404);
    expect((await api.call('GET', `/v1/customers/${customer.id}`, { headers })).status).toBe(404);
  });
});

test('a customer whose external id is a word of the interface is found by it', async ({ api }) => {
  for (const word of ['entitlements', 'usage', 'search', 'external']) {
    const { id } = await api.make('/v1/customers', { external_id: word });
    const found = await api.call('GET', `/v1/customers/external/${word}`);
    expect([word, found.body.id]).toEqual([word, id]);
  }
});

describe('POST /customers/search', () => {
  test('finds by every member of its own', async ({ api }) => {
    const acme = await api.make('/v1/customers', ACME);
    const other = await api.make('/v1/customers', { external_id: 'other' });
    const idsOf = async (body: unknown): Promise<string[]> =>
      (await api.make('/v1/customers/search', body)).items.map((row: { id: string }) => row.id);
    expect(await idsOf({})).toEqual([other.id, acme.id]);
    expect(await idsOf({ customer_ids: [acme.id, 'cust_x'] })).toEqual([acme.id]);
    expect(await idsOf({ external_ids: ['other'] })).toEqual([other.id]);
    expect(await idsOf({ external_id: 'acme' })).toEqual([acme.id]);
    expect(await idsOf({ email: ACME.email })).toEqual([acme.id]);
    expect(await idsOf({ metadata: { tier: 'gold', seats: 5 } })).toEqual([acme.id]);
    expect(await idsOf({ metadata: { tier: 'gold', seats: 6 } })).toEqual([]);
  });
});
