import { sql } from 'slonik';
import {
  ANSWERED_CUSTOMERS,
  type AnsweredCustomerRow,
} from '../declarations/customers/customer.resource.js';
import { isOfEnvironment } from '../records/conditions.js';
import type { Transaction } from '../records/unit.js';

/** Keeps a published customer as it is until the transaction ends; others may do the same. */
export async function holdPublishedCustomer(
  transaction: Transaction,
  reference: { readonly id: string | null; readonly externalId: string | null },
): Promise<AnsweredCustomerRow | null> {
  return transaction.maybeOne(sql.type(ANSWERED_CUSTOMERS.row)`
    SELECT ${ANSWERED_CUSTOMERS.selected} FROM customers
    WHERE status = 'published' AND ${isOfEnvironment}
      AND ((${reference.id}::text IS NOT NULL AND id = ${reference.id})
        OR (${reference.id}::text IS NULL AND external_id = ${reference.externalId}))
    FOR SHARE`);
}
