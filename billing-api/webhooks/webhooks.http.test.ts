import { sql } from 'slonik';
import { Webhook } from 'standardwebhooks';
import { describe, expect } from 'vitest';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { noRows } from '../../sql/columns.js';
import { occasionOfRun } from '../jobs/job-needs.js';
import { billingNeeds } from '../testing/bill-environment.js';
import { test as billedTest } from '../testing/billed-test.js';
import { expectRefused, type Answer } from '../testing/money-test.js';
import { startReceiver, type Received, type Receiver } from '../testing/webhook-receiver.js';
import { deliverTo } from './delivery/deliver.js';
import { urlProblem } from './endpoints/endpoint-url.js';

const PATH = '/v1/webhooks/endpoints';

type World = {
  readonly receiver: Receiver;
  readonly endpoint: (members?: object) => Promise<Answer>;
  /** Delivers what is due to an endpoint. */
  readonly deliver: (endpoint: Answer) => Promise<boolean>;
  /** Makes all waiting deliveries due now. */
  readonly wait: () => Promise<void>;
  readonly deliveries: (endpoint: Answer) => Promise<Answer>;
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, database, clickhouse }, use) => {
    const receiver = await startReceiver();
    const { environment } = api;
    const engines = { database: database.database, clickHouse: clickhouse.client, environment };
    const needs = billingNeeds(engines);
    const run = { job: 'deliver-webhooks', runId: 'run', environment: null, now: 0 };
    await use({
      receiver,
      endpoint: (members = {}) => api.make(PATH, { url: receiver.url, ...members }),
      deliver: ({ id }) => {
        const { signal } = new AbortController();
        const occasion = occasionOfRun(run, environment);
        return deliverTo(needs, occasion, { endpointId: id, signal });
      },
      wait: async () => {
        await ownerOf(database.database).query(sql.type(noRows)`
          UPDATE webhook_deliveries SET next_attempt_at = now() - interval '1 second'
          WHERE delivery_status = 'pending'`);
      },
      deliveries: async ({ id }) =>
        (await api.call('GET', `/v1/webhooks/deliveries?endpoint_id=${id}&order=asc`)).body.items,
    });
    await receiver.close();
  },
});

const verify = (secret: string, { body, headers }: Received): Answer =>
  new Webhook(secret).verify(body, headers as Record<string, string>);

