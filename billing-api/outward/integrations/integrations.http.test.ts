import { describe, expect } from 'vitest';
import { makeSubscription, test } from '../../testing/billing-test.js';
import { expectRefused, type Answer } from '../../testing/money-test.js';
import { subscribeMonthly } from '../../testing/subscribe-monthly.js';

const LINK = '/v1/integrations/link';
const linkOf = (entity_type: string, entity_id: string, provider_entity_id = 'K-1') => ({
  entity_type,
  entity_id,
  provider_type: 'erp',
  provider_entity_id,
});

describe('links to entities of providers', () => {
  test('are made, listed by each of their members, and taken away', async ({ api }) => {
    const { id: subscriptionId, planId } = await makeSubscription(api);
    const made = await api.make(LINK, {
      ...linkOf('subscription', subscriptionId),
      metadata: { from: 'import' },
    });
    expect(made).toMatchObject({
      ...linkOf('subscription', subscriptionId),
      status: 'published',
      id: expect.stringMatching(/^eim_/),
      metadata: { from: 'import' },
    });
    const plan = await api.make(LINK, linkOf('plan', planId));
    const ids = async (query: string) =>
      (await api.call('GET', `/v1/integrations/mappings?${query}`)).body.items.map(
        ({ id }: Answer) => id,
      );
    expect(await ids('')).toEqual([plan.id, made.id]);
    expect(await ids('entity_type=plan')).toEqual([plan.id]);
    expect(await ids(`entity_id=${subscriptionId}&provider_type=erp`)).toEqual([made.id]);
    expect(await ids('provider_type=other')).toEqual([]);
    const body = linkOf('subscription', subscriptionId);
    expect((await api.call('DELETE', LINK, { body })).body.message).toMatch(/not linked.*any more/);
    const again = await api.call('DELETE', LINK, { body });
    expect([again.status, again.body.message]).toEqual([404, expect.stringMatching(/not linked/)]);
    expect(await ids('')).toEqual([plan.id]);
    expect(await api.make(LINK, body)).toMatchObject(body);
  });

  test('belong to one record each, and a record has one of each provider', async ({ api }) => {
    const first = await api.make('/v1/customers', { external_id: 'globex' });
    const second = await api.make('/v1/customers', { external_id: 'initech' });
    await api.make(LINK, linkOf('customer', first.id));
    for (const body of [linkOf('customer', second.id), linkOf('customer', first.id, 'K-2')]) {
      const taken = await api.call('POST', LINK, { body });
      expect([taken.status, taken.body.message]).toEqual([409, expect.stringMatching(/unlink/)]);
    }
    const shown = (await api.call('GET', `/v1/customers/${first.id}`)).body;
    expect(shown.integrations).toMatchObject([{ provider_type: 'erp', provider_entity_id: 'K-1' }]);
    const unknown = await api.call('POST', LINK, { body: linkOf('invoice', 'inv_none') });
    expect(unknown.status).toBe(404);
    await expectRefused(
      (body) => api.call('POST', LINK, { body }),
      [
        [linkOf('wallet', first.id), /entity_type/],
        [linkOf('customer', first.id, ' '), /provider_entity_id/],
      ],
    );
  });
});

describe('POST /integrations/signals/subscription', () => {
  test('acknowledges a signal once, by our id or that of the provider', async ({ api }) => {
    const { id: subscriptionId } = await makeSubscription(api);
    const path = '/v1/integrations/signals/subscription';
    const signal = { signal_id: 'evt_1', state: 'active', subscription_id: subscriptionId };
    const send = async (body: object) => (await api.call('POST', path, { body })).body;
    const answer = { subscription_id: subscriptionId, subscription_status: 'active' };
    expect(await send(signal)).toEqual({
      ...answer,
      message: expect.stringMatching(/is active; .* nothing/),
    });
    const repeated = { ...answer, message: expect.stringMatching(/no second effect/) };
    expect(await send(signal)).toEqual(repeated);
    await api.make(LINK, linkOf('subscription', subscriptionId));
    const theirs = { provider_type: 'erp', provider_subscription_id: 'K-1' };
    expect(await send({ signal_id: 'evt_1', state: 'active', ...theirs })).toEqual(repeated);
    expect((await send({ signal_id: 'evt_2', state: 'active', ...theirs })).message).toMatch(
      /is active/,
    );
    const events = (await api.call('GET', '/v1/webhooks/events?limit=1000')).body.items;
    const named = events.map(({ event_name: name }: Answer) => name);
    expect(named).not.toContain('subscription.activated');
    for (const body of [
      { ...signal, subscription_id: 'subs_none' },
      { signal_id: 'evt_3', state: 'active', ...theirs, provider_type: 'other' },
    ]) {
      expect((await api.call('POST', path, { body })).status).toBe(404);
    }
    await expectRefused(
      (body) => api.call('POST', path, { body }),
      [
        [{ ...signal, ...theirs }, /not both/],
        [{ signal_id: 'evt_4', state: 'active', provider_type: 'erp' }, /subscription_id/],
        [{ ...signal, state: 'gone' }, /state/],
      ],
    );
  });

  test('activates a subscription that waits for its first payment, and tells of it once', async ({
    api,
  }) => {
    const { subscription } = await subscribeMonthly(api, { payment_behavior: 'allow_incomplete' });
    expect(subscription.subscription_status).toBe('incomplete');
    const { id } = subscription;
    const path = '/v1/integrations/signals/subscription';
    const body = { signal_id: 'evt_9', state: 'active', subscription_id: id };
    const active = { subscription_id: id, subscription_status: 'active' };
    expect((await api.call('POST', path, { body })).body).toMatchObject({
      ...active,
      message: expect.stringMatching(/was incomplete/),
    });
    expect((await api.call('POST', path, { body })).body).toMatchObject(active);
    const query = 'event_type=subscription.activated&limit=1000';
    const { items } = (await api.call('GET', `/v1/webhooks/events?${query}`)).body;
    expect(items.map(({ entity_id: of }: Answer) => of)).toEqual([id]);
    const [invoice] = (await api.make('/v1/invoices/search', { subscription_id: id })).items;
    expect(invoice.payment_status).toBe('PENDING');
  });
});
