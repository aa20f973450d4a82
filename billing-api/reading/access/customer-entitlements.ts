import { findNamedCustomer, type CustomerName } from '../../customers/named-customer.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { readRecord } from '../../records/find-record.js';
import type { Occasion } from '../../records/occasion.js';
import { invalid, isRefusal, type Refusal } from '../../records/refusal.js';
import { readOperation } from '../../records/operation.js';
import { readUnit, type ReadDependencies } from '../../records/unit.js';
import {
  loadCustomerAccess,
  type AccessFilter,
  type CustomerAccess,
} from './load-customer-access.js';

/** What narrows the entitlements of a customer. */
export interface EntitlementsQuery {
  /** Comma-separated: only these features. At most 1000. */
  feature_ids?: string;
  /** Comma-separated: only by these subscriptions. At most 1000. */
  subscription_ids?: string;
}

const IDS_MAX = 1000;

function listOf(text: string | undefined): readonly string[] | undefined {
  const names = text?.split(',').map((name) => name.trim());
  return names?.filter((name) => name !== '');
}

function filterFrom(query: EntitlementsQuery): AccessFilter | Refusal {
  const featureIds = listOf(query.feature_ids);
  const subscriptionIds = listOf(query.subscription_ids);
  const isTooLong = (ids: readonly string[] | undefined): boolean =>
    ids !== undefined && ids.length > IDS_MAX;
  const problem = `must have at most ${IDS_MAX} ids`;
  if (isTooLong(featureIds)) return invalid({ feature_ids: problem });
  if (isTooLong(subscriptionIds)) return invalid({ subscription_ids: problem });
  return { featureIds, subscriptionIds };
}

/** GET /subscriptions/{id}/entitlements: nothing unless it is in force. */
export const readSubscriptionEntitlements = readOperation(
  async (unit, id: string): Promise<CustomerAccess> => {
    const subscription = await readRecord(unit, SUBSCRIPTIONS, id);
    const customer = await findNamedCustomer(unit, { id: subscription.customer_id });
    return loadCustomerAccess(unit, { customer, filter: { subscriptionIds: [id] } });
  },
);

/** GET /customers/{id}/entitlements, and by the caller's own id of the customer. */
export async function readCustomerEntitlements(
  dependencies: ReadDependencies,
  occasion: Occasion,
  { name, query }: { readonly name: CustomerName; readonly query: EntitlementsQuery },
): Promise<CustomerAccess | Refusal> {
  const filter = filterFrom(query);
  if (isRefusal(filter)) return filter;
  return readUnit(dependencies, occasion, async (unit) => {
    const customer = await findNamedCustomer(unit, name);
    return loadCustomerAccess(unit, { customer, filter });
  });
}
