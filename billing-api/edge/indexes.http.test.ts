import { describe, expect } from 'vitest';
import { withSession } from '../../sql/session.js';
import { makeSubscription, test } from '../testing/billing-test.js';

const COPIES = 5_000;

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

/** The index that each statement needs. */
const STATEMENTS = {
  subscriptions_period_end: `SELECT id FROM subscriptions
    WHERE ${LIVE} AND current_period_end <= ${DUE} ORDER BY current_period_end LIMIT 100`,
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
           'cancel_at', ${at}, 'trial_end', ${at}`,
        ),
      );
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
