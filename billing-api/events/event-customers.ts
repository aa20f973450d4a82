import { customerKeysOf } from '../../contract/usage-event.js';
import { CUSTOMERS, type CustomerRow } from '../declarations/customers/customer.resource.js';
import { findCustomerByExternalId } from '../customers/customers-store.js';
import { findRecord } from '../records/find-record.js';
import type { StatementUnit } from '../records/unit.js';

type CustomerReferences = {
  readonly external_customer_id?: string | undefined;
  readonly customer_id?: string | undefined;
};

const keysOf = (customer: CustomerRow | null): readonly string[] =>
  customer === null ? [] : customerKeysOf({ id: customer.id, externalId: customer.external_id });

/**
 * The customer keys under which the events of a request's customer stand, whichever reference they
 * were sent with; a reference to a customer that does not exist yet finds the events that name it.
 * With both references, those that they have in common; null when the request names nobody.
 */
export async function findEventCustomerKeys(
  unit: StatementUnit,
  request: CustomerReferences,
): Promise<readonly string[] | null> {
  const { external_customer_id: externalId, customer_id: id } = request;
  if (externalId === undefined && id === undefined) return null;
  const sets: ReadonlySet<string>[] = [];
  if (externalId !== undefined) {
    const customer = await findCustomerByExternalId(unit.tx, externalId);
    sets.push(new Set([`e:${externalId}`, ...keysOf(customer)]));
  }
  if (id !== undefined) {
    const customer = await findRecord(unit, CUSTOMERS, id);
    sets.push(new Set([`i:${id}`, ...keysOf(customer)]));
  }
  const [first = new Set<string>(), second = first] = sets;
  return [...first].filter((key) => second.has(key));
}
