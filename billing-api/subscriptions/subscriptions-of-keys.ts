import { sql, type FragmentSqlToken } from 'slonik';
import { isOfEnvironment, rowIsOfEnvironment } from '../records/conditions.js';

/** The ids of customers whom events name by these keys, as a query. */
function customersOfKeys(keys: readonly string[]): FragmentSqlToken {
  const named = (prefix: string) =>
    sql.array(
      keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)),
      'text',
    );
  return sql.fragment`
    SELECT id FROM customers
    WHERE (external_id = ANY (${named('e:')}) OR id = ANY (${named('i:')})) AND ${isOfEnvironment}`;
}

/**
 * The ids of subscriptions whose invoices count events of these customers, as a query: their own
 * ones, and the parents that they inherit from or are grouped with.
 */
export function subscriptionsOfKeys(keys: readonly string[]): FragmentSqlToken {
  return sql.fragment`
    SELECT unnest(ARRAY[member.id, member.parent_subscription_id]) FROM subscriptions AS member
    WHERE member.customer_id IN (${customersOfKeys(keys)}) AND ${rowIsOfEnvironment('member')}`;
}
