import { describe, expect } from 'vitest';
import { expectRefusals, makeKey, test } from '../../testing/billing-test.js';
import { bearer, userWith } from '../../testing/sign-in.js';
import { setTenantLimits } from '../../testing/set-tenant-limits.js';

const PATH = '/v1/environments';
const STAGING = { name: 'Staging', type: 'development' };

describe('POST /environments', () => {
  test('makes a data space of its own', async ({ api }) => {
    const { status, body } = await api.call('POST', PATH, { body: STAGING });
    expect([status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^env_/),
        tenant_id: api.environment.tenantId,
        ...STAGING,
        status: 'published',
        created_at: expect.any(String),
        created_by: api.userId,
        updated_at: expect.any(String),
        updated_by: api.userId,
      },
    ]);
    const { token } = await userWith(api, ['all_writer']);
    const headers = bearer(token, body.id);
    const plan = await api.call('POST', '/v1/plans', { body: { name: 'Pro' }, headers });
    expect(plan.body.environment_id).toBe(body.id);
    expect((await api.call('GET', `/v1/plans/${plan.body.id}`)).status).toBe(404);
    const own = await api.call('GET', `/v1/plans/${plan.body.id}`, { headers });
    expect(own.status).toBe(200);
  });

  test('beyond the limits of the tenant is 400, also for several at once', async ({
    api,
    database,
  }) => {
    const production = await api.call('POST', PATH, { body: { ...STAGING, type: 'production' } });
    expect([production.status, production.body.message]).toEqual([
      400,
      'the tenant may have 1 of type production: ask the operator of the installation for a higher limit',
    ]);
    const create = () => api.call('POST', PATH, { body: STAGING });
    const answers = await Promise.all([create(), create(), create(), create()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400]);
    await setTenantLimits(database.database, api.environment, { development_environments: 3 });
    expect([(await create()).status, (await create()).status]).toEqual([201, 400]);
  });

  test('refuses what is wrong by name', async ({ api }) => {
    await expectRefusals(api, PATH, [
      ['no name', { ...STAGING, name: ' ' }, 'name'],
      ['a name of 256', { ...STAGING, name: 'x'.repeat(256) }, 'name'],
      ['no type', { ...STAGING, type: undefined }, 'type'],
      ['another type', { ...STAGING, type: 'test' }, 'type'],
    ]);
  });
});

describe('environments', () => {
  test('are listed, read and renamed by their tenant only', async ({ api, database }) => {
    const staging = await api.make(PATH, STAGING);
    const listed = (await api.call('GET', PATH)).body;
    expect([listed.items[0], listed.pagination.total]).toEqual([staging, 2]);
    const path = `${PATH}/${staging.id}`;
    expect((await api.call('GET', path)).body).toEqual(staging);
    const renamed = await api.call('PUT', path, { body: { name: 'Test' } });
    expect([renamed.status, renamed.body.name]).toEqual([200, 'Test']);
    const typed = await api.call('PUT', path, { body: { name: 'Test', type: 'production' } });
    expect([typed.status, typed.body.details]).toEqual([
      400,
      { type: 'is not a member of this request: leave it out' },
    ]);
    expect((await api.call('PUT', path, { body: { name: ' ' } })).status).toBe(400);
    const headers = { 'x-api-key': (await makeKey(database.database, {})).apiKey };
    expect((await api.call('GET', path, { headers })).status).toBe(404);
    const foreign = await api.call('PUT', path, { headers, body: { name: 'Mine' } });
    expect(foreign.status).toBe(404);
    const others = (await api.call('GET', PATH, { headers })).body.items;
    expect(others.map(({ id }: { id: string }) => id)).not.toContain(staging.id);
    expect((await api.call('GET', path)).body.name).toBe('Test');
  });
});

describe('a tenant', () => {
  test('is read and changed by its own users; any other id is 403', async ({ api, database }) => {
    const path = `/v1/tenants/${api.environment.tenantId}`;
    const before = (await api.call('GET', path)).body;
    expect(before).toMatchObject({ status: 'active', billing_details: { email: null } });
    const billing_details = { email: 'accounts@example.com', address: { address_city: 'Ulm' } };
    const body = { name: 'Example Ltd', metadata: { plan: 'gold' }, billing_details };
    const changed = await api.call('PUT', '/v1/tenants/update', { body });
    expect([changed.status, changed.body]).toMatchObject([200, body]);
    expect((await api.call('GET', path)).body).toEqual(changed.body);
    const partly = await api.call('PUT', '/v1/tenants/update', {
      body: { billing_details: { phone: '+49 30 1' }, metadata: null },
    });
    expect(partly.body).toMatchObject({
      name: 'Example Ltd',
      metadata: {},
      billing_details: { email: null, phone: '+49 30 1', address: { address_city: null } },
    });
    const trail = await api.make('/v1/audit/search', { entity_type: 'tenant' });
    expect(trail.items).toHaveLength(2);
    expect(trail.items[1]).toMatchObject({ before, after: changed.body });
    const empty = await api.call('PUT', '/v1/tenants/update', { body: { name: ' ' } });
    expect([empty.status, Object.keys(empty.body.details)]).toEqual([400, ['name']]);
    const foreign = (await makeKey(database.database, {})).environment.tenantId;
    for (const id of [foreign, 'tenant_x']) {
      const other = await api.call('GET', `/v1/tenants/${id}`);
      expect([other.status, other.body.code]).toEqual([403, 'permission_denied']);
    }
  });
});
