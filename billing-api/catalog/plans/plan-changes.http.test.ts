import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { noRows } from '../../../sql/columns.js';
import { makeKey, makeSubscription, test } from '../../testing/billing-test.js';

type Record = { id: string };

/** What a copy has of its own. */
const OWN = ['id', 'created_at', 'updated_at', 'entity_id', 'plan_id', 'lookup_key', 'sequence'];

function copied(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !OWN.includes(name)));
}

describe('DELETE /plans/{id}', () => {
  test('archives the plan and frees its key', async ({ api }) => {
    const plan = { name: 'Pro', lookup_key: 'pro' };
    const { id } = await api.make('/v1/plans', plan);
    const removed = await api.call('DELETE', `/v1/plans/${id}`);
    expect([removed.status, removed.body]).toEqual([200, { message: `plan ${id} is archived` }]);
    expect((await api.call('GET', `/v1/plans/${id}`)).body.status).toBe('archived');
    expect((await api.call('POST', '/v1/plans', { body: plan })).status).toBe(201);
    expect((await api.call('DELETE', `/v1/plans/${id}`)).status).toBe(400);
    const price = { entity_id: id, currency: 'usd', amount: '1' };
    expect((await api.call('POST', '/v1/prices', { body: price })).status).toBe(404);
  });

  test('is refused while a subscription of the plan is not cancelled', async ({
    api,
    database,
  }) => {
    const { id, planId } = await makeSubscription(api);
    const remove = () => api.call('DELETE', `/v1/plans/${planId}`);
    const refused = await remove();
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
    expect(refused.body.message).toContain('subscription that is not cancelled');
    await ownerOf(database.database).query(sql.type(noRows)`
      UPDATE subscriptions SET subscription_status = 'cancelled' WHERE id = ${id}`);
    expect((await remove()).status).toBe(200);
  });

  test('or a price or a subscription of the plan wins, when they come at once', async ({ api }) => {
    const { planId, customerId } = await makeSubscription(api);
    for (let round = 0; round < 5; round += 1) {
      const { id } = await api.make(`/v1/plans/${planId}/clone`, {});
      const terms = { plan_id: id, currency: 'usd', billing_period: 'MONTHLY' };
      const price = { entity_id: id, currency: 'usd', amount: '1' };
      const [removed, subscribed, priced] = await Promise.all([
        api.call('DELETE', `/v1/plans/${id}`),
        api.call('POST', '/v1/subscriptions', { body: { ...terms, customer_id: customerId } }),
        api.call('POST', '/v1/prices', { body: price }),
      ]);
      expect([
        [200, 404],
        [400, 201],
      ]).toContainEqual([removed.status, subscribed.status]);
      expect([201, 404]).toContain(priced.status);
    }
  });
});

describe('POST /plans/{id}/clone', () => {
  test('copies what a new subscription would get, and nothing that has ended', async ({
    api,
    clock,
  }) => {
    clock.set('2026-01-01T00:00:00Z');
    const { planId, meterId } = await makeSubscription(api);
    const owned = { entity_id: planId, currency: 'usd' };
    const tiers = [
      { up_to: 10, unit_amount: '1' },
      { unit_amount: '0.5', flat_amount: '3' },
    ];
    await api.make('/v1/prices', { ...owned, meter_id: meterId, tiers, lookup_key: 'tiered' });
    await api.make('/v1/prices', { ...owned, amount: '9', end_date: '2026-02-01T00:00:00Z' });
    const flag = await api.make('/v1/features', { name: 'Flag', type: 'boolean' });
    const kept = await api.make('/v1/entitlements', { plan_id: planId, feature_id: flag.id });
    const gone = await api.make('/v1/entitlements', {
      plan_id: planId,
      feature_id: flag.id,
      is_additional: true,
    });
    await api.call('DELETE', `/v1/entitlements/${gone.id}`);
    clock.set('2026-02-01T00:00:00Z');
    await api.call('PUT', `/v1/plans/${planId}`, {
      body: { description: 'All of it', display_order: 4, metadata: { tier: 'gold', team: 'a' } },
    });
    const source = (await api.call('GET', `/v1/plans/${planId}`)).body;
    const path = `/v1/plans/${planId}/clone`;
    const { status, body, headers } = await api.call('POST', path, {
      body: { metadata: { team: 'b' } },
    });
    expect([status, headers.get('etag')]).toEqual([201, '"1"']);
    expect(body).toMatchObject({
      name: 'Pro (copy)',
      lookup_key: null,
      description: 'All of it',
      display_order: 4,
      metadata: { tier: 'gold', team: 'b', source_plan_id: planId },
    });
    expect(body.prices).toHaveLength(2);
    expect(body.prices.map(copied)).toEqual(source.prices.map(copied));
    for (const price of body.prices) {
      expect(price).toMatchObject({ entity_id: body.id, lookup_key: null });
    }
    expect(body.entitlements.map(copied)).toEqual([copied(source.entitlements[0])]);
    expect(body.entitlements[0].id).not.toBe(kept.id);
    expect((await api.call('GET', `/v1/plans/${body.id}`)).body).toEqual(body);
    expect((await api.call('GET', `/v1/plans/${planId}`)).body).toEqual(source);
    // Its own prices are numbered on from the copies.
    const added = await api.make('/v1/prices', { ...owned, entity_id: body.id, amount: '2' });
    const ids = (await api.call('GET', `/v1/plans/${body.id}`)).body.prices.map(
      ({ id }: Record) => id,
    );
    expect(ids).toEqual([...body.prices.map(({ id }: Record) => id), added.id]);
  });

  test('takes the members of the request, and refuses a taken key, keeping nothing', async ({
    api,
    database,
  }) => {
    const { planId } = await makeSubscription(api);
    const clone = (body: object, headers = {}) =>
      api.call('POST', `/v1/plans/${planId}/clone`, { body, headers });
    const body = { name: 'B', lookup_key: 'b', description: 'Other', display_order: 1 };
    expect((await clone(body)).body).toMatchObject(body);
    const { pagination } = await api.make('/v1/prices/search', {});
    expect((await clone(body)).status).toBe(409);
    expect((await clone({ name: ' ' })).status).toBe(400);
    expect((await api.make('/v1/prices/search', {})).pagination).toEqual(pagination);
    const { apiKey } = await makeKey(database.database, {});
    expect((await clone({}, { 'x-api-key': apiKey })).status).toBe(404);
    const empty = await api.make('/v1/plans', { name: 'Empty' });
    await api.call('DELETE', `/v1/plans/${empty.id}`);
    const late = await api.call('POST', `/v1/plans/${empty.id}/clone`, { body: {} });
    expect([late.status, late.body.code]).toEqual([400, 'invalid_operation']);
  });
});
