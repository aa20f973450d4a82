import { describe, expect } from 'vitest';
import { sql } from 'slonik';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { noRows } from '../../sql/columns.js';
import { makeKey, makeSubscription, test } from '../testing/billing-test.js';

const ACME = {
  external_id: 'acme/1',
  name: 'Acme Ltd',
  email: 'billing@acme.example',
  address_city: 'Berlin',
  address_country: 'DE',
  timezone: 'Europe/Berlin',
  metadata: { tier: 'gold' },
};

describe('PUT /customers/{id}', () => {
  test('changes the members that are there, and clears those that are null', async ({ api }) => {
    const customer = await api.make('/v1/customers', ACME);
    const put = (body: object) => api.call('PUT', `/v1/customers/${customer.id}`, { body });
    const members = {
      name: 'Acme GmbH',
      email: 'a@b.example',
      contact: '+49 30 1',
      address_line1: 'Weg 1',
      address_line2: 'Hof',
      address_city: 'Ulm',
      address_state: 'BW',
      address_postal_code: '89073',
      address_country: 'AT',
      timezone: 'Europe/Vienna',
      metadata: { tier: 'silver' },
    };
    const changed = await put(members);
    const { updated_at: updatedAt } = changed.body;
    expect(changed.body).toEqual({ ...customer, ...members, updated_at: updatedAt });
    expect(changed.headers.get('etag')).toBe('"2"');
    const nulls = Object.fromEntries(Object.keys(members).map((name) => [name, null]));
    const cleared = await put({ ...nulls, name: 'Acme' });
    expect(cleared.body).toMatchObject({ ...nulls, name: 'Acme', metadata: {} });
    expect((await put({})).body).toMatchObject({ name: 'Acme', external_id: 'acme/1' });
  });

  test('finds the customer by your own id of it too', async ({ api }) => {
    const { id } = await api.make('/v1/customers', ACME);
    const put = (externalId: string, body: object) =>
      api.call('PUT', `/v1/customers?external_customer_id=${encodeURIComponent(externalId)}`, {
        body,
      });
    expect((await put('acme/1', { name: 'New' })).body).toMatchObject({ id, name: 'New' });
    expect((await put('acme', { name: 'X' })).status).toBe(404);
    const unnamed = await api.call('PUT', '/v1/customers', { body: { name: 'X' } });
    expect([unnamed.status, unnamed.body.code]).toEqual([400, 'validation_error']);
    await api.call('DELETE', `/v1/customers/${id}`);
    expect((await put('acme/1', { name: 'Late' })).status).toBe(404);
  });

  test('refuses what breaks a rule, naming the member, and changes nothing', async ({ api }) => {
    const customer = await api.make('/v1/customers', ACME);
    const path = `/v1/customers/${customer.id}`;
    const cases: readonly (readonly [string, object])[] = [
      ['name', { name: ' ' }],
      ['name', { name: null }],
      ['email', { email: 'nobody' }],
      ['email', { email: '' }],
      ['contact', { contact: 'x'.repeat(21) }],
      ['address_country', { address_country: 'XX' }],
      ['timezone', { timezone: 'Mars' }],
      ['metadata', { metadata: { a: {} } }],
      ['external_id', { external_id: 'other' }],
      ['tax_rate_overrides', { tax_rate_overrides: [{ tax_rate_code: 'vat', priority: -1 }] }],
    ];
    for (const [member, body] of cases) {
      const answer = await api.call('PUT', path, { body });
      expect([member, answer.status, answer.body.code]).toEqual([member, 400, 'validation_error']);
      expect(Object.keys(answer.body.details).join()).toContain(member);
    }
    const headers = { 'if-match': '"2"' };
    expect((await api.call('PUT', path, { body: { name: 'X' }, headers })).status).toBe(409);
    expect((await api.call('GET', path)).body).toEqual(customer);
  });

  test('lets one of two writers win who have seen the same version', async ({ api }) => {
    const { id } = await api.make('/v1/customers', ACME);
    const put = (name: string) =>
      api.call('PUT', `/v1/customers/${id}`, { body: { name }, headers: { 'if-match': '"1"' } });
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(put));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
    const winner = answers.find(({ status }) => status === 200);
    expect((await api.call('GET', `/v1/customers/${id}`)).body).toEqual(winner?.body);
  });

  test('answers 404 to another tenant', async ({ api, database }) => {
    const { id } = await api.make('/v1/customers', ACME);
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    const path = `/v1/customers/${id}`;
    expect((await api.call('PUT', path, { body: { name: 'X' }, headers })).status).toBe(404);
    expect((await api.call('DELETE', path, { headers })).status).toBe(404);
  });
});

describe('DELETE /customers/{id}', () => {
  test('archives the customer and frees its external id', async ({ api }) => {
    const { id } = await api.make('/v1/customers', ACME);
    const removed = await api.call('DELETE', `/v1/customers/${id}`);
    expect([removed.status, removed.body]).toEqual([204, null]);
    expect((await api.call('GET', `/v1/customers/${id}`)).body.status).toBe('archived');
    expect((await api.call('GET', '/v1/customers/external/acme%2F1')).status).toBe(404);
    expect((await api.make('/v1/customers', ACME)).id).not.toBe(id);
    expect((await api.call('DELETE', `/v1/customers/${id}`)).status).toBe(400);
    const late = await api.call('PUT', `/v1/customers/${id}`, { body: { name: 'X' } });
    expect([late.status, late.body.code]).toEqual([400, 'invalid_operation']);
  });

  test('is refused while a subscription of the customer is not cancelled', async ({
    api,
    database,
  }) => {
    const { id, customerId } = await makeSubscription(api);
    const remove = () => api.call('DELETE', `/v1/customers/${customerId}`);
    const refused = await remove();
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
    expect(refused.body.message).toContain('subscription that is not cancelled');
    await ownerOf(database.database).query(sql.type(noRows)`
      UPDATE subscriptions SET subscription_status = 'cancelled' WHERE id = ${id}`);
    expect((await remove()).status).toBe(204);
  });

  test('or a subscription of the customer wins, when both come at once', async ({ api }) => {
    const { planId } = await makeSubscription(api);
    const terms = { plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' };
    for (let round = 0; round < 5; round += 1) {
      const { id } = await api.make('/v1/customers', { external_id: `c${round}` });
      const [removed, subscribed] = await Promise.all([
        api.call('DELETE', `/v1/customers/${id}`),
        api.call('POST', '/v1/subscriptions', { body: { ...terms, customer_id: id } }),
      ]);
      const outcome = [removed.status, subscribed.status];
      expect([
        [204, 404],
        [400, 201],
      ]).toContainEqual(outcome);
    }
  });
});