describe('a webhook endpoint', () => {
  test('gets what happens after it was made, signed, in order, once', async ({ api, world }) => {
    await api.make('/v1/customers', { external_id: 'before' });
    const endpoint = await world.endpoint();
    await api.make('/v1/customers', { external_id: 'acme', name: 'Ünïcode ✓' });
    await api.make('/v1/customers', { external_id: 'other' });
    await world.deliver(endpoint);
    await world.deliver(endpoint);
    const { received } = world.receiver;
    const told = received.map((one) => verify(endpoint.secret, one));
    expect(told.map((one) => [one.event_type, one.customer.external_id])).toEqual([
      ['customer.created', 'acme'],
      ['customer.created', 'other'],
    ]);
    const { items } = (await api.call('GET', '/v1/webhooks/events?after=1')).body;
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual(
      items.map((one: Answer) => one.id),
    );
    expect(received.map(({ headers }) => headers['webhook-sequence'])).toEqual(['2', '3']);
    expect(items.every((one: Answer) => one.published_at !== null)).toBe(true);
    expect(await world.deliveries(endpoint)).toMatchObject([
      { delivery_status: 'delivered', attempts: [{ status_code: 200, error: null }] },
      { delivery_status: 'delivered', next_attempt_at: null },
    ]);
  });

  test('gets only the events it asks for, and nothing while it is disabled', async ({
    api,
    world,
  }) => {
    const endpoint = await world.endpoint({ event_types: ['customer.updated'] });
    const customer = await api.make('/v1/customers', { external_id: 'acme' });
    const body = { name: 'Acme' };
    await api.call('PUT', `${PATH}/${endpoint.id}`, { body: { enabled: false } });
    await api.call('PUT', `/v1/customers/${customer.id}`, { body });
    await world.deliver(endpoint);
    expect(world.receiver.received).toEqual([]);
    await api.call('PUT', `${PATH}/${endpoint.id}`, { body: { enabled: true } });
    await world.deliver(endpoint);
    const [first, ...others] = world.receiver.received;
    expect(JSON.parse(first?.body ?? '')).toMatchObject({ event_type: 'customer.updated' });
    expect(others).toEqual([]);
  });

  test('is sent the same bytes with the same id again until it takes them', async ({
    api,
    world,
  }) => {
    const endpoint = await world.endpoint();
    world.receiver.behave = () => ({ status: 500, body: 'not now'.repeat(1000) });
    await api.make('/v1/customers', { external_id: 'acme' });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await world.deliver(endpoint);
      await world.deliver(endpoint);
      await world.wait();
    }
    world.receiver.behave = () => ({ status: 204 });
    await world.deliver(endpoint);
    const { received } = world.receiver;
    expect(received).toHaveLength(4);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    for (const one of received) verify(endpoint.secret, one);
    const [delivery] = await world.deliveries(endpoint);
    expect(delivery).toMatchObject({ delivery_status: 'delivered' });
    expect(delivery.attempts.map((one: Answer) => one.status_code)).toEqual([500, 500, 500, 204]);
    expect(delivery.attempts[0].response_excerpt).toHaveLength(1000);
    const { body } = await api.call('GET', `/v1/webhooks/events/${delivery.event_id}`);
    expect(body).toMatchObject({ failure_count: 3, failure_reason: 'the receiver answered 500' });
  });

  test('gives up after ten attempts, and can be sent to again by hand', async ({ api, world }) => {
    const endpoint = await world.endpoint();
    world.receiver.behave = () => ({ status: 302, location: world.receiver.url });
    await api.make('/v1/customers', { external_id: 'acme' });
    for (let attempt = 0; attempt < 12; attempt += 1) {
      await world.deliver(endpoint);
      await world.wait();
    }
    // No redirect was followed either.
    expect(world.receiver.received).toHaveLength(10);
    const [delivery] = await world.deliveries(endpoint);
    expect(delivery).toMatchObject({ delivery_status: 'failed', next_attempt_at: null });
    world.receiver.behave = () => ({ status: 200 });
    const again = await api.call('POST', `/v1/webhooks/deliveries/${delivery.id}/resend`);
    expect(again).toMatchObject({ status: 202, body: { delivery_status: 'pending' } });
    await world.deliver(endpoint);
    expect(await world.deliveries(endpoint)).toMatchObject([{ delivery_status: 'delivered' }]);
    const body = { system_event_id: delivery.event_id };
    const retried = await api.call('POST', '/v1/webhooks/retry', { body });
    expect(retried).toMatchObject({ status: 202, body: { success: true } });
    await world.deliver(endpoint);
    expect(world.receiver.received).toHaveLength(12);
  });

  test('that answers 410 is disabled, and says so', async ({ api, world }) => {
    const endpoint = await world.endpoint();
    world.receiver.behave = () => ({ status: 410 });
    await api.make('/v1/customers', { external_id: 'acme' });
    await world.deliver(endpoint);
    expect((await api.call('GET', `${PATH}/${endpoint.id}`)).body).toMatchObject({
      enabled: false,
      disabled_reason: expect.stringMatching(/410/),
    });
    expect(await world.deliveries(endpoint)).toMatchObject([{ delivery_status: 'failed' }]);
  });

  test('signs with both secrets for a day after a rotation', async ({ api, database, world }) => {
    const endpoint = await world.endpoint();
    const { body } = await api.call('POST', `${PATH}/${endpoint.id}/rotate_secret`);
    const send = async (externalId: string): Promise<Received> => {
      await api.make('/v1/customers', { external_id: externalId });
      await world.deliver(endpoint);
      return world.receiver.received.at(-1) ?? { headers: {}, body: '' };
    };
    const during = await send('during');
    verify(endpoint.secret, during);
    verify(body.secret, during);
    await ownerOf(database.database).query(sql.type(noRows)`
      UPDATE webhook_endpoints SET previous_until = now() - interval '1 second'`);
    const after = await send('after');
    verify(body.secret, after);
    expect(() => verify(endpoint.secret, after)).toThrow();
    const answers = JSON.stringify([
      (await api.call('GET', PATH)).body,
      await api.make('/v1/audit/search', { entity_id: endpoint.id }),
    ]);
    expect(answers).not.toContain('whsec_');
  });

  test('is sent again what was on its way when the sender was killed', async ({ api, world }) => {
    const endpoint = await world.endpoint();
    await api.make('/v1/customers', { external_id: 'acme' });
    world.receiver.behave = () => ({ status: 200, waitMs: 300 });
    const killed = world.deliver(endpoint);
    // Another process takes over while the first has sent and not noted.
    await world.deliver(endpoint);
    await killed;
    const ids = world.receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(ids.length).toBeGreaterThanOrEqual(1);
    expect(new Set(ids).size).toBe(1);
    expect(await world.deliveries(endpoint)).toMatchObject([{ delivery_status: 'delivered' }]);
  });

  test('does not wait for one that hangs', async ({ api, world }) => {
    const slow = await startReceiver();
    slow.behave = () => ({ status: 200, waitMs: 1_500 });
    const hanging = await world.endpoint({ url: slow.url });
    const quick = await world.endpoint();
    await api.make('/v1/customers', { external_id: 'acme' });
    const delivering = world.deliver(hanging);
    await world.deliver(quick);
    expect(await world.deliveries(quick)).toMatchObject([{ delivery_status: 'delivered' }]);
    expect(await world.deliveries(hanging)).toMatchObject([{ delivery_status: 'pending' }]);
    await delivering;
    await slow.close();
  });

  test('can be tested with a sample', async ({ api, world }) => {
    const endpoint = await world.endpoint();
    const test = (body: object) => api.call('POST', `${PATH}/${endpoint.id}/test`, { body });
    const tested = await test({});
    expect(tested.body).toMatchObject({ event_id: null, delivery_status: 'delivered' });
    const [sample] = world.receiver.received;
    expect(verify(endpoint.secret, sample ?? { headers: {}, body: '' })).toMatchObject({
      event_type: 'invoice.update.finalized',
      invoice: { total: '122.00' },
    });
    expect((await test({ event_type: 'wallet.created' })).body.message).toMatch(
      /no wallet.created has happened yet/,
    );
    const path = `/v1/webhooks/deliveries/${tested.body.id}`;
    expect((await api.call('GET', path)).body).toEqual(tested.body);
    expect((await api.call('POST', `${path}/resend`)).body.message).toMatch(/a test has no event/);
  });

  test('is refused with the member and the remedy', async ({ api, world: _ }) => {
    await expectRefused(
      (body) => api.call('POST', PATH, { body }),
      [
        [{ url: 'nowhere' }, /url.*http or https/],
        [{ url: 'ftp://example.com' }, /url.*http or https/],
        [{ url: 'https://user:pass@example.com' }, /url.*no user/],
        [{ url: 'https://example.com', event_types: [] }, /event_types/],
      ],
    );
  });
});

describe('the address of an endpoint', () => {
  test.for([
    ['http://93.184.215.14/hook', /https/],
    ['https://127.0.0.1/hook', /public/],
    ['https://localhost/hook', /public/],
    ['https://[::1]/hook', /public/],
    ['https://[::ffff:10.0.0.1]/hook', /public/],
    ['https://169.254.169.254/latest', /public/],
    ['https://2130706433/hook', /public/],
    ['https://0x7f.1/hook', /public/],
  ] as const)('%s is refused where private ones are', async ([url, problem]) => {
    expect(await urlProblem(url, false)).toMatch(problem);
  });

  test('that is public is taken', async () => {
    expect(await urlProblem('https://93.184.215.14/hook', false)).toBeNull();
  });
});
