import { isEqual } from '../records/conditions.js';
import { findPublished, readRecord } from '../records/find-record.js';
import { accept, invalid, notFound, type Refusal } from '../records/refusal.js';
import type { Resource, RowOf } from '../records/resource.js';
import type { ReadUnit } from '../records/unit.js';
import {
  ANSWERED_CUSTOMERS,
  CUSTOMERS,
  type AnsweredCustomerRow,
  type CustomerRow,
} from '../declarations/customers/customer.resource.js';

/** A customer is named by its id, or by the caller's own id of it. */
export type CustomerName = { readonly id: string } | { readonly externalId: string };

type CustomerColumns = (typeof CUSTOMERS)['columns'];

async function find<C extends CustomerColumns>(
  unit: ReadUnit,
  resource: Resource<C>,
  name: CustomerName,
): Promise<RowOf<C>> {
  if ('id' in name) return readRecord(unit, resource, name.id);
  const found = await findPublished(unit, resource, isEqual('external_id', name.externalId));
  return accept(found[0] ?? notFound('customer', name.externalId));
}

/** By id whatever its status; by external id the published one. */
export function findNamedCustomer(unit: ReadUnit, name: CustomerName): Promise<CustomerRow> {
  return find(unit, CUSTOMERS, name);
}

/** As `findNamedCustomer`, with everything that an answer tells of the customer. */
export function findAnsweredCustomer(
  unit: ReadUnit,
  name: CustomerName,
): Promise<AnsweredCustomerRow> {
  return find(unit, ANSWERED_CUSTOMERS, name);
}

/** The members of a request that name a customer. */
export type CustomerReference = {
  readonly customer_id?: string | undefined;
  readonly external_customer_id?: string | undefined;
};

/** The external id decides when both are given, as with events (docs/domain.md 7.2). */
export function customerNameFrom({
  external_customer_id: externalId,
  customer_id: id,
}: CustomerReference): CustomerName | Refusal {
  if (externalId !== undefined) return { externalId };
  if (id !== undefined) return { id };
  return invalid({ customer_id: 'is required, or external_customer_id' });
}
