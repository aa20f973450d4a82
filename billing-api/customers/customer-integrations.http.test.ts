import { describe, expect } from 'vitest';
import { makeKey, makeSubscription, test } from '../testing/billing-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';

const CUSTOMERS = '/v1/customers';
const mapping = (provider_type: string, provider_entity_id: string) => ({
  provider_type,
  provider_entity_id,
});
const [STRIPE, ERP] = [mapping('stripe', 'cus_9'), mapping('erp', 'K-1')];

const customerWith = (api: BillingUnderTest, external_id: string, mappings: object[]) =>
  api.call('POST', CUSTOMERS, {
    body: { external_id, integration_entity_mapping: mappings },
  });

/** `erp K-1`, in the order of the answer. */
const shown = (customer: { integrations: { [member: string]: string }[] }) =>
  customer.integrations.map((one) => `${one['provider_type']} ${one['provider_entity_id']}`);

describe('integrations of a customer', () => {
  test('are answered wherever the customer is, each with its own id', async ({ api }) => {
    const { planId } = await makeSubscription(api);
    const made = (await customerWith(api, 'globex', [STRIPE, ERP])).body;
    expect(shown(made)).toEqual(['erp K-1', 'stripe cus_9']);
    expect(made.integrations[0]).toEqual({
      id: expect.stringMatching(/^eim_/),
      entity_type: 'customer',
      entity_id: made.id,
      ...ERP,
      metadata: {},
      status: 'published',
      created_at: made.created_at,
      created_by: made.created_by,
      updated_at: made.updated_at,
      updated_by: made.updated_by,
    });
    const terms = { plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' };
    const subscribed = await api.make('/v1/subscriptions', { ...terms, customer_id: made.id });
    expect(subscribed.customer).toEqual(made);
    const search = { customer_ids: [made.id] };
    expect((await api.make(`${CUSTOMERS}/search`, search)).items).toEqual([made]);
    const listed = { subscription_ids: [subscribed.id], expand: 'customer' };
    const { items } = await api.make('/v1/subscriptions/search', listed);
    expect(items[0].customer).toEqual(made);
    const preview = { subscription_id: subscribed.id };
    expect((await api.make('/v1/invoices/preview', preview)).customer).toEqual(made);
    const events = (await api.call('GET', '/v1/webhooks/events?limit=1000')).body.items;
    const created = events.find(
      (event: { event_name: string; entity_id: string }) =>
        event.event_name === 'subscription.created' && event.entity_id === subscribed.id,
    );
    // What only typed clients want is in answers alone (docs/http.md 18).
    const told = Object.entries(made).filter(([name]) => !name.startsWith('parent_customer'));
    expect(created.payload.subscription.customer).toEqual(Object.fromEntries(told));
    for (const path of [`${CUSTOMERS}/${made.id}`, `${CUSTOMERS}/external/globex`]) {
      expect((await api.call('GET', path)).body).toEqual(made);
    }
  });

  test('are replaced as a whole by a change, which keeps those that stay', async ({ api }) => {
    const { id, integrations } = (await customerWith(api, 'globex', [STRIPE, ERP])).body;
    const put = async (body: object) =>
      (await api.call('PUT', `${CUSTOMERS}/${id}`, { body })).body;
    expect((await put({ name: 'Globex' })).integrations).toEqual(integrations);
    const changed = await put({ integration_entity_mapping: [STRIPE, mapping('tax', 'T')] });
    expect(shown(changed)).toEqual(['stripe cus_9', 'tax T']);
    expect(changed.integrations[0]).toEqual(integrations[1]);
    const other = await put({ integration_entity_mapping: [mapping('stripe', 'cus_10')] });
    expect(shown(other)).toEqual(['stripe cus_10']);
    expect((await put({ integration_entity_mapping: null })).integrations).toEqual([]);
    const trail = await api.make('/v1/audit/search', { entity_type: 'integration_mapping' });
    const actions = trail.items.map(({ action }: { action: string }) => action);
    expect(actions.toSorted()).toEqual([
      'archived',
      'archived',
      'archived',
      'archived',
      'created',
      'created',
      'created',
      'created',
    ]);
  });

  test('name an entity of a provider once, and changing nothing when it is taken', async ({
    api,
    database,
  }) => {
    const { id } = (await customerWith(api, 'globex', [STRIPE])).body;
    const taken = await customerWith(api, 'other', [ERP, STRIPE]);
    expect([taken.status, taken.body.code]).toEqual([409, 'already_exists']);
    expect(Object.keys(taken.body.details)).toEqual(['integration_entity_mapping']);
    expect((await api.call('GET', `${CUSTOMERS}/external/other`)).status).toBe(404);
    const other = (await customerWith(api, 'other', [ERP])).body;
    const body = { name: 'New', integration_entity_mapping: [STRIPE] };
    const refused = await api.call('PUT', `${CUSTOMERS}/${other.id}`, { body });
    expect([refused.status, refused.body.code]).toEqual([409, 'already_exists']);
    expect((await api.call('GET', `${CUSTOMERS}/${other.id}`)).body).toEqual(other);
    const { apiKey } = await makeKey(database.database, {});
    const elsewhere = await api.call('POST', CUSTOMERS, {
      body: { external_id: 'globex', integration_entity_mapping: [STRIPE] },
      headers: { 'x-api-key': apiKey },
    });
    expect(elsewhere.status).toBe(201);
    await api.call('DELETE', `${CUSTOMERS}/${id}`);
    expect((await api.call('PUT', `${CUSTOMERS}/${other.id}`, { body })).status).toBe(200);
  });

  test('of ten customers that want the same one, one gets it', async ({ api }) => {
    const names = Array.from({ length: 10 }, (_, n) => `c${n}`);
    const answers = await Promise.all(names.map((name) => customerWith(api, name, [STRIPE])));
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
    const { items } = await api.make(`${CUSTOMERS}/search`, {});
    expect(items.map(shown)).toEqual([['stripe cus_9']]);
  });

  test('are refused with two of one type, empty names, and more than 100', async ({ api }) => {
    const cases = [
      [[STRIPE, mapping('stripe', 'cus_10')], 'integration_entity_mapping'],
      [[mapping(' ', 'x')], 'integration_entity_mapping.0.provider_type'],
      [[ERP, mapping('x', ' ')], 'integration_entity_mapping.1.provider_entity_id'],
      [[mapping('x'.repeat(256), 'x')], 'integration_entity_mapping'],
      [[mapping('x', 'x'.repeat(256))], 'integration_entity_mapping'],
    ] as const;
    const made = (await customerWith(api, 'made', [])).body;
    for (const [mappings, member] of cases) {
      const refused = await customerWith(api, 'globex', [...mappings]);
      expect([member, refused.status]).toEqual([member, 400]);
      expect(Object.keys(refused.body.details).join()).toContain(member);
      const body = { integration_entity_mapping: mappings };
      expect((await api.call('PUT', `${CUSTOMERS}/${made.id}`, { body })).status).toBe(400);
    }
    const many = Array.from({ length: 101 }, (_, n) => mapping(`type ${n}`, 'x'));
    expect((await customerWith(api, 'globex', many)).status).toBe(400);
    expect((await customerWith(api, 'globex', many.slice(1))).status).toBe(201);
    const longest = [mapping('x'.repeat(255), 'x'.repeat(255))];
    expect((await customerWith(api, 'longest', longest)).status).toBe(201);
  });
});
