import { describe, expect } from 'vitest';
import { withSession } from '../../sql/session.js';
import { makeSubscription, test } from '../testing/billing-test.js';

const COPIES = 2_000;

/** Adds copies of the only row of a table, with these columns made of the number of the copy. */
const copiesOf = (table: string, columns: string): string => `
  INSERT INTO ${table} SELECT (jsonb_populate_record(source,
    jsonb_build_object('id', '${table}_' || number, ${columns}))).*
  FROM ${table} AS source, generate_series(1, ${COPIES}) AS number;
  ANALYZE ${table};`;

const DUE = `'2020-01-02'::timestamptz`;
const LIVE = `status = 'published' AND subscription_status <> 'cancelled'`;
const OWN = `tenant_id = current_setting('minutebook.tenant_id', true)
  AND environment_id = current_setting('minutebook.environment_id', true)`;

/** What the copies of what a change leaves behind differ in. */
const TRAIL = {
  audit_entries: `'entity_type', 'type ' || number, 'user_id', 'user ' || number`,
  system_events: `'sequence', number + 1000, 'event_name', 'event ' || number`,
};

/** The index that each statement needs. */
const STATEMENTS = {
  subscriptions_to_renew: `SELECT id FROM subscriptions
    WHERE status = 'published' AND subscription_status = 'active' AND ${OWN}
      AND current_period_end <= ${DUE} ORDER BY current_period_end, id LIMIT 100`,
  subscriptions_cancel_at: `SELECT id FROM subscriptions
    WHERE ${LIVE} AND cancel_at <= ${DUE} ORDER BY cancel_at LIMIT 100`,
  subscriptions_trial_end: `SELECT id FROM subscriptions
    WHERE ${LIVE} AND trial_end <= ${DUE} ORDER BY trial_end LIMIT 100`,
  prices_of_parent: `SELECT * FROM prices
    WHERE status = 'published' AND parent_price_id = 'price_7' AND ${OWN}
    ORDER BY created_at DESC, id DESC LIMIT 50`,
  customers_of_external_id: `SELECT * FROM customers
    WHERE ${OWN} AND ((true AND external_id = 'c7') OR (NOT true AND id = 'c7'))
    ORDER BY created_at, id`,
  subscriptions_of_payer: `SELECT * FROM subscriptions
    WHERE status = 'published' AND invoicing_customer_id = ANY ('{customers_7}') AND ${OWN}
    ORDER BY created_at DESC, id DESC LIMIT 50`,
  subscriptions_of_parent: `SELECT * FROM subscriptions
    WHERE status = 'published' AND parent_subscription_id = ANY ('{subscriptions_7}') AND ${OWN}
    ORDER BY created_at DESC, id DESC LIMIT 50`,
  audit_entries_of_type: `SELECT * FROM audit_entries
    WHERE entity_type = 'type 7' AND ${OWN} ORDER BY created_at DESC, id DESC LIMIT 50`,
  audit_entries_of_user: `SELECT * FROM audit_entries
    WHERE user_id = 'user 7' AND ${OWN} ORDER BY created_at DESC, id DESC LIMIT 50`,
  system_events_of_name: `SELECT * FROM system_events
    WHERE sequence > 5 AND event_name = 'event 7' AND ${OWN} ORDER BY sequence LIMIT 101`,
};

describe('what is due, and what is looked up', () => {
  test('is found by an index among thousands of rows', async ({ api, database: { url } }) => {
    await makeSubscription(api);
    const { tenantId, environmentId } = api.environment;
    const plans = await withSession(url, async (session) => {
      await session.query(copiesOf('customers', `'external_id', 'c' || number`));
      await session.query(
        copiesOf('prices', `'sequence', number + 1, 'parent_price_id', 'price_' || number`),
      );
      const at = `timestamptz '2020-01-01' + number * interval '1 day'`;
      await session.query(
        copiesOf(
          'subscriptions',
          `'current_period_start', timestamptz '2019-01-01', 'current_period_end', ${at},
           'cancel_at', ${at}, 'trial_end', ${at}, 'invoicing_customer_id', 'customers_' || number,
           'parent_subscription_id', CASE WHEN number > 1 THEN 'subscriptions_' || number - 1 END`,
        ),
      );
      for (const [table, columns] of Object.entries(TRAIL)) {
        await session.query(`DELETE FROM ${table} WHERE ctid <> (SELECT min(ctid) FROM ${table})`);
        await session.query(copiesOf(table, columns));
      }
      await session.query(
        `SELECT set_config('minutebook.tenant_id', $1, false),
           set_config('minutebook.environment_id', $2, false)`,
        [tenantId, environmentId],
      );
      const found: Record<string, string> = {};
      for (const [index, statement] of Object.entries(STATEMENTS)) {
        const { rows } = await session.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${statement}`);
        found[index] = rows.map((row) => row['QUERY PLAN']).join('\n');
      }
      return found;
    });
    for (const [index, plan] of Object.entries(plans)) expect(plan).toContain(` ${index} `);
  });
});
