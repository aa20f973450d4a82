import { describe, expect } from 'vitest';
import { expectRefusals, makeKey, makeSubscription, test } from '../testing/billing-test.js';

const PATH = '/v1/taxes/associations';
const RATES = '/v1/taxes/rates';
const VAT = { name: 'VAT', code: 'DE-19', percentage_value: '19' };
const TENANT = { tax_rate_code: 'DE-19', entity_type: 'tenant' };

describe('POST /taxes/associations', () => {
  test('answers 201 with the rate and every member', async ({ api }) => {
    const rate = await api.make(RATES, VAT);
    const members = {
      entity_type: 'tenant',
      entity_id: api.environment.tenantId,
      priority: 0,
      currency: 'EUR',
      auto_apply: false,
      start_date: '2026-01-01T00:00:00.000Z',
      end_date: '2026-01-01T00:00:00.000Z',
      metadata: { a: 1 },
    };
    const body = { ...members, tax_rate_code: 'DE-19' };
    const { status, body: association, headers } = await api.call('POST', PATH, { body });
    expect([status, headers.get('etag'), association]).toEqual([
      200,
      '"1"',
      {
        ...members,
        id: expect.stringMatching(/^ta_/),
        tax_rate_id: rate.id,
        tax_rate: rate,
        currency: 'eur',
        tenant_id: api.environment.tenantId,
        environment_id: api.environment.environmentId,
        status: 'published',
        created_at: expect.any(String),
        created_by: expect.any(String),
        updated_at: expect.any(String),
        updated_by: expect.any(String),
      },
    ]);
    const plain = { priority: 100, auto_apply: true, currency: null, start_date: null };
    expect(await api.make(PATH, TENANT)).toMatchObject({
      ...plain,
      entity_id: api.environment.tenantId,
      end_date: null,
    });
  });

  test('belongs to a customer by either of its ids, or to a subscription', async ({ api }) => {
    await api.make(RATES, VAT);
    const { id, customerId } = await makeSubscription(api);
    const ofCustomer = { entity_type: 'customer', entity_id: customerId };
    const code = { tax_rate_code: 'DE-19' };
    const made = [
      await api.make(PATH, { ...code, ...ofCustomer }),
      await api.make(PATH, { ...code, external_customer_id: 'acme' }),
      await api.make(PATH, { ...code, external_customer_id: 'acme', entity_type: 'customer' }),
    ];
    for (const association of made) expect(association).toMatchObject(ofCustomer);
    const ofSubscription = { entity_type: 'subscription', entity_id: id };
    expect(await api.make(PATH, { ...code, ...ofSubscription })).toMatchObject(ofSubscription);
  });

  test('answers 404 for what it names and does not exist', async ({ api, database }) => {
    await api.make(RATES, VAT);
    const { customerId } = await makeSubscription(api);
    const { apiKey } = await makeKey(database.database, {});
    const statusOf = async (body: unknown, headers = {}): Promise<unknown[]> => {
      const answer = await api.call('POST', PATH, { body, headers });
      return [answer.status, answer.body.message];
    };
    const unknown: readonly (readonly [object, string])[] = [
      [{ ...TENANT, tax_rate_code: 'X' }, 'tax rate X does not exist'],
      [{ ...TENANT, entity_id: 'tenant_x' }, 'tenant tenant_x does not exist'],
      [
        { ...TENANT, entity_type: 'customer', entity_id: 'cust_x' },
        'customer cust_x does not exist',
      ],
      [
        { ...TENANT, entity_type: 'subscription', entity_id: 'subs_x' },
        'subscription subs_x does not exist',
      ],
      [{ tax_rate_code: 'DE-19', external_customer_id: 'x' }, 'customer x does not exist'],
    ];
    for (const [body, message] of unknown) expect(await statusOf(body)).toEqual([404, message]);
    const foreign = { tax_rate_code: 'DE-19', entity_type: 'customer', entity_id: customerId };
    expect((await statusOf(foreign, { 'x-api-key': apiKey }))[0]).toBe(404);
    await api.make('/v1/customers', { external_id: 'left' });
    const left = (await api.call('GET', '/v1/customers/external/left')).body.id as string;
    await api.call('DELETE', `/v1/customers/${left}`);
    expect((await statusOf({ ...foreign, entity_id: left }))[0]).toBe(404);
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    await api.make(RATES, VAT);
    const code = { tax_rate_code: 'DE-19' };
    await expectRefusals(api, PATH, [
      ['no rate', { entity_type: 'tenant' }, 'tax_rate_code'],
      ['nothing to tax', code, 'entity_type'],
      ['another kind', { ...code, entity_type: 'plan' }, 'entity_type'],
      ['an invoice without id', { ...code, entity_type: 'invoice' }, 'entity_id'],
      ['a customer without id', { ...code, entity_type: 'customer' }, 'entity_id'],
      ['a subscription without id', { ...code, entity_type: 'subscription' }, 'entity_id'],
      [
        'a subscription by a customer',
        { ...code, entity_type: 'subscription', external_customer_id: 'acme' },
        'entity_type',
      ],
      [
        'both ids of a customer',
        { ...code, external_customer_id: 'acme', entity_id: 'cust_1' },
        'entity_id',
      ],
      ['a priority below 0', { ...TENANT, priority: -1 }, 'priority'],
      ['too high a priority', { ...TENANT, priority: 1_000_001 }, 'priority'],
      ['no currency', { ...TENANT, currency: 'euro' }, 'currency'],
      [
        'an end before the start',
        { ...TENANT, start_date: '2026-01-02T00:00:00Z', end_date: '2026-01-01T23:59:59Z' },
        'end_date',
      ],
    ]);
    const dates = { start_date: '2026-01-02T00:00:00Z', end_date: '2026-01-01T23:59:59Z' };
    const early = await api.call('POST', PATH, { body: { ...TENANT, ...dates } });
    expect(early.body.details).toEqual({ end_date: 'must not be before start_date' });
  });
});

