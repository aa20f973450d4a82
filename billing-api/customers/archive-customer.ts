import { HAS_NO_WALLET, notSubscribed } from '../owners/still-subscribed.js';
import type { Occasion } from '../records/occasion.js';
import { removeRecord } from '../records/change-record.js';
import type { Refusal } from '../records/refusal.js';
import { writeUnit, type WriteDependencies } from '../records/unit.js';
import { changeIntegrations } from './change-integrations.js';
import { CUSTOMERS, type CustomerRow } from '../declarations/customers/customer.resource.js';

/** Whoever has or pays a subscription, or has credits, is needed until that ends. */
const CUSTOMER_GUARDS = [
  ...['customer_id', 'invoicing_customer_id'].map(notSubscribed),
  HAS_NO_WALLET,
];

/** DELETE /customers/{id}: the external id and the integrations of the customer are free again. */
export function archiveCustomer(
  dependencies: WriteDependencies,
  occasion: Occasion,
  id: string,
): Promise<CustomerRow | Refusal> {
  return writeUnit(dependencies, occasion, async (unit) => {
    const customer = await removeRecord(unit, CUSTOMERS, { id, guards: CUSTOMER_GUARDS });
    await changeIntegrations(unit, id, []);
    return customer;
  });
}
