import { findNamedCustomer } from '../customers/named-customer.js';
import type { Occasion } from '../records/occasion.js';
import { isEqual } from '../records/conditions.js';
import { isRefusal, type Refusal } from '../records/refusal.js';
import type { SearchBodyRequest } from '../records/search-request.js';
import { readOperation } from '../records/operation.js';
import { readUnit, type ReadDependencies } from '../records/unit.js';
import { searchSubscriptionsIn } from './search-subscriptions.js';
import type { SubscriptionListDto } from './subscription-expansions.js';
import {
  isOfExternalCustomer,
  subscriptionConditions,
  type SearchSubscriptionsBody,
} from './subscription-search.js';

/** POST /subscriptions/search. */
export async function searchSubscriptions(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchSubscriptionsBody,
): Promise<SubscriptionListDto | Refusal> {
  const own = subscriptionConditions(body);
  if (isRefusal(own)) return own;
  return readUnit(dependencies, occasion, async (unit) => {
    const ofCustomer = await isOfExternalCustomer(unit, body.external_customer_id);
    const conditions = [...own, ...ofCustomer];
    const withLineItems = body.with_line_items === true;
    return searchSubscriptionsIn(unit, { request: body, conditions, withLineItems });
  });
}

/** GET /customers/external/{external_id}/subscriptions. */
export const listSubscriptionsOfCustomer = readOperation(
  async (
    unit,
    { externalId, ...request }: SearchBodyRequest & { readonly externalId: string },
  ): Promise<SubscriptionListDto> => {
    const customer = await findNamedCustomer(unit, { externalId });
    const conditions = isEqual('customer_id', customer.id);
    return searchSubscriptionsIn(unit, { request, conditions, withLineItems: false });
  },
);
