import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { withBillingApi, type BillingUnderTest } from '../../testing/billing-harness.js';
import { expectRefusals, test } from '../../testing/billing-test.js';
import { bearer, logInWith, PASSWORD, signUpWith, userWith } from '../../testing/sign-in.js';

const KIM = 'kim@example.com';

const counts = sql.type(z.object({ tenants: z.number(), users: z.number(), places: z.number() }))`
  SELECT (SELECT count(*)::integer FROM tenants) AS tenants,
    (SELECT count(*)::integer FROM users) AS users,
    (SELECT count(*)::integer FROM environments) AS places`;

describe('POST /auth/signup', () => {
  test('makes a tenant with two environments and a super_admin, whose token works', async ({
    api,
  }) => {
    const { status, body } = await signUpWith(api, 'Kim@Example.com', { name: 'Kim' });
    expect([status, body.user.email, body.user.name, body.user.roles]).toEqual([
      201,
      KIM,
      'Kim',
      ['super_admin'],
    ]);
    expect(body.tenant).toMatchObject({ name: 'Example Ltd', status: 'active' });
    expect(body.user).toMatchObject({ environment_id: null, tenant: body.tenant });
    const headers = bearer(body.token);
    const me = await api.call('GET', '/v1/users/me', { headers });
    expect([me.status, me.body]).toEqual([200, body.user]);
    const listed = await api.call('GET', '/v1/environments?sort=name&order=asc', { headers });
    expect(listed.body.items.map(({ type }: { type: string }) => type)).toEqual([
      'development',
      'production',
    ]);
    const trail = await api.call('POST', '/v1/audit/search', {
      body: {},
      headers: bearer(body.token, listed.body.items[1].id),
    });
    const kinds = trail.body.items.map((each: { entity_type: string }) => each.entity_type);
    expect(kinds.sort()).toEqual(['environment', 'environment', 'tenant', 'user']);
    expect(JSON.stringify(trail.body)).not.toContain('argon2');
  });

  test('of one address by ten at once makes one tenant; the others leave nothing', async ({
    api,
    database,
  }) => {
    const before = await ownerOf(database.database).one(counts);
    const addresses = Array.from({ length: 10 }, (_, at) =>
      at % 2 === 0 ? KIM : KIM.toUpperCase(),
    );
    const answers = await Promise.all(addresses.map((email) => signUpWith(api, email)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body.details).toEqual({ email: 'is taken' });
    const after = await ownerOf(database.database).one(counts);
    expect([after.tenants, after.users, after.places]).toEqual([
      before.tenants + 1,
      before.users + 1,
      before.places + 2,
    ]);
  });

  test('refuses what is wrong by name', async ({ api }) => {
    const good = { email: KIM, password: PASSWORD, tenant_name: 'Example Ltd' };
    await expectRefusals(api, '/v1/auth/signup', [
      ['no address', { ...good, email: 'kim' }, 'email'],
      ['an address of 256', { ...good, email: `${'k'.repeat(250)}@a.com` }, 'email'],
      ['a password of 7', { ...good, password: '1234567' }, 'password'],
      ['a password of 257', { ...good, password: 'x'.repeat(257) }, 'password'],
      ['no name', { ...good, tenant_name: ' ' }, 'tenant_name'],
      ['a role', { ...good, roles: ['super_admin'] }, 'roles'],
    ]);
    expect((await signUpWith(api, KIM, { password: '12345678' })).status).toBe(201);
  });
});

describe('POST /auth/login', () => {
  test('answers a token, and the same 401 for a wrong password and an unknown address', async ({
    api,
  }) => {
    const { body: own } = await signUpWith(api, KIM);
    const right = await logInWith(api, { email: 'KIM@example.com', password: PASSWORD });
    expect([right.status, right.body.user]).toEqual([200, own.user]);
    expect(Date.parse(right.body.expires_at)).toBeGreaterThan(Date.now() + 86_000_000);
    const wrong = await logInWith(api, { email: KIM, password: `${PASSWORD}!` });
    const unknown = await logInWith(api, { email: 'x@example.com', password: PASSWORD });
    expect([wrong.status, wrong.body.code]).toEqual([401, 'permission_denied']);
    expect([unknown.status, unknown.body]).toEqual([401, wrong.body]);
    expect(JSON.stringify(right.body)).not.toContain('argon2');
  });

  test('takes as long for an unknown address as for a wrong password', async ({ api }) => {
    await signUpWith(api, KIM);
    const timeOf = async (email: string): Promise<number> => {
      const startedAt = performance.now();
      await logInWith(api, { email, password: 'wrong password' });
      return performance.now() - startedAt;
    };
    const [known, unknown]: [number[], number[]] = [[], []];
    // In turns, so that a busy machine delays both; the shortest are compared.
    for (let round = 0; round < 5; round += 1) {
      known.push(await timeOf(KIM));
      unknown.push(await timeOf('x@example.com'));
    }
    // Without the hash of nobody it takes a twentieth of the time.
    expect(Math.min(...unknown)).toBeGreaterThan(Math.min(...known) / 3);
  });

  test('with an environment makes a token for it; one of another tenant is 403', async ({
    api,
  }) => {
    const { body: own } = await signUpWith(api, KIM);
    const listed = await api.call('GET', '/v1/environments', { headers: bearer(own.token) });
    const [first, second] = listed.body.items as readonly { readonly id: string }[];
    const login = { email: KIM, password: PASSWORD };
    const { body } = await logInWith(api, { ...login, environment_id: first?.id });
    expect(body.user.environment_id).toBe(first?.id);
    // The claim comes before the header.
    const headers = bearer(body.token, second?.id);
    const made = await api.call('POST', '/v1/plans', { body: { name: 'Pro' }, headers });
    expect([made.status, made.body.environment_id]).toEqual([201, first?.id]);
    for (const environment_id of [api.environment.environmentId, 'env_x']) {
      expect((await logInWith(api, { ...login, environment_id })).status).toBe(403);
    }
  });

  test('is limited per client address, like wrong keys; tokens go on', async ({
    database,
    clickhouse,
  }) => {
    const engines = { database: database.database, clickhouse: clickhouse.client };
    await withBillingApi({ ...engines, failedAuthRate: 3 }, async (api) => {
      const user = await userWith(api, ['all_reader']);
      await new Promise((resolve) => setTimeout(resolve, 1_050));
      const attempts = Array.from({ length: 8 }, () =>
        logInWith(api, { email: KIM, password: 'wrong password' }),
      );
      const statuses = (await Promise.all(attempts)).map(({ status }) => status).sort();
      expect(statuses).toEqual([401, 401, 401, 429, 429, 429, 429, 429]);
      const me = await api.call('GET', '/v1/users/me', { headers: bearer(user.token) });
      expect(me.status).toBe(200);
    });
  });
});

describe('POST /auth/password', () => {
  const change = (api: BillingUnderTest, body: object) =>
    api.call('POST', '/v1/auth/password', { body, headers: { 'x-api-key': '' } });

  test('changes the password of whoever knows it, and ends the tokens of before', async ({
    api,
    clock,
  }) => {
    clock.set('2026-01-20T10:00:00.000Z');
    const { body: own } = await signUpWith(api, KIM);
    clock.set('2026-01-20T10:00:01.500Z');
    const old = { email: KIM, password: PASSWORD };
    const wrong = await change(api, {
      ...old,
      password: 'wrong password',
      new_password: 'x'.repeat(8),
    });
    expect([wrong.status, wrong.body.code]).toEqual([401, 'permission_denied']);
    await expectRefusals(api, '/v1/auth/password', [
      ['a short one', { ...old, new_password: '1234567' }, 'new_password'],
    ]);
    const next = { email: 'Kim@Example.com', password: 'battery staple' };
    const changed = await change(api, { ...old, new_password: next.password });
    expect([changed.status, changed.body.user]).toEqual([200, own.user]);
    const meWith = (token: string) => api.call('GET', '/v1/users/me', { headers: bearer(token) });
    expect((await meWith(own.token)).status).toBe(401);
    expect((await meWith(changed.body.token)).status).toBe(200);
    expect((await logInWith(api, old)).status).toBe(401);
    const signedIn = await logInWith(api, next);
    expect(signedIn.status).toBe(200);
    const headers = bearer(signedIn.body.token);
    const listed = await api.call('GET', '/v1/environments', { headers });
    const places = listed.body.items.map(({ id }: { id: string }) => id);
    const trails = await Promise.all(
      places.map((place: string) =>
        api.call('POST', '/v1/audit/search', {
          body: { entity_id: own.user.id },
          headers: bearer(signedIn.body.token, place),
        }),
      ),
    );
    const kinds = trails.flatMap(({ body }) =>
      body.items.map((each: { entity_type: string }) => each.entity_type),
    );
    expect(kinds.sort()).toEqual(['user', 'user_password']);
    expect(JSON.stringify(trails)).not.toContain('argon2');
  });

  test('counts as a guess: ten wrong ones make the account wait, known addresses of others do not', async ({
    api,
  }) => {
    await userWith(api, ['all_reader'], 'sam@example.com');
    await signUpWith(api, KIM);
    const wrong = { email: KIM, password: 'wrong password' };
    for (let index = 0; index < 10; index += 1) {
      const answer =
        index % 2 === 0
          ? await logInWith(api, wrong)
          : await change(api, { ...wrong, new_password: 'x'.repeat(8) });
      expect(answer.status).toBe(401);
    }
    const right = await logInWith(api, { email: KIM, password: PASSWORD });
    expect([right.status, right.body.code]).toEqual([429, 'too_many_requests']);
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(800);
    const other = { email: 'sam@example.com', password: 'wrong password' };
    expect((await logInWith(api, other)).status).toBe(401);
  });
});

describe('a closed sign-up', () => {
  test('makes no tenant', async ({ database, clickhouse }) => {
    const engines = { database: database.database, clickhouse: clickhouse.client };
    await withBillingApi({ ...engines, isSignUpOpen: false }, async (api) => {
      const before = await ownerOf(database.database).one(counts);
      const { status, body } = await signUpWith(api, KIM);
      expect([status, body.code]).toEqual([403, 'permission_denied']);
      expect(body.message).toContain('minutebook tenants create');
      expect(await ownerOf(database.database).one(counts)).toEqual(before);
    });
  });
});

describe('a token', () => {
  test('selects the environment by the header; without one only the tenant can be asked', async ({
    api,
  }) => {
    const { environmentId, tenantId } = api.environment;
    const { token } = await userWith(api, ['all_writer']);
    const plan = { body: { name: 'Pro' } };
    const none = await api.call('POST', '/v1/plans', { ...plan, headers: bearer(token) });
    expect([none.status, none.body.code]).toEqual([400, 'validation_error']);
    expect(none.body.message).toContain('X-Environment-ID');
    const good = bearer(token, environmentId);
    const made = await api.call('POST', '/v1/plans', { ...plan, headers: good });
    expect([made.status, made.body.environment_id]).toEqual([201, environmentId]);
    const trail = await api.make('/v1/audit/search', { entity_id: made.body.id });
    expect(trail.items[0].api_key_id).toBeNull();
    const foreign = await signUpWith(api, 'other@example.com');
    const other = await api.call('GET', '/v1/environments', {
      headers: bearer(foreign.body.token),
    });
    for (const wrong of [other.body.items[0].id, 'env_x']) {
      const headers = bearer(token, wrong);
      expect((await api.call('POST', '/v1/plans', { ...plan, headers })).status).toBe(403);
      expect((await api.call('GET', '/v1/users/me', { headers })).status).toBe(403);
    }
    for (const path of ['/users/me', '/environments', `/tenants/${tenantId}`, '/rbac/roles']) {
      expect((await api.call('GET', `/v1${path}`, { headers: bearer(token) })).status).toBe(200);
    }
  });

  test('counts less than an API key, and a broken one is 401', async ({ api }) => {
    const { token, id } = await userWith(api, ['all_reader']);
    const both = { authorization: `Bearer ${token}` };
    expect((await api.call('GET', '/v1/users/me', { headers: both })).body.id).toBe(api.userId);
    expect((await api.call('GET', '/v1/users/me', { headers: bearer(token) })).body.id).toBe(id);
    for (const authorization of [`Bearer ${token}x`, `Basic ${token}`, 'Bearer', token]) {
      const headers = { 'x-api-key': '', authorization };
      const answer = await api.call('GET', '/v1/users/me', { headers });
      expect([authorization, answer.status, answer.body.code]).toEqual([
        authorization,
        401,
        'permission_denied',
      ]);
    }
  });

  test('of a user who was deleted is refused at once, and roles count from the next request', async ({
    api,
  }) => {
    const { environmentId } = api.environment;
    const { token, id } = await userWith(api, ['all_reader']);
    const headers = bearer(token, environmentId);
    const create = () => api.call('POST', '/v1/plans', { body: { name: 'Pro' }, headers });
    expect((await create()).status).toBe(403);
    await api.call('PUT', `/v1/users/${id}/roles`, { body: { roles: ['all_writer'] } });
    expect((await create()).status).toBe(201);
    expect((await api.call('DELETE', `/v1/users/${id}`)).status).toBe(200);
    expect((await create()).status).toBe(401);
    const login = { email: 'user-all_reader@example.com', password: PASSWORD };
    expect((await logInWith(api, login)).status).toBe(401);
  });

  test('expires 24 hours after the sign-in', async ({ api, clock }) => {
    clock.set('2026-01-20T10:00:00.000Z');
    const { body } = await signUpWith(api, KIM);
    expect(body.expires_at).toBe('2026-01-21T10:00:00.000Z');
    clock.set('2026-01-21T09:59:59.000Z');
    const headers = bearer(body.token);
    expect((await api.call('GET', '/v1/users/me', { headers })).status).toBe(200);
    clock.set('2026-01-21T10:00:00.000Z');
    expect((await api.call('GET', '/v1/users/me', { headers })).status).toBe(401);
  });
});
