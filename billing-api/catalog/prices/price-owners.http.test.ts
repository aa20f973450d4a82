import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { noRows } from '../../../sql/columns.js';
import { makeSubscription, test } from '../../testing/billing-test.js';

describe('a price of one subscription', () => {
  test('is stored for it, numbered on from its own prices, and attached to nothing', async ({
    api,
  }) => {
    const { id, priceId } = await makeSubscription(api, {});
    const before = (await api.call('GET', `/v1/subscriptions/${id}`)).body;
    const price = { subscription_id: id, currency: 'USD', amount: '5' };
    const first = await api.make('/v1/prices', price);
    const second = await api.make('/v1/prices', {
      ...price,
      subscription_id: undefined,
      entity_id: id,
    });
    expect([first, second]).toMatchObject([
      { entity_type: 'SUBSCRIPTION', entity_id: id, sequence: 1, plan: null, addon: null },
      { entity_type: 'SUBSCRIPTION', entity_id: id, sequence: 2 },
    ]);
    const found = await api.make('/v1/prices/search', { subscription_id: id });
    expect(found.pagination.total).toBe(2);
    const after = (await api.call('GET', `/v1/subscriptions/${id}`)).body;
    expect(after).toEqual(before);
    expect(after.line_items).toMatchObject([{ price_id: priceId }]);
  });

  test('has the currency of the subscription, which goes on', async ({ api, database }) => {
    const { id } = await makeSubscription(api);
    const price = { subscription_id: id, currency: 'usd', amount: '5' };
    const euros = await api.call('POST', '/v1/prices', { body: { ...price, currency: 'eur' } });
    expect([euros.status, euros.body.details]).toEqual([
      400,
      { currency: 'must be usd, that of the subscription' },
    ]);
    await ownerOf(database.database).query(sql.type(noRows)`
      UPDATE subscriptions SET subscription_status = 'cancelled' WHERE id = ${id}`);
    const late = await api.call('POST', '/v1/prices', { body: price });
    expect([late.status, late.body.code]).toEqual([400, 'invalid_operation']);
  });
});

describe('POST /prices/bulk', () => {
  test('stores prices of several owners at once, or none', async ({ api }) => {
    const { id, planId } = await makeSubscription(api);
    const addon = await api.make('/v1/addons', { name: 'Extra', lookup_key: 'extra' });
    const priced = (owner: object) => ({ ...owner, currency: 'usd', amount: '1' });
    const items = [{ plan_id: planId }, { addon_id: addon.id }, { subscription_id: id }].map(
      priced,
    );
    const made = await api.make('/v1/prices/bulk', { items });
    expect(made.items).toMatchObject([
      { entity_type: 'PLAN', sequence: 2 },
      { entity_type: 'ADDON', sequence: 1 },
      { entity_type: 'SUBSCRIPTION', sequence: 1 },
    ]);
    const wrong = { items: [...items, priced({ addon_id: planId })] };
    const refused = await api.call('POST', '/v1/prices/bulk', { body: wrong });
    expect([refused.status, Object.keys(refused.body.details)]).toEqual([404, ['items.3']]);
    expect((await api.make('/v1/prices/search', {})).pagination.total).toBe(4);
  });
});
