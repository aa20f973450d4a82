import { describe, expect } from 'vitest';
import { withSession } from '../../sql/session.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { makeSubscription, test } from '../testing/billing-test.js';

/** Thousands of rows are stored first. */
const SLOW = { timeout: 300_000 };
/** What is counted exactly with the default limit of 50 (docs/http.md 1.6). */
const EXACT_MAX = 10_050;

/** Adds copies of the only customer until there are so many. */
const customersUpTo = (url: string, from: number, to: number): Promise<void> =>
  withSession(url, async (session) => {
    await session.query(
      `INSERT INTO customers SELECT (jsonb_populate_record(source, jsonb_build_object(
         'id', 'cust_' || number, 'external_id', 'c' || number, 'name', 'C' || number % 97,
         'email', 'c' || number || '@acme.example',
         'created_at', timestamptz '2026-01-01' + number * interval '1 min',
         'updated_at', timestamptz '2026-01-01' + (number * 7919 % 100003) * interval '1 min'))).*
       FROM customers AS source, generate_series($1::integer, $2::integer) AS number
       WHERE source.id !~ '^cust_[0-9]+$'`,
      [from + 1, to],
    );
    await session.query('ANALYZE customers');
  });

const search = (api: BillingUnderTest, body: object) => api.make('/v1/customers/search', body);

/** The indexes of customers that were read at least so often. */
async function indexesRead(url: string, times: number): Promise<readonly string[]> {
  return withSession(url, async (session) => {
    const { rows } = await session.query<{ name: string }>(
      `SELECT indexrelname AS name FROM pg_stat_user_indexes
       WHERE relname = 'customers' AND idx_scan >= $1`,
      [times],
    );
    return rows.map(({ name }) => name);
  });
}

describe('a search of many records', () => {
  test(
    'counts exactly up to 10,000 beyond the page, and says where it stops',
    SLOW,
    async ({ api, database: { url } }) => {
      await api.make('/v1/customers', { external_id: 'first' });
      await customersUpTo(url, 1, EXACT_MAX - 1);
      const total = async (body: object) => (await search(api, body)).pagination;
      const page = { limit: 50, offset: 0 };
      expect(await total({})).toEqual({ ...page, total: EXACT_MAX - 1 });
      await customersUpTo(url, EXACT_MAX - 1, EXACT_MAX);
      expect(await total({})).toEqual({ ...page, total: EXACT_MAX });
      await customersUpTo(url, EXACT_MAX, EXACT_MAX + 1);
      const bounded = { total: EXACT_MAX, total_is_lower_bound: true };
      expect(await total({})).toEqual({ ...page, ...bounded });
      expect(await total({ offset: 1 })).toEqual({ limit: 50, offset: 1, total: EXACT_MAX + 1 });
      expect(await total({ limit: 51 })).toEqual({ limit: 51, offset: 0, total: EXACT_MAX + 1 });
      const last = { offset: EXACT_MAX, limit: 50 };
      expect(await total(last)).toEqual({ ...last, total: EXACT_MAX + 1 });
      expect(await total({ ...last, offset: 20_000 })).toMatchObject({ total: EXACT_MAX + 1 });
      expect(await total({ email: 'c7@acme.example' })).toEqual({ ...page, total: 1 });
      expect(await total({ email: 'nobody@acme.example' })).toEqual({ ...page, total: 0 });
    },
  );

  test(
    'finds its page by an index, in every order that has one',
    SLOW,
    async ({ api, database: { url } }) => {
      await api.make('/v1/customers', { external_id: 'first' });
      await customersUpTo(url, 1, 5_000);
      const bodies = {
        customers_newest: {},
        customers_changed: { sort: [{ field: 'updated_at' }] },
        customers_by_name: { sort: [{ field: 'name', direction: 'asc' }] },
        customers_of_email: { email: 'c7@acme.example' },
        customers_of_external_id: { external_ids: ['c7', 'c8'], status: 'archived' },
      };
      // More often than the look-ups of everything else that is done here.
      const times = 25;
      for (const body of Object.values(bodies)) {
        for (let time = 0; time < times; time += 1) await search(api, body);
      }
      const expected = expect.arrayContaining(Object.keys(bodies)) as unknown;
      // A session of the database tells its figures only when it has been idle for a while.
      await expect
        .poll(() => indexesRead(url, times), { timeout: 30_000, interval: 500 })
        .toEqual(expected);
    },
  );

  test('has the records, bytes and headers of short ones where it is written in slices', async ({
    api,
    database: { url },
  }) => {
    await api.make('/v1/customers', { external_id: 'first', address_city: 'Zürich 東京 😀' });
    await customersUpTo(url, 1, 150);
    const short = [await search(api, { limit: 75 }), await search(api, { limit: 75, offset: 75 })];
    const body = { limit: 150 };
    const answer = await api.call('POST', '/v1/customers/search', { body });
    expect(answer.body.items).toEqual(short.flatMap(({ items }) => items as readonly unknown[]));
    const bytes = Buffer.byteLength(JSON.stringify(answer.body));
    expect(answer.headers.get('content-length')).toBe(String(bytes));
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  test('orders records without a value last, in both directions', async ({ api }) => {
    for (const [external_id, email] of [
      ['a', 'a@x.example'],
      ['b', null],
      ['c', 'c@x.example'],
    ]) {
      await api.make('/v1/customers', { external_id, email });
    }
    const order = async (direction: string) => {
      const { items } = await search(api, { sort: [{ field: 'email', direction }] });
      return items.map((one: { external_id: string }) => one.external_id).join('');
    };
    expect([await order('asc'), await order('desc')]).toEqual(['acb', 'cab']);
  });

  test(
    'expands at most 10,000 line items, and as many entitlements of several plans',
    SLOW,
    async ({ api, database: { url } }) => {
      const { id, planId } = await makeSubscription(api);
      const other = await api.make('/v1/plans', { name: 'Other' });
      const { id: featureId } = await api.make('/v1/features', { name: 'Sso', type: 'boolean' });
      await api.make('/v1/entitlements', { plan_id: planId, feature_id: featureId });
      const copies = (table: string, from: number, to: number) =>
        withSession(url, (session) =>
          session.query(
            `INSERT INTO ${table} SELECT (jsonb_populate_record(source,
             jsonb_build_object('id', 'copy_' || number))).*
           FROM ${table} AS source, generate_series(${from}, ${to}) AS number
           WHERE source.id NOT LIKE 'copy%'`,
          ),
        );
      const lines = { subscription_ids: [id], with_line_items: true };
      const plans = { plan_ids: [planId, other.id], expand: 'entitlements' };
      const statuses = async () => {
        const found = await api.call('POST', '/v1/subscriptions/search', { body: lines });
        const expanded = await api.call('POST', '/v1/plans/search', { body: plans });
        return [found.status, expanded.status];
      };
      await copies('subscription_line_items', 2, 10_000);
      await copies('entitlements', 2, 10_000);
      expect(await statuses()).toEqual([200, 200]);
      await copies('subscription_line_items', 10_001, 10_001);
      await copies('entitlements', 10_001, 10_001);
      expect(await statuses()).toEqual([400, 400]);
      const single = { ...plans, plan_ids: [planId] };
      const { items } = await api.make('/v1/plans/search', single);
      expect(items[0].entitlements).toHaveLength(10_001);
    },
  );
});
