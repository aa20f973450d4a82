import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { makeKey, test } from '../../testing/billing-test.js';
import type { Database } from '../../../sql/pool.js';

const KEY = { 'idempotency-key': 'first-1' };
const body = { name: 'Pro', lookup_key: 'pro' };

async function setState(database: Database, state: string): Promise<void> {
  await ownerOf(database).query(sql.type(z.unknown())`
    UPDATE idempotency_keys
    SET state = ${state}, answer_status = NULL, answer_headers = NULL, answer_body = NULL`);
}

describe('Idempotency-Key', () => {
  test('replays the first answer and does nothing again', async ({ api }) => {
    const first = await api.call('POST', '/v1/plans', { body, headers: KEY });
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([201, null]);
    const spaced = '{ "lookup_key" : "pro",  "name": "Pro" }';
    for (const options of [{ body }, { raw: spaced }]) {
      const again = await api.call('POST', '/v1/plans', { ...options, headers: KEY });
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
      expect(again.body).toEqual(first.body);
    }
    expect((await api.make('/v1/plans/search', {})).pagination.total).toBe(1);
  });

  test('replays the version of the record', async ({ api }) => {
    const meter = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } };
    const first = await api.call('POST', '/v1/meters', { body: meter, headers: KEY });
    const again = await api.call('POST', '/v1/meters', { body: meter, headers: KEY });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect([first.headers.get('etag'), again.headers.get('etag')]).toEqual(['"1"', '"1"']);
    expect(again.body).toEqual(first.body);
  });

  test('carries out a refused request when it is sent again', async ({ api }) => {
    const price = { entity_id: 'plan_x', currency: 'usd', amount: '1' };
    const invalid = { body: { ...price, colour: 1 }, headers: KEY };
    for (let count = 0; count < 2; count += 1) {
      const { status, headers } = await api.call('POST', '/v1/prices', invalid);
      expect([status, headers.get('idempotency-replayed')]).toEqual([400, null]);
    }
    const missing = await api.call('POST', '/v1/prices', { body: price, headers: KEY });
    expect([missing.status, missing.body.code]).toEqual([404, 'not_found']);
    const plan = await api.make('/v1/plans', { name: 'Pro', lookup_key: 'pro' });
    const valid = { body: { ...price, entity_id: plan.id }, headers: KEY };
    const made = await api.call('POST', '/v1/prices', valid);
    expect([made.status, made.headers.get('idempotency-replayed')]).toEqual([201, null]);
    const again = await api.call('POST', '/v1/prices', valid);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(again.body).toEqual(made.body);
    expect((await api.make('/v1/prices/search', {})).pagination.total).toBe(1);
  });

  test('of a taken name is free for another name', async ({ api }) => {
    await api.make('/v1/plans', body);
    const taken = await api.call('POST', '/v1/plans', { body, headers: KEY });
    expect([taken.status, taken.body.code]).toEqual([409, 'already_exists']);
    const other = { body: { ...body, lookup_key: 'pro-2' }, headers: KEY };
    expect((await api.call('POST', '/v1/plans', other)).status).toBe(201);
  });

  test('makes changes and removals repeatable too', async ({ api }) => {
    const meter = await api.make('/v1/meters', {
      name: 'Calls',
      event_name: 'call',
      aggregation: { type: 'COUNT' },
    });
    for (const [method, key, options] of [
      ['PUT', 'change', { body: { name: 'Requests' } }],
      ['DELETE', 'removal', {}],
    ] as const) {
      const headers = { 'idempotency-key': key };
      const send = () => api.call(method, `/v1/meters/${meter.id}`, { ...options, headers });
      const [first, again] = [await send(), await send()];
      expect([method, first.status, again.status]).toEqual([method, 200, 200]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
      expect(again.body).toEqual(first.body);
    }
  });

  test('answers 409 for another body or path under the same key', async ({ api }) => {
    await api.call('POST', '/v1/plans', { body, headers: KEY });
    const other = await api.call('POST', '/v1/plans', { body: { name: 'X' }, headers: KEY });
    expect([other.status, other.body.code]).toEqual([409, 'already_exists']);
    const elsewhere = await api.call('POST', '/v1/customers', {
      body: { external_id: 'x' },
      headers: KEY,
    });
    expect(elsewhere.status).toBe(409);
  });

  test('carries out one of many simultaneous requests', async ({ api }) => {
    const options = { body: { name: 'Pro' }, headers: KEY };
    const answers = await Promise.all(
      [...Array(8).keys()].map(() => api.call('POST', '/v1/plans', options)),
    );
    for (const answer of answers) {
      const isFine = answer.status === 201 || answer.body.code === 'version_conflict';
      expect([answer.status, isFine]).toEqual([answer.status, true]);
      if (answer.status === 409) expect(answer.headers.get('retry-after')).toBe('1');
    }
    expect((await api.make('/v1/plans/search', {})).pagination.total).toBe(1);
  });

  test('belongs to one tenant and lasts 24 hours', async ({ api, database, clock }) => {
    clock.set('2026-11-20T00:00:00Z');
    await api.call('POST', '/v1/plans', { body: { name: 'Pro' }, headers: KEY });
    const { apiKey } = await makeKey(database.database, {});
    const headers = { ...KEY, 'x-api-key': apiKey };
    const foreign = await api.call('POST', '/v1/plans', { body: { name: 'Other' }, headers });
    expect(foreign.status).toBe(201);
    clock.set('2026-11-20T23:59:59Z');
    const replayed = await api.call('POST', '/v1/plans', { body: { name: 'Pro' }, headers: KEY });
    expect(replayed.headers.get('idempotency-replayed')).toBe('true');
    clock.set('2026-11-21T00:00:00Z');
    const fresh = await api.call('POST', '/v1/plans', { body: { name: 'New' }, headers: KEY });
    expect([fresh.status, fresh.headers.get('idempotency-replayed')]).toEqual([201, null]);
  });

  test('belongs to one user: another one gets 409, and nothing of the first answer', async ({
    api,
    database,
  }) => {
    const { environment } = api;
    const { apiKey } = await makeKey(database.database, { environment });
    const change = { body: { name: 'Ada' }, headers: KEY };
    const first = await api.call('PUT', '/v1/users/me', change);
    expect(first.status).toBe(200);
    const headers = { ...KEY, 'x-api-key': apiKey };
    const other = await api.call('PUT', '/v1/users/me', { ...change, headers });
    expect([other.status, other.body]).toEqual([
      409,
      {
        code: 'already_exists',
        http_status_code: 409,
        message:
          'the Idempotency-Key was used for another request, or by another user; send a new one',
      },
    ]);
    const again = await api.call('PUT', '/v1/users/me', change);
    expect([again.headers.get('idempotency-replayed'), again.body]).toEqual(['true', first.body]);
  });

  test('is answered again whichever API key of its user the retry carries', async ({ api }) => {
    const secret = { name: 'rotated', type: 'private_key' };
    const { api_key: rotated } = await api.make('/v1/secrets/api/keys', secret);
    const first = await api.call('POST', '/v1/plans', { body, headers: KEY });
    const headers = { ...KEY, 'x-api-key': rotated };
    const again = await api.call('POST', '/v1/plans', { body, headers });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(again.body).toEqual(first.body);
  });

  test('takes over what died before it wrote, and never what died after', async ({
    api,
    database,
    clock,
  }) => {
    clock.set('2026-11-20T00:00:00Z');
    const options = { body: { name: 'Pro' }, headers: KEY };
    await api.call('POST', '/v1/plans', options);
    await setState(database.database, 'running');
    const busy = await api.call('POST', '/v1/plans', options);
    expect([busy.status, busy.body.code]).toEqual([409, 'version_conflict']);
    clock.set('2026-11-20T00:01:31Z');
    expect((await api.call('POST', '/v1/plans', options)).status).toBe(201);
    await setState(database.database, 'applied');
    clock.set('2026-11-20T00:10:00Z');
    const lost = await api.call('POST', '/v1/plans', options);
    expect([lost.status, lost.body.code]).toEqual([409, 'already_exists']);
    expect((await api.make('/v1/plans/search', {})).pagination.total).toBe(2);
  });

  test('is not kept for 403 and 413, ignored by reads, refused when it is malformed', async ({
    api,
    database,
  }) => {
    const large = JSON.stringify({ name: 'x', description: 'x'.repeat(2 * 1024 * 1024) });
    const tooLarge = await api.call('POST', '/v1/plans', { raw: large, headers: KEY });
    expect(tooLarge.status).toBe(413);
    const search = await api.call('POST', '/v1/plans/search', { body: {}, headers: KEY });
    expect(search.status).toBe(200);
    const keys = await ownerOf(database.database).anyFirst(
      sql.type(z.object({ key: z.string() }))`SELECT key FROM idempotency_keys`,
    );
    expect(keys).toEqual([]);
    const headers = { 'idempotency-key': 'x'.repeat(256) };
    expect((await api.call('POST', '/v1/plans', { body, headers })).status).toBe(400);
  });

  test('is free again after a failure of ours', async ({ api, database }) => {
    const run = sql.type(z.unknown());
    const options = { body: { name: 'Pro' }, headers: KEY };
    await ownerOf(database.database).query(run`ALTER TABLE plans RENAME TO gone`);
    expect((await api.call('POST', '/v1/plans', options)).status).toBe(500);
    await ownerOf(database.database).query(run`ALTER TABLE gone RENAME TO plans`);
    expect((await api.call('POST', '/v1/plans', options)).status).toBe(201);
  });
});
