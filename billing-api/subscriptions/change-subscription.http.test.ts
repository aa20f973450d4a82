import { describe, expect } from 'vitest';
import { test as billedTest } from '../testing/billed-test.js';
import { expectRefused, type Answer } from '../testing/money-test.js';
import { subscribeMonthly } from '../testing/subscribe-monthly.js';

const test = billedTest;

describe('PUT /subscriptions/{id}', () => {
  test('changes what changes no amount, tells of it, and raises the version', async ({ api }) => {
    const { subscription } = await subscribeMonthly(api);
    const path = `/v1/subscriptions/${subscription.id}`;
    const body = { payment_terms: '30 NET', lookup_key: 'main', metadata: { team: 'a' } };
    const changed = await api.call('PUT', path, { body });
    expect(changed.body).toMatchObject({ ...body, version: 2, line_items: [{}, {}] });
    expect((await api.call('GET', path)).body).toEqual(changed.body);
    const cleared = await api.call('PUT', path, { body: { lookup_key: null } });
    expect(cleared.body).toMatchObject({ lookup_key: null, payment_terms: '30 NET', version: 3 });
    const { items } = (await api.call('GET', '/v1/webhooks/events?limit=1000')).body;
    const names = items.map((one: Answer) => one.event_name);
    expect(names.filter((name: string) => name === 'subscription.updated')).toHaveLength(2);
  });

  test('is refused with the member and the remedy, and of a cancelled one but for metadata', async ({
    api,
  }) => {
    const { subscription } = await subscribeMonthly(api);
    const path = `/v1/subscriptions/${subscription.id}`;
    await expectRefused(
      (body) => api.call('PUT', path, { body }),
      [
        [{ auto_invoice_threshold: '10' }, /auto_invoice_threshold.*usage/],
        [{ payment_behavior: 'default_incomplete' }, /payment_behavior.*send_invoice/],
        [{ payment_terms: '10 NET' }, /payment_terms/],
        [{ plan_id: 'plan_x' }, /plan_id/],
      ],
    );
    const body = { cancel_at: subscription.current_period_end };
    await api.call('POST', `${path}/cancel`, { body });
    const refused = await api.call('PUT', path, { body: { payment_terms: '30 NET' } });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringMatching(/cancelled/),
    ]);
    const closed = { metadata: { why: 'closed' } };
    expect((await api.call('PUT', path, { body: closed })).status).toBe(200);
  });
});

describe('GET /subscriptions/{id}/entitlements', () => {
  test('answers those of this subscription alone', async ({ api }) => {
    const { subscription, plan } = await subscribeMonthly(api);
    const other = await api.make('/v1/plans', { name: 'Other' });
    await api.make('/v1/prices', { entity_id: other.id, currency: 'usd', amount: '1' });
    const features = await Promise.all(
      ['Seats', 'Support'].map((name) => api.make('/v1/features', { name, type: 'boolean' })),
    );
    const entitle = (plan_id: string, feature: Answer) =>
      api.make('/v1/entitlements', { plan_id, feature_id: feature.id, is_enabled: true });
    await entitle(plan.id, features[0]);
    await entitle(other.id, features[1]);
    await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: other.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
    });
    const path = `/v1/subscriptions/${subscription.id}/entitlements`;
    const { body } = await api.call('GET', path);
    expect(body.features.map((one: Answer) => one.feature.name)).toEqual(['Seats']);
    const until = { cancel_at: subscription.current_period_end };
    await api.call('POST', `/v1/subscriptions/${subscription.id}/cancel`, { body: until });
    expect((await api.call('GET', path)).body.features).toEqual([]);
    const unknown = await api.call('GET', '/v1/subscriptions/subs_none/entitlements');
    expect(unknown.status).toBe(404);
  });
});
