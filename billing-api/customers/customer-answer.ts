import { findRecords } from '../records/find-record.js';
import { isRefusal, type Refusal } from '../records/refusal.js';
import type { ReadUnit } from '../records/unit.js';
import {
  CUSTOMERS,
  customerToDto,
  type CustomerDto,
  type CustomerRow,
} from './customer.resource.js';
import { findIntegrations } from './integrations-store.js';

/** A customer as it is answered, and its version. */
export type AnsweredCustomer = { readonly version: number; readonly dto: CustomerDto };

/** Completes a customer with its integrations; hands a refusal on. */
export async function answerCustomer(
  { tx }: ReadUnit,
  found: CustomerRow | Refusal,
): Promise<AnsweredCustomer | Refusal> {
  if (isRefusal(found)) return found;
  const integrations = await findIntegrations(tx, [found.id]);
  return { version: found.version, dto: customerToDto(found, integrations) };
}

/** Reads the customers that some records name, as they are answered. */
export async function expandCustomer(
  unit: ReadUnit,
  rows: readonly { readonly customer_id: string }[],
): Promise<(row: { readonly customer_id: string }) => CustomerDto | null> {
  const ids = [...new Set(rows.map((row) => row.customer_id))];
  const customers = await findRecords(unit, CUSTOMERS, ids);
  const integrations = await findIntegrations(unit.tx, ids);
  return ({ customer_id: id }) => {
    const customer = customers.get(id);
    return customer === undefined ? null : customerToDto(customer, integrations);
  };
}
