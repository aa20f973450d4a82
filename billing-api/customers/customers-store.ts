import { sql } from 'slonik';
import { z } from 'zod';
import { isOfEnvironment } from '../records/conditions.js';
import type { Transaction } from '../records/unit.js';
import { CUSTOMERS, type CustomerRow } from '../declarations/customers/customer.resource.js';

/** The published customer with this external id. */
export async function findCustomerByExternalId(
  transaction: Transaction,
  externalId: string,
): Promise<CustomerRow | null> {
  return transaction.maybeOne(sql.type(CUSTOMERS.row)`
    SELECT * FROM customers WHERE external_id = ${externalId} AND status = 'published' AND ${isOfEnvironment}`);
}

export const usageCustomerRow = z.object({
  id: z.string(),
  external_id: z.string(),
  timezone: z.string().nullable(),
});
/** What readers of usage must know of a customer. */
export type UsageCustomer = z.output<typeof usageCustomerRow>;

/**
 * Those of the customer keys of usage rows (`e:<external id>`, `i:<id>`) that belong to no
 * customer: their events wait and do not count yet (docs/domain.md 7.2).
 */
export async function findUnknownCustomerKeys(
  transaction: Transaction,
  keys: readonly string[],
): Promise<readonly string[]> {
  if (keys.length === 0) return [];
  const rows = await transaction.any(sql.type(z.object({ key: z.string() }))`
    SELECT key FROM unnest(${sql.array([...keys], 'text')}) AS given (key)
    WHERE NOT EXISTS (
      SELECT FROM customers
      WHERE external_id = substr(key, 3) AND key LIKE 'e:%' AND ${isOfEnvironment})
    AND NOT EXISTS (SELECT FROM customers
      WHERE id = substr(key, 3) AND key LIKE 'i:%' AND ${isOfEnvironment})`);
  return rows.map((row) => row.key);
}
