import { HAS_NO_WALLET, notSubscribed } from '../owners/still-subscribed.js';
import { removeRecord } from '../records/change-record.js';
import { writeOperation } from '../records/operation.js';
import { changeIntegrations } from './change-integrations.js';
import { CUSTOMERS, type CustomerRow } from '../declarations/customers/customer.resource.js';

/** Whoever has or pays a subscription, or has credits, is needed until that ends. */
const CUSTOMER_GUARDS = [
  ...['customer_id', 'invoicing_customer_id'].map(notSubscribed),
  HAS_NO_WALLET,
];

/** DELETE /customers/{id}: the external id and the integrations of the customer are free again. */
export const archiveCustomer = writeOperation(async (unit, id: string): Promise<CustomerRow> => {
  const customer = await removeRecord(unit, CUSTOMERS, { id, guards: CUSTOMER_GUARDS });
  await changeIntegrations(unit, id, []);
  return customer;
});
