import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { createConsoleCode } from '../../../sql/console-sessions.js';
import { OPERATIONS } from '../../generated/operations.js';
import { withBillingApi, type BillingUnderTest } from '../../testing/billing-harness.js';
import { expectRefusals, test } from '../../testing/billing-test.js';
import { PASSWORD, signUpWith, userWith } from '../../testing/sign-in.js';

const KIM = 'kim@example.com';
const LOGIN = { email: KIM, password: PASSWORD };

type Headers = Readonly<Record<string, string>>;

const openWith = (api: BillingUnderTest, body: object) =>
  api.call('POST', '/v1/auth/session', { body, headers: { 'x-api-key': '' } });

/** The cookie of a new session as a browser sends it back. */
async function cookieOf(api: BillingUnderTest, body: object = LOGIN): Promise<string> {
  const { headers } = await openWith(api, body);
  return (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

/** What a page of the console sends, or one from elsewhere. */
const fromPage = (cookie: string, origin: string | null, more: Headers = {}): Headers => ({
  'x-api-key': '',
  cookie,
  ...(origin === null ? {} : { origin }),
  ...more,
});

async function firstEnvironment(api: BillingUnderTest, headers: Headers): Promise<string> {
  const { body } = await api.call('GET', '/v1/environments', { headers });
  return body.items[0].id as string;
}

describe('a session of the console', () => {
  test('is in a cookie that no script reads and no other site sends', async ({ api }) => {
    await signUpWith(api, KIM);
    const { status, body, headers } = await openWith(api, LOGIN);
    expect([status, body.user.email, body.user.environment_id]).toEqual([201, KIM, null]);
    expect(headers.get('set-cookie')).toMatch(
      /^minutebook=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=86(399|400)$/,
    );
    expect(JSON.stringify(body)).not.toContain((await cookieOf(api)).slice(11));
    const wrong = await openWith(api, { ...LOGIN, password: 'wrong' });
    const unknown = await openWith(api, { ...LOGIN, email: 'x@example.com' });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.headers.get('set-cookie')).toBeNull();
  });

  test('reads and writes as its user, in the environment that the page names', async ({ api }) => {
    await signUpWith(api, KIM);
    const asking = fromPage(await cookieOf(api), api.url);
    expect((await api.call('GET', '/v1/users/me', { headers: asking })).body.email).toBe(KIM);
    const none = await api.call('POST', '/v1/plans', { body: { name: 'Pro' }, headers: asking });
    expect(none.status).toBe(400);
    const id = await firstEnvironment(api, asking);
    const headers = { ...asking, 'x-environment-id': id };
    const made = await api.call('POST', '/v1/plans', { body: { name: 'Pro' }, headers });
    expect([made.status, made.body.environment_id]).toEqual([201, id]);
    const foreign = { ...asking, 'x-environment-id': api.environment.environmentId };
    expect((await api.call('GET', '/v1/meters', { headers: foreign })).status).toBe(403);
  });

  test('writes from pages of this server only, by whatever name it is reached', async ({ api }) => {
    await signUpWith(api, KIM);
    const cookie = await cookieOf(api);
    const id = await firstEnvironment(api, fromPage(cookie, null));
    const statusFrom = async (origin: string | null) => {
      const headers = fromPage(cookie, origin, { 'x-environment-id': id });
      const body = { name: 'Pro' };
      return (await api.call('POST', '/v1/plans', { body, headers })).status;
    };
    for (const origin of [null, 'null', 'http://evil.example', `http://127.0.0.1:1`, 'x']) {
      expect([origin, await statusFrom(origin)]).toEqual([origin, 403]);
    }
    expect(await statusFrom(api.url)).toBe(201);
    // A sign-out from elsewhere would be a nuisance.
    const out = { headers: fromPage(cookie, 'http://evil.example') };
    expect((await api.call('DELETE', '/v1/auth/session', out)).status).toBe(403);
  });

  test('ends at once when its user signs out, is deleted, or has another password', async ({
    api,
  }) => {
    await signUpWith(api, KIM);
    const [first, second] = [await cookieOf(api), await cookieOf(api)];
    const statusOf = async (cookie: string) =>
      (await api.call('GET', '/v1/users/me', { headers: fromPage(cookie, null) })).status;
    const out = { headers: fromPage(first, api.url) };
    const left = await api.call('DELETE', '/v1/auth/session', out);
    expect([left.status, left.headers.get('set-cookie')]).toEqual([
      200,
      'minutebook=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
    ]);
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    const change = { ...LOGIN, new_password: 'another password' };
    const headers = { 'x-api-key': '' };
    await api.call('POST', '/v1/auth/password', { body: change, headers });
    expect(await statusOf(second)).toBe(401);
  });

  test('ends after a day', async ({ api, clock }) => {
    clock.set('2026-03-01T00:00:00Z');
    await signUpWith(api, KIM);
    const headers = fromPage(await cookieOf(api), null);
    clock.set('2026-03-01T23:59:59Z');
    expect((await api.call('GET', '/v1/users/me', { headers })).status).toBe(200);
    clock.set('2026-03-02T00:00:01Z');
    expect((await api.call('GET', '/v1/users/me', { headers })).status).toBe(401);
  });

  test('is kept as a hash, and gone once it has expired and another one is opened', async ({
    api,
    clock,
    database,
  }) => {
    clock.set('2026-03-01T00:00:00Z');
    await signUpWith(api, KIM);
    const secret = (await cookieOf(api)).slice('minutebook='.length);
    const rows = sql.type(z.object({ hash: z.string() }))`
      SELECT encode(secret_hash, 'escape') AS hash FROM console_sessions`;
    const kept = () => ownerOf(database).any(rows);
    const before = await kept();
    expect([before.length, JSON.stringify(before).includes(secret)]).toEqual([1, false]);
    clock.set('2026-03-03T00:00:00Z');
    await cookieOf(api);
    expect(await kept()).toHaveLength(1);
  });

  test('is refused by name without a password or a code', async ({ api }) => {
    await expectRefusals(api, '/v1/auth/session', [
      ['nothing', {}, 'email'],
      ['no password', { email: KIM }, 'password'],
      ['both', { ...LOGIN, code: 'x' }, 'code'],
    ]);
  });
});

describe('a one-time code', () => {
  const codeFor = (api: BillingUnderTest, url: string, now = Date.now()) =>
    createConsoleCode(url, { tenantId: api.environment.tenantId, userId: api.userId }, now);

  test('opens one session as its user', async ({ api, database }) => {
    const code = await codeFor(api, database.url);
    const answers = await Promise.all([1, 2, 3].map(() => openWith(api, { code })));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 401, 401]);
    const opened = answers.find(({ status }) => status === 201);
    expect(opened?.body.user.id).toBe(api.userId);
    expect(answers.find(({ status }) => status === 401)?.body.message).toMatch(/^the code is/);
  });

  test('ends after a quarter of an hour, and when another one is made', async ({
    api,
    database,
  }) => {
    const old = await codeFor(api, database.url, Date.now() - 901_000);
    expect((await openWith(api, { code: old })).status).toBe(401);
    const replaced = await codeFor(api, database.url);
    const last = await codeFor(api, database.url);
    expect((await openWith(api, { code: replaced })).status).toBe(401);
    // It is no session itself.
    const headers = fromPage(`minutebook=${last}`, null);
    expect((await api.call('GET', '/v1/users/me', { headers })).status).toBe(401);
    expect((await openWith(api, { code: last })).status).toBe(201);
  });
});

