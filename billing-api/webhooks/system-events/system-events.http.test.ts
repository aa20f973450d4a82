import { describe, expect } from 'vitest';
import { makeSubscription, test } from '../../testing/billing-test.js';

const PATH = '/v1/webhooks/events';
const FEATURE = { name: 'Single sign-on', type: 'boolean' };

type Listed = {
  id: string;
  sequence: number;
  event_name: string;
  entity_id: string;
  payload: Record<string, Members>;
};
type Members = Record<string, unknown>;

describe('GET /webhooks/events', () => {
  test('answers the events of changes in their order, with the record as it was then', async ({
    api,
  }) => {
    const feature = await api.make('/v1/features', FEATURE);
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const owned = { plan_id: plan.id, feature_id: feature.id };
    const entitlement = await api.make('/v1/entitlements', owned);
    const path = `/v1/entitlements/${entitlement.id}`;
    await api.call('PUT', path, { body: { is_enabled: false } });
    await api.call('DELETE', path);
    const { body } = await api.call('GET', PATH);
    expect(body).toMatchObject({ next_after: 4, has_more: false });
    const first = { id: feature.id, name: 'Single sign-on', lookup_key: 'single_sign_on' };
    expect(body.items).toMatchObject([
      {
        sequence: 1,
        event_name: 'feature.created',
        entity_id: feature.id,
        payload: { event_type: 'feature.created', feature: first },
      },
      { sequence: 2, event_name: 'entitlement.created', entity_type: 'entitlement' },
      { event_name: 'entitlement.updated', payload: { entitlement: { is_enabled: false } } },
      { event_name: 'entitlement.deleted', payload: { entitlement: { status: 'archived' } } },
    ]);
    expect(Object.keys(body.items[0].payload.feature)).toEqual([
      'id',
      'name',
      'lookup_key',
      'description',
      'type',
      'unit_singular',
      'unit_plural',
      'meter_id',
      'group_id',
      'metadata',
    ]);
    const [{ id }] = body.items;
    expect((await api.call('GET', `${PATH}/${id}`)).body).toEqual(body.items[0]);
    expect((await api.call('GET', `${PATH}/sys_event_x`)).status).toBe(404);
  });

  test('pages by number, and filters by name', async ({ api }) => {
    for (const name of ['a', 'b', 'c']) await api.make('/v1/features', { ...FEATURE, name });
    const page = (await api.call('GET', `${PATH}?limit=2`)).body;
    expect(page).toMatchObject({ next_after: 2, has_more: true });
    const rest = (await api.call('GET', `${PATH}?after=${page.next_after}`)).body;
    expect(rest.items.map(({ sequence }: Listed) => sequence)).toEqual([3]);
    const none = (await api.call('GET', `${PATH}?after=3`)).body;
    expect(none).toEqual({ items: [], next_after: 3, has_more: false });
    const deleted = (await api.call('GET', `${PATH}?event_type=feature.deleted`)).body;
    expect(deleted.items).toEqual([]);
    for (const query of ['limit=0', 'limit=1001', 'after=-1', 'after=x']) {
      expect((await api.call('GET', `${PATH}?${query}`)).status).toBe(400);
    }
  });

  test('numbers events without gaps, also when many are caused at once and some refused', async ({
    api,
  }) => {
    const names = Array.from({ length: 30 }, (_, index) => `Feature ${index % 20}`);
    const statuses = await Promise.all(
      names.map(async (name) => {
        const body = { ...FEATURE, name };
        return (await api.call('POST', '/v1/features', { body })).status;
      }),
    );
    expect(statuses.filter((status) => status === 409)).toHaveLength(10);
    const { body } = await api.call('GET', PATH);
    const numbers = body.items.map(({ sequence }: Listed) => sequence);
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  test('tells nothing of a change that changes nothing', async ({ api }) => {
    const { id: subscriptionId, customerId } = await makeSubscription(api);
    const feature = await api.make('/v1/features', { ...FEATURE, name: 'Same' });
    const wallet = await api.make('/v1/wallets', { customer_id: customerId, currency: 'usd' });
    const customer = (await api.call('GET', `/v1/customers/${customerId}`)).body;
    const told = async () => (await api.call('GET', `${PATH}?limit=1000`)).body.next_after;
    const before = await told();
    const change = async (path: string, body: object) => {
      const { status, body: answer } = await api.call('PUT', path, { body });
      expect([path, status, answer.message]).toEqual([path, 200, undefined]);
    };
    const changes = [
      [`/v1/customers/${customerId}`, { name: customer.name, metadata: customer.metadata }],
      [`/v1/features/${feature.id}`, { name: 'Same' }],
      [`/v1/wallets/${wallet.id}`, { name: wallet.name }],
      [`/v1/subscriptions/${subscriptionId}`, { metadata: {} }],
    ] as const;
    for (const [path, body] of changes) await change(path, body);
    expect(await told()).toBe(before);
    await change(`/v1/features/${feature.id}`, { name: 'Another' });
    expect(await told()).toBe(before + 1);
  });

  test('tells of a customer with its ids at other providers, and of an entitlement with its plan', async ({
    api,
  }) => {
    const mapping = { provider_type: 'crm', provider_entity_id: 'C-1' };
    const customer = await api.make('/v1/customers', {
      external_id: 'acme',
      integration_entity_mapping: [mapping],
    });
    const path = `/v1/customers/${customer.id}`;
    await api.call('PUT', path, { body: { integration_entity_mapping: null } });
    const link = { entity_type: 'customer', entity_id: customer.id, ...mapping };
    await api.make('/v1/integrations/link', link);
    await api.call('DELETE', path);
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const feature = await api.make('/v1/features', FEATURE);
    const entitlement = { feature_id: feature.id, entity_type: 'PLAN', entity_id: plan.id };
    await api.make('/v1/entitlements', entitlement);
    const events = (await api.call('GET', PATH)).body.items;
    const told = events.flatMap(({ event_name: name, payload }: Listed) =>
      name.startsWith('customer.') ? [[name, payload['customer']?.['integrations']]] : [],
    );
    expect(told).toMatchObject([
      ['customer.created', [mapping]],
      ['customer.updated', []],
      ['customer.updated', [mapping]],
      ['customer.deleted', []],
    ]);
    const members = (one: object) => Object.keys(one).sort();
    expect(members(events[0].payload.customer)).toEqual(
      members(customer).filter((name) => !name.startsWith('parent_customer')),
    );
    const [last] = events.slice(-1);
    expect(last.payload.entitlement).toMatchObject({ plan_id: plan.id });
  });

  test('tells of a subscription with its customer', async ({ api }) => {
    const { id, planId, customerId } = await makeSubscription(api);
    const { body } = await api.call('GET', PATH);
    const names = body.items.map((event: Listed) => event.event_name);
    expect(names).toEqual(['customer.created', 'subscription.created']);
    expect(body.items[1].payload).toMatchObject({
      event_type: 'subscription.created',
      subscription: { id, plan_id: planId, currency: 'usd', customer: { id: customerId } },
    });
  });
});
