import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { expectRefusals, makeKey, test } from '../../testing/billing-test.js';
import { bearer, userWith } from '../../testing/sign-in.js';

const PATH = '/v1/secrets/api/keys';
const KEY = { name: 'Checkout', type: 'private_key' };
const BOT = { type: 'service_account', roles: ['event_ingestor'] };

const idsOf = async (
  api: BillingUnderTest,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> =>
  (await api.call('GET', PATH, { headers })).body.items.map((key: { id: string }) => key.id);

const meWith = async (api: BillingUnderTest, apiKey: string) =>
  api.call('GET', '/v1/users/me', { headers: { 'x-api-key': apiKey } });

describe('POST /secrets/api/keys', () => {
  test('tells the key once; it works at once, and only its hash is stored', async ({
    api,
    database,
  }) => {
    const body = { ...KEY, expires_at: '2099-01-01T00:00:00Z' };
    const { status, body: made } = await api.call('POST', PATH, { body });
    const key = made.api_key as string;
    expect(key).toMatch(/^sk_[A-Za-z0-9]{40}$/);
    expect([status, made.secret]).toEqual([
      201,
      {
        id: expect.stringMatching(/^secret_/),
        name: 'Checkout',
        provider: null,
        type: 'private_key',
        display_id: `${key.slice(0, 5)}***${key.slice(-2)}`,
        roles: ['super_admin'],
        user_id: api.userId,
        user_type: 'user',
        expires_at: '2099-01-01T00:00:00.000Z',
        last_used_at: null,
        status: 'published',
        created_at: expect.any(String),
        created_by: api.userId,
        updated_at: expect.any(String),
        updated_by: api.userId,
      },
    ]);
    expect((await meWith(api, key)).body.id).toBe(api.userId);
    const listed = (await api.call('GET', PATH)).body;
    expect(listed.items[0]).toEqual(made.secret);
    const trail = await api.make('/v1/audit/search', { entity_id: made.secret.id });
    expect(trail.items[0]).toMatchObject({ action: 'created', entity_type: 'secret' });
    const row = z.object({ text: z.string() });
    const stored = await ownerOf(database.database).any(sql.type(row)`
      SELECT secrets::text AS text FROM secrets
      UNION ALL SELECT audit_entries::text FROM audit_entries`);
    expect(JSON.stringify([listed, trail, stored])).not.toContain(key.slice(5, -2));
    expect(Object.keys(trail.items[0].after)).not.toContain('key_hash');
  });

  test('makes publishable keys, which can only send events', async ({ api }) => {
    const made = await api.make(PATH, { ...KEY, type: 'publishable_key' });
    expect(made.api_key).toMatch(/^pk_/);
    expect((await meWith(api, made.api_key)).status).toBe(403);
  });

  test('for a service account makes a key with its roles', async ({ api }) => {
    const bot = await api.make('/v1/users', BOT);
    const made = await api.make(PATH, { ...KEY, service_account_id: bot.id });
    expect(made.secret).toMatchObject({
      user_id: bot.id,
      user_type: 'service_account',
      roles: ['event_ingestor'],
    });
    expect((await meWith(api, made.api_key)).body.id).toBe(bot.id);
    const headers = { 'x-api-key': made.api_key as string };
    expect((await api.call('GET', PATH, { headers })).status).toBe(403);
  });

  test('for somebody else is 403, for nobody 404, and never for more than one may do', async ({
    api,
    database,
  }) => {
    const { id, token } = await userWith(api, ['all_writer']);
    const writer = bearer(token, api.environment.environmentId);
    const statusFor = async (accountId: string, headers = {}): Promise<number> => {
      const body = { ...KEY, service_account_id: accountId };
      return (await api.call('POST', PATH, { body, headers })).status;
    };
    expect(await statusFor(id)).toBe(403);
    expect(await statusFor('user_x')).toBe(404);
    const admin = await api.make('/v1/users', { ...BOT, roles: ['super_admin'] });
    expect(await statusFor(admin.id, writer)).toBe(403);
    const bot = await api.make('/v1/users', BOT);
    expect(await statusFor(bot.id, writer)).toBe(201);
    const { apiKey } = await makeKey(database.database, {});
    expect(await statusFor(bot.id, { 'x-api-key': apiKey })).toBe(404);
    await api.call('DELETE', `/v1/users/${bot.id}`);
    expect(await statusFor(bot.id)).toBe(400);
  });

  test('refuses what is wrong by name', async ({ api }) => {
    await expectRefusals(api, PATH, [
      ['no name', { ...KEY, name: ' ' }, 'name'],
      ['no type', { ...KEY, type: undefined }, 'type'],
      ['another type', { ...KEY, type: 'integration' }, 'type'],
      ['a time that has passed', { ...KEY, expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
      ['no time', { ...KEY, expires_at: 'soon' }, 'expires_at'],
      ['roles', { ...KEY, roles: ['super_admin'] }, 'roles'],
    ]);
  });
});

describe('a key', () => {
  test('is revoked at once, and stays in the list of deleted ones', async ({ api }) => {
    const { secret, api_key: key } = await api.make(PATH, KEY);
    expect((await meWith(api, key)).status).toBe(200);
    expect((await api.call('DELETE', `${PATH}/${secret.id}`)).status).toBe(204);
    expect((await meWith(api, key)).status).toBe(401);
    expect(await idsOf(api)).not.toContain(secret.id);
    const deleted = await api.call('GET', `${PATH}?status=deleted`);
    expect(deleted.body.items).toMatchObject([{ id: secret.id, status: 'deleted' }]);
    expect((await api.call('DELETE', `${PATH}/${secret.id}`)).status).toBe(400);
    expect((await api.call('DELETE', `${PATH}/secret_x`)).status).toBe(404);
  });

  test('expires at its instant', async ({ api, clock }) => {
    clock.set('2026-01-20T10:00:00.000Z');
    const made = await api.make(PATH, { ...KEY, expires_at: '2026-01-20T10:00:01.000Z' });
    expect((await meWith(api, made.api_key)).status).toBe(200);
    clock.set('2026-01-20T10:00:01.000Z');
    expect((await meWith(api, made.api_key)).status).toBe(401);
  });

  test('gains and loses roles with its user from the next request on', async ({ api }) => {
    const admin = await api.make('/v1/users', { ...BOT, roles: ['super_admin'] });
    const made = await api.make(PATH, { ...KEY, service_account_id: admin.id });
    const headers = { 'x-api-key': made.api_key as string };
    const create = async (): Promise<number> =>
      (await api.call('POST', '/v1/plans', { body: { name: 'Pro' }, headers })).status;
    expect(await create()).toBe(201);
    const path = `/v1/users/${admin.id}/roles`;
    await api.call('PUT', path, { body: { roles: ['event_reader'] } });
    expect(await create()).toBe(403);
    await api.call('PUT', path, { body: { roles: ['super_admin'] } });
    expect(await create()).toBe(201);
  });

  test('is seen and revoked by its user and by a super_admin, in its environment', async ({
    api,
    database,
  }) => {
    const { token, id } = await userWith(api, ['all_writer']);
    const headers = bearer(token, api.environment.environmentId);
    const own = (await api.call('POST', PATH, { body: KEY, headers })).body.secret;
    const other = (await api.make(PATH, KEY)).secret;
    expect(own.user_id).toBe(id);
    expect(await idsOf(api, headers)).toEqual([own.id]);
    expect(await idsOf(api)).toEqual(expect.arrayContaining([own.id, other.id]));
    expect((await api.call('DELETE', `${PATH}/${other.id}`, { headers })).status).toBe(404);
    const sibling = await api.make('/v1/environments', { name: 'Test', type: 'development' });
    const elsewhere = bearer(token, sibling.id);
    expect(await idsOf(api, elsewhere)).toEqual([]);
    expect((await api.call('DELETE', `${PATH}/${own.id}`, { headers: elsewhere })).status).toBe(
      404,
    );
    const foreign = { 'x-api-key': (await makeKey(database.database, {})).apiKey };
    expect((await api.call('DELETE', `${PATH}/${own.id}`, { headers: foreign })).status).toBe(404);
    expect((await api.call('DELETE', `${PATH}/${own.id}`, { headers })).status).toBe(204);
  });

  test('of a deleted user is revoked in every environment', async ({ api, database }) => {
    const { token, id } = await userWith(api, ['all_writer']);
    const sibling = await api.make('/v1/environments', { name: 'Test', type: 'development' });
    for (const environmentId of [api.environment.environmentId, sibling.id as string]) {
      const headers = bearer(token, environmentId);
      expect((await api.call('POST', PATH, { body: KEY, headers })).status).toBe(201);
    }
    expect((await api.call('DELETE', `/v1/users/${id}`)).status).toBe(200);
    const left = await ownerOf(database.database).any(
      sql.type(z.object({ status: z.string() }))`SELECT status FROM secrets WHERE user_id = ${id}`,
    );
    expect(left.map(({ status }) => status)).toEqual(['deleted', 'deleted']);
  });
});
