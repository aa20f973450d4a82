import { assertPresent } from '../../../runtime/failure.js';
import type { AnsweredCustomerRow } from '../../declarations/customers/customer.resource.js';
import { holdPublishedCustomer } from '../../owners/hold-customer.js';
import { invalid, notFound, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { lockCustomers, refuseBesideInherited } from '../groups/inherit.js';
import type { Owners } from './opening-terms.js';
import type { SubscriptionRequest } from './subscription-request.js';

/** The customer who pays the invoices of another one's subscription. */
async function holdPayer(
  unit: Unit,
  externalId: string | null,
  customer: AnsweredCustomerRow,
): Promise<AnsweredCustomerRow | null> {
  if (externalId === null) return null;
  const payer = await holdPublishedCustomer(unit.tx, { id: null, externalId });
  if (payer === null) throw new Refused(notFound('customer', externalId));
  if (payer.id !== customer.id) return payer;
  const member = 'inheritance.invoicing_customer_external_id';
  throw new Refused(
    invalid({ [member]: 'must name another customer; leave it out where the customer pays' }),
  );
}

/** The customers that a request names, who must be there, held until the unit ends. */
export async function holdOwners(
  unit: Unit,
  { customerId, externalCustomerId, inheritance }: SubscriptionRequest,
): Promise<Owners> {
  const reference = { id: customerId, externalId: externalCustomerId };
  const customer = await holdPublishedCustomer(unit.tx, reference);
  if (customer === null) {
    const name = assertPresent(customerId ?? externalCustomerId, 'the name of the customer');
    throw new Refused(notFound('customer', name));
  }
  await refuseBesideInherited(unit, customer.id);
  const payer = await holdPayer(unit, inheritance.payer, customer);
  const heirs = await lockCustomers(unit, inheritance.heirs);
  return { customer, payer, heirs };
}
