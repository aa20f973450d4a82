import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import type { UsageEvent } from '../../contract/usage-event.js';
import { createApiKey, hashApiKey } from '../../sql/api-key.js';
import type { Database } from '../../sql/pool.js';
import { ingestTest as test, startTestIngest, type TestIngest } from '../testing/ingest-harness.js';

const EVENT = { event_name: 'call', external_customer_id: 'acme' };
const BULK = { path: '/v1/events/bulk' };
const nothing = sql.type(z.unknown());

function single(members: Record<string, unknown> = {}): string {
  return JSON.stringify({ ...EVENT, ...members });
}

function bulk(...events: readonly unknown[]): string {
  return JSON.stringify({ events });
}

const idsOf = (events: readonly UsageEvent[]): string[] => events.map((event) => event.eventId);

async function rejectedCount(ingest: TestIngest, code: string): Promise<number> {
  const { values } = await ingest.metrics.eventsRefused.get();
  return values.find((value) => value.labels.code === code)?.value ?? 0;
}

async function acceptedCount(ingest: TestIngest): Promise<number> {
  return (await ingest.metrics.eventsAccepted.get()).values[0]?.value ?? 0;
}

describe('POST /v1/events answers 202', () => {
  test('with the id, and the event is in the log by then', async ({ ingest }) => {
    const body =
      '{"event_name":" call ","external_customer_id":"acme","event_id":"e 1","properties":{"v":1.50}}';
    const reply = await ingest.send(body);
    expect(reply).toMatchObject({
      status: 202,
      body: { message: 'event accepted', event_id: 'e 1' },
    });
    expect(await ingest.stored()).toMatchObject([
      { eventId: 'e 1', eventName: 'call', properties: { v: '1.50' }, isTimestampGiven: false },
    ]);
    expect(await acceptedCount(ingest)).toBe(1);
  });

  test('with a new id each time when the event has none', async ({ ingest }) => {
    const replies = [await ingest.send(single()), await ingest.send(single())];
    const ids = replies.map((reply) => (reply.body as { event_id: string }).event_id);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^event_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    expect(idsOf(await ingest.stored()).sort()).toEqual([...ids].sort());
  });

  test('with the same id for the same Idempotency-Key, and another for another', async ({
    ingest,
  }) => {
    const idOf = async (key: string, path?: string): Promise<string> => {
      const reply = await ingest.send(path === undefined ? single() : bulk(EVENT), {
        headers: { 'idempotency-key': key },
        path: path ?? '/v1/events',
      });
      const body = reply.body as { event_id?: string; items?: { event_id: string }[] };
      return body.event_id ?? body.items?.[0]?.event_id ?? '';
    };
    const first = await idOf('key 1');
    expect(first).toMatch(/^event_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    expect(await idOf('key 1')).toBe(first);
    expect(await idOf('key 1', '/v1/events/bulk')).toBe(first);
    expect(await idOf('key 2')).not.toBe(first);
  });

  test('and ignores other query parameters', async ({ ingest }) => {
    expect(await ingest.send(single(), { path: '/v1/events?x=1' })).toMatchObject({ status: 202 });
  });

  test('to a publishable key', async ({ ingest, database }) => {
    const apiKey = createApiKey('publishable_key');
    const { environment, userId } = ingest.tenant;
    await ownerOf(database.database).query(nothing`
      INSERT INTO secrets (id, tenant_id, environment_id, user_id, name, type, key_hash, display_id)
      VALUES ('secret_pk', ${environment.tenantId}, ${environment.environmentId}, ${userId},
              'browser', 'publishable_key', ${sql.binary(hashApiKey(apiKey))}, 'pk')`);
    expect(await ingest.send(single(), { apiKey })).toMatchObject({ status: 202 });
  });
});

describe('every answer', () => {
  test('echoes a printable X-Request-ID and replaces any other', async ({ ingest }) => {
    const idFor = async (id: string): Promise<unknown> =>
      (await ingest.send(single(), { headers: { 'x-request-id': id } })).headers['x-request-id'];
    expect(await idFor('abc 1')).toBe('abc 1');
    expect(await idFor('x'.repeat(128))).toBe('x'.repeat(128));
    expect(await idFor('x'.repeat(129))).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idFor('é')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('says how much is left of the quota', async ({ database }) => {
    const ingest = await startTestIngest(database, { requestsPerSecond: 5 });
    const { headers } = await ingest.send('nonsense');
    expect(headers['ratelimit-policy']).toBe('"ingest";q=5;w=1');
    expect(headers['ratelimit']).toBe('"ingest";r=4;t=1');
    await ingest.close();
  });
});

describe('POST /v1/events/bulk answers 202', () => {
  test('with one item per event in request order, invalid ones rejected', async ({ ingest }) => {
    const reply = await ingest.send(
      bulk(
        { ...EVENT, event_id: 'a' },
        { ...EVENT, event_id: 'b', value: 1 },
        { ...EVENT, event_id: 'c' },
        7,
      ),
      BULK,
    );
    const rejected = { status: 'rejected', code: 'validation_error' };
    const accepted = { status: 'accepted', code: null, message: null };
    expect(reply).toMatchObject({
      status: 202,
      body: {
        message: '2 of 4 events accepted',
        items: [
          { ...accepted, event_id: 'a' },
          { ...rejected, event_id: 'b', message: expect.stringContaining('value') as string },
          { ...accepted, event_id: 'c' },
          { ...rejected, event_id: null, message: expect.stringContaining('object') as string },
        ],
      },
    });
    expect(idsOf(await ingest.stored()).sort()).toEqual(['a', 'c']);
    expect(await acceptedCount(ingest)).toBe(2);
    expect(await rejectedCount(ingest, 'validation_error')).toBe(2);
  });

  test('even when no event is valid, and stores nothing', async ({ ingest }) => {
    expect(await ingest.send(bulk({}), BULK)).toMatchObject({
      status: 202,
      body: { message: '0 of 1 events accepted', items: [{ status: 'rejected' }] },
    });
    expect(await ingest.stored()).toEqual([]);
  });

  test('and stores two events with one id in their order', async ({ ingest }) => {
    const copies = ['first', 'second'].map((source) => ({ ...EVENT, event_id: 'same', source }));
    await ingest.send(bulk({ ...EVENT, event_id: 'x' }, ...copies), BULK);
    const stored = (await ingest.stored()).filter((event) => event.eventId === 'same');
    expect(stored.map((event) => event.source)).toEqual(['first', 'second']);
  });

  test('to atomic=true when every event is valid', async ({ ingest }) => {
    const path = '/v1/events/bulk?atomic=true';
    expect(await ingest.send(bulk(EVENT, EVENT), { path })).toMatchObject({ status: 202 });
    expect(await ingest.stored()).toHaveLength(2);
  });

  test('for 1000 events', async ({ ingest }) => {
    const reply = await ingest.send(bulk(...Array.from({ length: 1000 }, () => EVENT)), BULK);
    expect(reply).toMatchObject({ status: 202, body: { message: '1000 of 1000 events accepted' } });
    expect(new Set(idsOf(await ingest.stored())).size).toBe(1000);
  });
});

describe('400 validation_error', () => {
  test('for atomic=true names every invalid event, and nothing is stored', async ({ ingest }) => {
    const events = bulk({ ...EVENT, event_id: 'a' }, {}, EVENT, { ...EVENT, timestamp: 'x' });
    const reply = await ingest.send(events, { path: '/v1/events/bulk?atomic=true' });
    expect(reply).toMatchObject({
      status: 400,
      body: { code: 'validation_error', http_status_code: 400 },
    });
    const { details } = reply.body as { details: Record<string, string> };
    expect(Object.keys(details)).toEqual(['events[1]', 'events[3]']);
    expect(details['events[3]']).toContain('timestamp');
    expect(await ingest.stored()).toEqual([]);
  });

  test.for([
    ['an invalid event', single({ event_name: '' }), {}, 'event_name'],
    ['an unknown member', single({ amount: 1 }), {}, 'amount'],
    ['a null property', single({ properties: { a: null } }), {}, 'properties.a'],
    ['no body', '', {}, 'body'],
    ['broken JSON', '{"event_name":}', {}, 'body'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}, 'body'],
    ['a byte order mark', `\ufeff${single()}`, {}, 'body'],
    ['no content type', single(), { headers: { 'content-type': '' } }, 'Content-Type'],
    ['text/plain', single(), { headers: { 'content-type': 'text/plain' } }, 'Content-Type'],
    [
      'another character set',
      single(),
      { headers: { 'content-type': 'application/json; charset=latin1' } },
      'Content-Type',
    ],
    ['brotli', single(), { headers: { 'content-encoding': 'br' } }, 'Content-Encoding'],
    [
      'an empty idempotency key',
      single(),
      { headers: { 'idempotency-key': '' } },
      'Idempotency-Key',
    ],
    [
      'a long idempotency key',
      single(),
      { headers: { 'idempotency-key': 'x'.repeat(256) } },
      'Idempotency-Key',
    ],
    ['no events', bulk(), BULK, 'events'],
    ['a list as envelope', '[]', BULK, 'body'],
    ['a member beside events', '{"events":[],"atomic":true}', BULK, 'atomic'],
    ['a bad atomic', bulk(EVENT), { path: '/v1/events/bulk?atomic=yes' }, 'atomic'],
    ['1001 events', bulk(...Array.from({ length: 1001 }, () => EVENT)), BULK, 'events'],
  ] as const)('answers %s and names the place', async ([, body, sending, member], { ingest }) => {
    const reply = await ingest.send(body, sending);
    expect(reply).toMatchObject({
      status: 400,
      body: { code: 'validation_error', http_status_code: 400 },
    });
    const { details, message } = reply.body as { details: object; message: string };
    expect(Object.keys(details)).toEqual([member]);
    expect(message).toContain(member);
    expect(await ingest.stored()).toEqual([]);
  });

  test('says where the JSON is invalid', async ({ ingest }) => {
    const { body } = await ingest.send('{"event_name":}');
    expect(body).toMatchObject({ message: expect.stringContaining('position 14') as string });
  });

  test('is not answered to a content type in upper case or with parameters', async ({ ingest }) => {
    for (const type of [
      'Application/JSON',
      'application/json;charset=UTF-8',
      'application/json ;v=1',
    ]) {
      const reply = await ingest.send(single(), { headers: { 'content-type': type } });
      expect(reply.status).toBe(202);
    }
  });
});

describe('401 permission_denied', () => {
  test.for([
    ['no key', null, {}],
    ['an empty key', '', {}],
    ['an unknown key', `sk_${'U'.repeat(40)}`, {}],
    ['a key of another form', 'secret', {}],
    ['a bearer token', null, { authorization: 'Bearer abc' }],
  ] as const)('answers %s', async ([, apiKey, headers], { ingest }) => {
    const reply = await ingest.send(single(), { apiKey, headers });
    expect(reply).toMatchObject({
      status: 401,
      body: { code: 'permission_denied', http_status_code: 401 },
    });
    expect(await ingest.stored()).toEqual([]);
  });

  test('is not answered when a valid key comes with a bearer token', async ({ ingest }) => {
    const reply = await ingest.send(single(), { headers: { authorization: 'Bearer abc' } });
    expect(reply.status).toBe(202);
  });
});

async function suspend(database: Database): Promise<void> {
  await ownerOf(database).query(nothing`UPDATE tenants SET status = 'suspended'`);
}

describe('403 permission_denied', () => {
  test('answers a suspended tenant', async ({ ingest, database }) => {
    await suspend(database.database);
    expect(await ingest.send(single())).toMatchObject({
      status: 403,
      body: { code: 'permission_denied', http_status_code: 403 },
    });
    expect(await ingest.stored()).toEqual([]);
  });

  test('answers a key that may only read', async ({ ingest, database }) => {
    const setRoles = (roles: string): Promise<unknown> =>
      ownerOf(database.database).query(nothing`UPDATE users SET roles = ARRAY[${roles}]`);
    await setRoles('event_reader');
    expect(await ingest.send(single())).toMatchObject({ status: 403 });
  });
});

describe('404 not_found', () => {
  test.for([
    ['POST', '/v1/events/'],
    ['POST', '/v1/eventsx'],
    ['POST', '/v2/events'],
  ] as const)('answers %s %s behind the event routes', async ([method, path], { ingest }) => {
    expect(await ingest.send('', { method, path })).toMatchObject({
      status: 404,
      body: { code: 'not_found', http_status_code: 404 },
    });
  });
});

describe('405 invalid_operation', () => {
  test.for([
    ['GET', '/v1/events', 'POST'],
    ['PUT', '/v1/events/bulk', 'POST'],
    ['DELETE', '/v1/events', 'POST'],
    ['POST', '/livez', 'GET, HEAD'],
  ] as const)(
    'answers %s %s and says what is possible',
    async ([method, path, allow], { ingest }) => {
      expect(await ingest.send('', { method, path })).toMatchObject({
        status: 405,
        body: { code: 'invalid_operation', http_status_code: 405 },
        headers: { allow },
      });
      expect(await ingest.stored()).toEqual([]);
    },
  );
});

describe('429 too_many_requests', () => {
  test('answers requests above the quota of the tenant, with Retry-After', async ({ database }) => {
    const ingest = await startTestIngest(database, { requestsPerSecond: 3 });
    const keys = [{}, { apiKey: await ingest.makeSiblingKey() }];
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, at) => ingest.send(single(), keys[at % 2])),
    );
    const rejected = replies.filter((reply) => reply.status === 429);
    expect(rejected.length).toBeGreaterThanOrEqual(2);
    expect(rejected[0]).toMatchObject({
      body: { code: 'too_many_requests', http_status_code: 429 },
      headers: { 'retry-after': '1', ratelimit: '"ingest";r=0;t=1' },
    });
    expect(await ingest.stored()).toHaveLength(replies.length - rejected.length);
    expect(await rejectedCount(ingest, 'too_many_requests')).toBe(rejected.length);
    await ingest.close();
  });

  test('is never answered, nor a rate announced, without a limit', async ({ database }) => {
    const ingest = await startTestIngest(database, { requestsPerSecond: 0 });
    const replies = await Promise.all(Array.from({ length: 8 }, () => ingest.send(single())));
    expect(replies.map((reply) => reply.status)).toEqual(Array(8).fill(202));
    for (const { headers } of replies) expect(headers).not.toHaveProperty('ratelimit');
    for (const { headers } of replies) expect(headers).not.toHaveProperty('ratelimit-policy');
    await ingest.close();
  });
});
