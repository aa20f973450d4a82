import { describe, expect } from 'vitest';
import type { Answer, BillingUnderTest } from '../../testing/billing-harness.js';
import { expectRefusals, makeKey, test } from '../../testing/billing-test.js';
import { bearer, logInWith, userWith } from '../../testing/sign-in.js';
import { setTenantLimits } from '../../testing/set-tenant-limits.js';

const KIM = { type: 'user', email: 'Kim@Example.com', name: 'Kim', roles: ['all_reader'] };
const BOT = { type: 'service_account', name: 'Gateway', roles: ['event_ingestor'] };

const statusesOf = (answers: readonly Answer[]): readonly number[] =>
  answers.map(({ status }) => status).sort();

/** As a caller with a token and these roles. */
async function callerWith(api: BillingUnderTest, roles: readonly string[]) {
  const { id, token } = await userWith(api, roles);
  const headers = bearer(token);
  const call = (method: string, path: string, body?: unknown) =>
    api.call(method, path, body === undefined ? { headers } : { headers, body });
  return { id, call };
}

describe('POST /users', () => {
  test('makes a user, whose password is told once and stored as a hash only', async ({ api }) => {
    const { status, body } = await api.call('POST', '/v1/users', { body: KIM });
    expect([status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^user_/),
        tenant_id: api.environment.tenantId,
        environment_id: api.environment.environmentId,
        name: 'Kim',
        email: 'kim@example.com',
        type: 'user',
        roles: ['all_reader'],
        tenant: expect.objectContaining({ id: api.environment.tenantId }),
        status: 'published',
        metadata: {},
        created_at: expect.any(String),
        created_by: api.userId,
        updated_at: expect.any(String),
        updated_by: api.userId,
        password: expect.stringMatching(/^[A-Za-z2-9]{20}$/),
      },
    ]);
    const { password, ...user } = body;
    expect((await api.call('GET', `/v1/users/${user.id}`)).body).toEqual(user);
    const login = await logInWith(api, { email: 'kim@example.com', password });
    expect(login.status).toBe(200);
    const trail = await api.make('/v1/audit/search', { entity_id: user.id });
    expect(trail.items.map(({ action }: { action: string }) => action)).toEqual(['created']);
    expect(JSON.stringify(trail)).not.toMatch(new RegExp(`${password}|argon2|password`));
  });

  test('makes a service account, which has keys only', async ({ api }) => {
    const { status, body } = await api.call('POST', '/v1/users', { body: BOT });
    expect([status, body.email, body.password, body.roles]).toEqual([
      201,
      null,
      null,
      ['event_ingestor'],
    ]);
  });

  test('refuses what is wrong by name', async ({ api }) => {
    await expectRefusals(api, '/v1/users', [
      ['no type', { ...KIM, type: undefined }, 'type'],
      ['no address', { ...KIM, email: undefined }, 'email'],
      ['a bad address', { ...KIM, email: 'kim' }, 'email'],
      ['an address of a service account', { ...BOT, email: KIM.email }, 'email'],
      ['a service account without a role', { ...BOT, roles: [] }, 'roles'],
      ['an unknown role', { ...KIM, roles: ['owner'] }, 'roles.0'],
      ['super_admin and another', { ...KIM, roles: ['super_admin', 'all_reader'] }, 'roles'],
      ['a role of service accounts', { ...KIM, roles: ['event_ingestor'] }, 'roles'],
      ['a role of users', { ...BOT, roles: ['all_writer'] }, 'roles'],
      ['a password', { ...KIM, password: 'my own password' }, 'password'],
    ]);
  });

  test('of an address that is taken is 409, also in another tenant, until it is free again', async ({
    api,
    database,
  }) => {
    const { id } = await api.make('/v1/users', KIM);
    const { apiKey } = await makeKey(database.database, {});
    for (const headers of [{}, { 'x-api-key': apiKey }]) {
      const again = { ...KIM, email: 'kim@example.com' };
      const { status, body } = await api.call('POST', '/v1/users', { body: again, headers });
      expect([status, body.details]).toEqual([409, { email: 'is taken' }]);
    }
    await api.call('DELETE', `/v1/users/${id}`);
    expect((await api.call('POST', '/v1/users', { body: KIM })).status).toBe(201);
  });

  test('hands out no more than the caller has', async ({ api }) => {
    const writer = await callerWith(api, ['all_writer']);
    const admin = await writer.call('POST', '/v1/users', { ...KIM, roles: ['super_admin'] });
    expect([admin.status, admin.body.code]).toEqual([403, 'permission_denied']);
    const bot = await writer.call('POST', '/v1/users', { ...BOT, roles: ['super_admin'] });
    expect(bot.status).toBe(403);
    expect((await writer.call('POST', '/v1/users', KIM)).status).toBe(201);
    expect((await writer.call('POST', '/v1/users', BOT)).status).toBe(201);
  });

  test('of the tenth and the eleventh at once lets one in; a raised limit counts at once', async ({
    api,
    database,
  }) => {
    const make = (at: number) =>
      api.call('POST', '/v1/users', { body: { ...KIM, email: `u${at}@example.com` } });
    for (let at = 2; at < 10; at += 1) expect((await make(at)).status).toBe(201);
    const answers = await Promise.all([make(10), make(11), make(12)]);
    expect(statusesOf(answers)).toEqual([201, 400, 400]);
    const refused = answers.find(({ status }) => status === 400);
    expect([refused?.body.code, refused?.body.message]).toEqual([
      'invalid_operation',
      'the tenant may have 10 users and service accounts: delete one, or ask the operator of the installation for a higher limit',
    ]);
    await setTenantLimits(database.database, api.environment, { users: 11 });
    expect((await make(13)).status).toBe(201);
    expect((await make(14)).status).toBe(400);
  });
});