describe('GET /taxes/associations', () => {
  test('lists those of one entity or rate', async ({ api }) => {
    const rate = await api.make(RATES, VAT);
    await api.make(RATES, { ...VAT, code: 'DE-7' });
    const { id: customerId } = await api.make('/v1/customers', { external_id: 'acme' });
    const ofTenant = await api.make(PATH, TENANT);
    const customer = { entity_type: 'customer', entity_id: customerId };
    const ofCustomer = await api.make(PATH, { ...customer, tax_rate_code: 'DE-7' });
    const idsOf = async (query: string): Promise<string[]> => {
      const { body } = await api.call('GET', `${PATH}?${query}`);
      return body.items.map(({ id }: { id: string }) => id);
    };
    expect(await idsOf('entity_type=tenant')).toEqual([ofTenant.id]);
    expect(await idsOf(`entity_id=${customerId}`)).toEqual([ofCustomer.id]);
    expect(await idsOf(`tax_rate_id=${rate.id}`)).toEqual([ofTenant.id]);
    expect((await api.call('GET', `${PATH}?colour=1`)).status).toBe(400);
  });
});

describe('GET, PUT and DELETE /taxes/associations', () => {
  test('list, read, change and archive', async ({ api }) => {
    await api.make(RATES, VAT);
    const start = { start_date: '2026-01-01T00:00:00Z' };
    const made = await api.make(PATH, { ...TENANT, ...start });
    const other = await api.make(PATH, { ...TENANT, priority: 7 });
    const idsOf = async (query: string): Promise<string[]> =>
      (await api.call('GET', `${PATH}${query}`)).body.items.map((one: { id: string }) => one.id);
    expect(await idsOf('')).toEqual([other.id, made.id]);
    expect(await idsOf('?sort=priority&order=desc&limit=1')).toEqual([made.id]);
    expect((await api.call('GET', `${PATH}?limit=0`)).status).toBe(400);
    expect((await api.call('GET', `${PATH}/${made.id}`)).body).toEqual(made);
    const put = (body: unknown, headers = {}) =>
      api.call('PUT', `${PATH}/${made.id}`, { body, headers });
    const members = { priority: 5, auto_apply: false, metadata: { a: 1 } };
    const changed = await put({ ...members, end_date: '2026-01-01T00:00:00Z' });
    expect([changed.status, changed.headers.get('etag'), changed.body]).toEqual([
      200,
      '"2"',
      {
        ...made,
        ...members,
        end_date: '2026-01-01T00:00:00.000Z',
        updated_at: changed.body.updated_at,
      },
    ]);
    expect((await put({ end_date: null })).body).toMatchObject({ ...members, end_date: null });
    const late = await put({ priority: 1 }, { 'if-match': '"2"' });
    expect([late.status, late.body.code]).toEqual([409, 'version_conflict']);
    for (const body of [
      { end_date: '2025-12-31T23:59:59.999Z' },
      { priority: -1 },
      { currency: 'usd' },
      { tax_rate_code: 'X' },
      { metadata: { '': 1 } },
    ]) {
      expect([JSON.stringify(body), (await put(body)).status]).toEqual([JSON.stringify(body), 400]);
    }
    const remove = () => api.call('DELETE', `${PATH}/${made.id}`);
    expect((await remove()).status).toBe(200);
    expect((await remove()).body.code).toBe('invalid_operation');
    expect((await put({ priority: 1 })).body.code).toBe('invalid_operation');
    expect(await idsOf('')).toEqual([other.id]);
    expect((await api.call('GET', `${PATH}/${made.id}`)).body.status).toBe('archived');
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const options = method === 'PUT' ? { body: {} } : {};
      expect((await api.call(method, `${PATH}/ta_x`, options)).status).toBe(404);
    }
  });
});