describe('MINUTEBOOK_CONSOLE', () => {
  test('off serves no console, opens no session and takes no cookie', async ({
    database,
    clickhouse,
  }) => {
    const engines = { database: database.database, clickhouse: clickhouse.client };
    let cookie = '';
    await withBillingApi(engines, async (api) => {
      await signUpWith(api, KIM);
      cookie = await cookieOf(api);
    });
    await withBillingApi({ ...engines, consoleMode: 'off' }, async (api) => {
      expect((await openWith(api, LOGIN)).status).toBe(403);
      const headers = fromPage(cookie, api.url);
      expect((await api.call('GET', '/v1/users/me', { headers })).status).toBe(401);
      expect((await fetch(`${api.url}/console/`)).status).toBe(404);
    });
  });

  test('https gives the cookie to pages over TLS only', async ({ database, clickhouse }) => {
    const engines = { database: database.database, clickhouse: clickhouse.client };
    await withBillingApi({ ...engines, consoleMode: 'https' }, async (api) => {
      await signUpWith(api, KIM);
      const { headers } = await openWith(api, LOGIN);
      const given = headers.get('set-cookie') ?? '';
      expect(given).toMatch(/^__Host-minutebook=.*; Secure$/);
      const cookie = given.split(';')[0] ?? '';
      const { host } = new URL(api.url);
      const id = await firstEnvironment(api, fromPage(cookie, null));
      const statusFrom = async (origin: string) => {
        const asked = fromPage(cookie, origin, { 'x-environment-id': id });
        const body = { name: 'Pro' };
        return (await api.call('POST', '/v1/plans', { body, headers: asked })).status;
      };
      expect([await statusFrom(`http://${host}`), await statusFrom(`https://${host}`)]).toEqual([
        403, 201,
      ]);
    });
  });
});

describe('GET /users/me/operations', () => {
  test('lists what the roles of the caller permit, and nothing else', async ({ api }) => {
    const listed = async (headers: Headers): Promise<ReadonlySet<string>> => {
      const { body } = await api.call('GET', '/v1/users/me/operations', { headers });
      const items = body.items as readonly { method: string; path: string }[];
      return new Set(items.map(({ method, path }) => `${method} ${path}`));
    };
    const all = OPERATIONS.filter(({ isPublic }) => !isPublic);
    expect((await listed({})).size).toBe(all.length);
    const { token } = await userWith(api, ['all_reader']);
    const reader = await listed({ 'x-api-key': '', authorization: `Bearer ${token}` });
    const reads = all.filter(({ access, entity }) => access === 'read' && entity !== 'job');
    // Everybody may change their own name.
    expect(reader.size).toBe(reads.length + 1);
    expect([reader.has('POST /customers'), reader.has('POST /customers/search')]).toEqual([
      false,
      true,
    ]);
    expect([reader.has('PUT /users/me'), reader.has('GET /jobs')]).toEqual([true, false]);
  });
});
