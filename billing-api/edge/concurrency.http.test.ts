import { describe, expect } from 'vitest';
import { makeSubscription, test } from '../testing/billing-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';

const TEN = Array.from({ length: 10 }, (_, n) => n);

/** A record of a kind that has versions, and a change of it that the answer shows. */
const VERSIONED = [
  ['customers', { external_id: 'acme' }],
  ['features', { name: 'Calls', type: 'boolean' }],
  ['plans', { name: 'Pro' }],
] as const;

/** Records with a key of the caller's own. */
const KEYED = [
  ['customers', (key: string) => ({ external_id: key })],
  ['features', (key: string) => ({ name: 'Calls', type: 'boolean', lookup_key: key })],
  ['plans', (key: string) => ({ name: 'Pro', lookup_key: key })],
  ['groups', (key: string) => ({ name: 'G', entity_type: 'feature', lookup_key: key })],
] as const;

const statusesOf = (answers: readonly { readonly status: number }[]) =>
  answers.map(({ status }) => status).toSorted((left, right) => left - right);

async function auditOf(api: BillingUnderTest, entityId: string): Promise<readonly string[]> {
  const { items } = await api.make('/v1/audit/search', { entity_id: entityId });
  return items.map(({ action }: { action: string }) => action).toReversed();
}

describe('several who come at once', () => {
  test.for(VERSIONED)(
    'of ten writers of one of the %s who saw the same version, one wins',
    async ([path, body], { api }) => {
      const { id } = await api.make(`/v1/${path}`, body);
      const headers = { 'if-match': '"1"' };
      const put = (n: number) =>
        api.call('PUT', `/v1/${path}/${id}`, { body: { name: `N${n}` }, headers });
      const answers = await Promise.all(TEN.map(put));
      expect(statusesOf(answers)).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
      const refused = answers.filter(({ status }) => status === 409);
      expect(new Set(refused.map((answer) => answer.body.code))).toEqual(
        new Set(['version_conflict']),
      );
      const winner = answers.find(({ status }) => status === 200);
      const read = await api.call('GET', `/v1/${path}/${id}`);
      expect(read.body.name).toBe(winner?.body.name);
      expect(read.headers.get('etag')).toBe('"2"');
      expect(await auditOf(api, id)).toEqual(['created', 'updated']);
    },
  );

  test.for(KEYED)('of ten creators of one key of %s, one wins', async ([path, bodyOf], { api }) => {
    const create = () => api.call('POST', `/v1/${path}`, { body: bodyOf('the-key') });
    const answers = await Promise.all(TEN.map(create));
    expect(statusesOf(answers)).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
    const refused = answers.filter(({ status }) => status === 409);
    expect(new Set(refused.map((answer) => answer.body.code))).toEqual(new Set(['already_exists']));
    const found = await api.make(`/v1/${path}/search`, {});
    const winner = answers.find(({ status }) => status === 201);
    expect(found.items.map(({ id }: { id: string }) => id)).toEqual([winner?.body.id]);
  });

  test('of a customer that is archived and its subscriptions, nothing is half done', async ({
    api,
  }) => {
    const { planId } = await makeSubscription(api);
    const terms = { plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' };
    for (let round = 0; round < 5; round += 1) {
      const { id } = await api.make('/v1/customers', { external_id: `c${round}` });
      const subscribe = () =>
        api.call('POST', '/v1/subscriptions', { body: { ...terms, customer_id: id } });
      const [removed, ...subscribed] = await Promise.all([
        api.call('DELETE', `/v1/customers/${id}`),
        ...[1, 2, 3].map(subscribe),
      ]);
      const { status } = (await api.call('GET', `/v1/customers/${id}`)).body;
      const found = await api.make('/v1/subscriptions/search', { customer_id: id });
      const made = subscribed.filter((answer) => answer.status === 201);
      expect(found.items).toHaveLength(made.length);
      expect([removed.status, status]).toEqual(
        made.length === 0 ? [204, 'archived'] : [400, 'published'],
      );
      const others = subscribed.filter((answer) => answer.status !== 201);
      expect(new Set(others.map((answer) => answer.status))).toEqual(
        new Set(made.length === 0 ? [404] : []),
      );
    }
  });
});
