import { readRecord } from '../records/find-record.js';
import { invalid, notFound, type Refusal } from '../records/refusal.js';
import type { ReadUnit } from '../records/unit.js';
import { findCustomerByExternalId } from './customers-store.js';
import { CUSTOMERS, type CustomerRow } from './customer.resource.js';

/** A customer is named by its id, or by the caller's own id of it. */
export type CustomerName = { readonly id: string } | { readonly externalId: string };

/** By id whatever its status; by external id the published one. */
export async function findNamedCustomer(
  unit: ReadUnit,
  name: CustomerName,
): Promise<CustomerRow | Refusal> {
  if ('id' in name) return readRecord(unit, CUSTOMERS, name.id);
  const customer = await findCustomerByExternalId(unit.tx, name.externalId);
  return customer ?? notFound('customer', name.externalId);
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