describe('tax_rate_overrides', () => {
  const ofCustomer = async (
    api: Parameters<typeof makeSubscription>[0],
    id: string,
  ): Promise<unknown[]> => {
    const { items } = (await api.call('GET', `${PATH}?limit=100&sort=priority&order=asc`)).body;
    return items
      .filter((one: { entity_id: string }) => one.entity_id === id)
      .map((one: Record<string, { code: string }>) => [
        one['tax_rate']?.code,
        one['priority'],
        one['currency'],
      ]);
  };

  test('of POST and PUT /customers are the tax associations of the customer', async ({ api }) => {
    await api.make(RATES, VAT);
    await api.make(RATES, { ...VAT, code: 'FR-20' });
    const both = [
      { tax_rate_code: 'DE-19', priority: 1, currency: 'EUR' },
      { tax_rate_code: 'FR-20' },
    ];
    const body = { external_id: 'taxed', tax_rate_overrides: both };
    const { id } = await api.make('/v1/customers', body);
    expect(await ofCustomer(api, id)).toEqual([
      ['DE-19', 1, 'eur'],
      ['FR-20', 100, null],
    ]);
    const idsOf = async (): Promise<string[]> =>
      (await api.call('GET', PATH)).body.items.map((one: { id: string }) => one.id);
    const before = await idsOf();
    const put = (tax_rate_overrides: unknown) =>
      api.call('PUT', `/v1/customers/${id}`, { body: { tax_rate_overrides } });
    expect((await put(both)).headers.get('etag')).toBe('"2"');
    // What is asked for again stays the same association.
    expect(await idsOf()).toEqual(before);
    await put([{ tax_rate_code: 'FR-20' }, { tax_rate_code: 'DE-19', priority: 2 }]);
    expect(await ofCustomer(api, id)).toEqual([
      ['DE-19', 2, null],
      ['FR-20', 100, null],
    ]);
    const named = { name: 'Taxed' };
    await api.call('PUT', '/v1/customers?external_customer_id=taxed', { body: named });
    expect(await ofCustomer(api, id)).toHaveLength(2);
    expect((await put(null)).status).toBe(200);
    expect(await ofCustomer(api, id)).toEqual([]);
    const archived = (await api.call('GET', `${PATH}?status=archived`)).body.pagination;
    expect(archived.total).toBe(3);
  });

  test('of PUT /customers apply where the same rate stood without auto_apply', async ({ api }) => {
    await api.make(RATES, VAT);
    const { id } = await api.make('/v1/customers', { external_id: 'taxed' });
    const taxed = { tax_rate_code: 'DE-19', external_customer_id: 'taxed' };
    const former = await api.make(PATH, { ...taxed, auto_apply: false });
    const body = { tax_rate_overrides: [{ tax_rate_code: 'DE-19' }] };
    expect((await api.call('PUT', `/v1/customers/${id}`, { body })).status).toBe(200);
    const { items } = (await api.call('GET', PATH)).body;
    expect(items).toMatchObject([{ entity_id: id, auto_apply: true, priority: 100 }]);
    const { status } = (await api.call('GET', `${PATH}/${former.id}`)).body;
    expect(status).toBe('archived');
  });

  test('that are wrong are refused by name, and no customer or subscription is made', async ({
    api,
  }) => {
    await api.make(RATES, VAT);
    const { customerId, planId } = await makeSubscription(api);
    const twice = [{ tax_rate_code: 'DE-19' }, { tax_rate_code: 'DE-19' }];
    const terms = { customer_id: customerId, plan_id: planId, currency: 'usd' };
    const creations = [
      ['/v1/customers', { external_id: 'taxed' }],
      ['/v1/subscriptions', { ...terms, billing_period: 'MONTHLY' }],
    ] as const;
    for (const [path, body] of creations) {
      const of = (overrides: unknown) => ({ ...body, tax_rate_overrides: overrides });
      await expectRefusals(api, path, [
        ['a rate twice', of(twice), 'tax_rate_overrides.1.tax_rate_code'],
        [
          'no currency',
          of([{ tax_rate_code: 'DE-19', currency: 'us' }]),
          'tax_rate_overrides.0.currency',
        ],
      ]);
      const unknown = await api.call('POST', path, { body: of([{ tax_rate_code: 'X' }]) });
      expect([unknown.status, unknown.body.message]).toEqual([404, 'tax rate X does not exist']);
    }
    expect((await api.call('GET', '/v1/customers/external/taxed')).status).toBe(404);
    expect((await api.make('/v1/subscriptions/search', {})).pagination.total).toBe(1);
    const put = await api.call('PUT', `/v1/customers/${customerId}`, {
      body: { name: 'X', tax_rate_overrides: [{ tax_rate_code: 'X' }] },
    });
    expect(put.status).toBe(404);
    expect((await api.call('GET', `/v1/customers/${customerId}`)).body.name).toBe('acme');
  });

  test('of POST /subscriptions are the tax associations of the subscription', async ({ api }) => {
    const rate = await api.make(RATES, VAT);
    const per = ['usd', 'eur'].map((currency) => ({ tax_rate_code: 'DE-19', currency }));
    const { id } = await makeSubscription(api, { tax_rate_overrides: per });
    const { items } = (await api.call('GET', `${PATH}?order=asc`)).body;
    const common = { tax_rate: rate, entity_type: 'subscription', entity_id: id, auto_apply: true };
    expect(items).toMatchObject([
      { ...common, currency: 'usd', priority: 100 },
      { ...common, currency: 'eur', priority: 100 },
    ]);
  });
});