describe('a user', () => {
  test('is read, changed and found by the users of the tenant only', async ({ api, database }) => {
    const kim = await api.make('/v1/users', KIM);
    const path = `/v1/users/${kim.id}`;
    const body = { name: 'Kim Weber', metadata: { team: 'core' } };
    const changed = await api.call('PUT', path, { body });
    expect([changed.status, changed.body]).toMatchObject([200, { ...body, email: kim.email }]);
    const cleared = await api.call('PUT', path, { body: { name: null, metadata: null } });
    expect([cleared.body.name, cleared.body.metadata]).toEqual([null, {}]);
    const search = async (query: object): Promise<string[]> =>
      (await api.make('/v1/users/search', query)).items.map((user: { id: string }) => user.id);
    expect(await search({})).toEqual([kim.id, api.userId]);
    expect(await search({ user_ids: [kim.id, 'user_x'] })).toEqual([kim.id]);
    expect(await search({ email: 'KIM@example.com' })).toEqual([kim.id]);
    expect(await search({ type: 'service_account' })).toEqual([]);
    const named = [{ field: 'email', operator: 'contains', value: { string: 'kim' } }];
    expect(await search({ filters: named })).toEqual([kim.id]);
    for (const field of ['environment_id', 'roles', 'password_hash']) {
      const filters = [{ field, value: { string: 'x' } }];
      const refused = await api.call('POST', '/v1/users/search', { body: { filters } });
      expect([field, refused.status]).toEqual([field, 400]);
    }
    const headers = { 'x-api-key': (await makeKey(database.database, {})).apiKey };
    expect((await api.call('GET', path, { headers })).status).toBe(404);
    expect((await api.call('PUT', path, { headers, body })).status).toBe(404);
    expect((await api.call('DELETE', path, { headers })).status).toBe(404);
    const roles = { roles: ['all_writer'] };
    expect((await api.call('PUT', `${path}/roles`, { headers, body: roles })).status).toBe(404);
    expect((await api.call('GET', path)).body.roles).toEqual(['all_reader']);
  });

  test('changes its own name with any role, and no more than that', async ({ api }) => {
    const kim = await callerWith(api, []);
    const { status, body } = await kim.call('PUT', '/v1/users/me', { name: 'Kim' });
    expect([status, body.name, body.id]).toEqual([200, 'Kim', kim.id]);
    const roles = await kim.call('PUT', '/v1/users/me', { roles: ['super_admin'] });
    expect([roles.status, roles.body.details]).toEqual([
      400,
      { roles: 'is not a member of this request: leave it out' },
    ]);
    expect((await kim.call('GET', `/v1/users/${kim.id}`)).status).toBe(403);
  });

  test('gets its roles from a super_admin only; a tenant keeps one', async ({ api }) => {
    const writer = await callerWith(api, ['all_writer']);
    const own = `/v1/users/${writer.id}/roles`;
    const admin = { roles: ['super_admin'] };
    expect((await writer.call('PUT', own, admin)).status).toBe(403);
    const reader = { roles: ['all_reader'] };
    const last = await api.call('PUT', `/v1/users/${api.userId}/roles`, { body: reader });
    expect([last.status, last.body.code]).toEqual([400, 'invalid_operation']);
    expect((await api.call('PUT', own, { body: admin })).status).toBe(200);
    const [left, right] = await Promise.all([
      api.call('PUT', `/v1/users/${api.userId}/roles`, { body: reader }),
      api.call('PUT', own, { body: reader }),
    ]);
    expect(statusesOf([left, right])).toEqual([200, 400]);
    const wrong = { body: { roles: ['event_ingestor'] } };
    expect((await api.call('PUT', own, wrong)).status).toBeGreaterThanOrEqual(400);
    const { roles } = (await api.call('GET', '/v1/users/me')).body;
    expect(roles).toEqual([left.status === 200 ? 'all_reader' : 'super_admin']);
  });

  test('is deleted by somebody else with as many rights', async ({ api }) => {
    const self = await api.call('DELETE', `/v1/users/${api.userId}`);
    expect([self.status, self.body.code]).toEqual([400, 'invalid_operation']);
    const writer = await callerWith(api, ['all_writer']);
    expect((await writer.call('DELETE', `/v1/users/${api.userId}`)).status).toBe(403);
    const kim = await api.make('/v1/users', KIM);
    expect((await writer.call('DELETE', `/v1/users/${kim.id}`)).status).toBe(200);
    expect((await api.call('GET', `/v1/users/${kim.id}`)).body.status).toBe('archived');
    expect((await api.call('DELETE', `/v1/users/${kim.id}`)).status).toBe(400);
    expect((await api.call('DELETE', '/v1/users/user_x')).status).toBe(404);
  });

  test('that is deleted while a key is made for it never leaves a key that works', async ({
    api,
  }) => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await api.make('/v1/users', BOT);
      const key = { name: 'Gateway', type: 'private_key', service_account_id: id };
      const [made, deleted] = await Promise.all([
        api.call('POST', '/v1/secrets/api/keys', { body: key }),
        api.call('DELETE', `/v1/users/${id}`),
      ]);
      expect(deleted.status).toBe(200);
      expect([201, 400]).toContain(made.status);
      const { items } = (await api.call('GET', '/v1/secrets/api/keys')).body;
      expect(items.filter((each: { user_id: string }) => each.user_id === id)).toEqual([]);
      if (made.status !== 201) continue;
      const headers = { 'x-api-key': made.body.api_key as string };
      expect((await api.call('GET', '/v1/users/me', { headers })).status).toBe(401);
    }
  });
});

describe('GET /rbac/roles', () => {
  test('says what each role permits', async ({ api }) => {
    const { items } = (await api.call('GET', '/v1/rbac/roles')).body;
    expect(items.map(({ id }: { id: string }) => id)).toEqual([
      'super_admin',
      'all_writer',
      'all_reader',
      'event_ingestor',
      'event_reader',
    ]);
    const ingestor = await api.call('GET', '/v1/rbac/roles/event_ingestor');
    expect(ingestor.body.permissions).toEqual([{ entity: 'event', access: 'write' }]);
    const [admin, writer] = items;
    const keyOf = ({ entity, access }: { entity: string; access: string }) => `${entity} ${access}`;
    const written = new Set(writer.permissions.map(keyOf));
    const reserved = admin.permissions.map(keyOf).filter((each: string) => !written.has(each));
    expect(reserved).toEqual(['job read', 'job write', 'setting write', 'user_role write']);
    expect((await api.call('GET', '/v1/rbac/roles/owner')).status).toBe(404);
  });
});
