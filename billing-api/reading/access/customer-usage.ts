import type { Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import { findEffectiveMeters } from '../../catalog/meters/effective-meters.js';
import {
  customerNameFrom,
  findNamedCustomer,
  type CustomerReference,
} from '../../customers/named-customer.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { readUnit } from '../../records/unit.js';
import { readUsageOfMany } from '../../usage/read-usage.js';
import { tooManyCells, wholeOf } from '../../usage/usage-answer.js';
import type { NamedCustomers } from '../../usage/store/cell-query.js';
import { usageOfOwners, type UsageReadDependencies } from '../../usage/usage-customers.js';
import { featureQueriesOf } from './feature-queries.js';
import {
  loadCustomerAccess,
  type AccessEntitlement,
  type CustomerAccess,
} from './load-customer-access.js';

/** What a customer has used of a metered feature, against its limit. */
export type FeatureUsage = {
  readonly entitlement: AccessEntitlement;
  readonly usage: Decimal;
  /** When the usage begins again at 0; null when it never does. */
  readonly resetsAtMs: InstantMs | null;
};

export type CustomerUsage = {
  readonly access: CustomerAccess;
  /** Of the metered features that have a meter. */
  readonly features: readonly FeatureUsage[];
  readonly now: InstantMs;
  readonly dataUntil: InstantMs | null;
};

/** That of the customer, and of all who share what its subscriptions give (docs/domain.md 29.1). */
function usageOfEntitlement(
  { usageOf, customer }: CustomerAccess,
  { sources }: AccessEntitlement,
): NamedCustomers {
  const owners = sources.flatMap(({ subscriptionId }) =>
    mustGet(usageOf, subscriptionId, 'the owners of usage'),
  );
  const itself = { customerId: customer.id, externalId: customer.external_id };
  const byId = new Map(owners.map((owner) => [owner.customerId, owner]));
  return usageOfOwners(byId.size === 0 ? [itself] : [...byId.values()]);
}

/** GET /customers/usage (docs/domain.md 10.3). */
export async function readCustomerUsage(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  reference: CustomerReference,
): Promise<CustomerUsage | Refusal> {
  const name = customerNameFrom(reference);
  if (isRefusal(name)) return name;
  // Before anything is counted, so that it holds for every count.
  const dataUntil = await dependencies.dataUntil();
  const found = await readUnit(dependencies, occasion, async (unit) => {
    const customer = await findNamedCustomer(unit, name);
    const access = await loadCustomerAccess(unit, { customer, filter: {} });
    const named = access.entitlements.map(({ sources: [first] }) => first.meterId);
    const meterIds = named.filter((id) => id !== null);
    const meters = await findEffectiveMeters(unit.tx, meterIds);
    return { access, meters, now: unit.now };
  });
  if (isRefusal(found)) return found;
  const { access, meters, now } = found;
  const queries = featureQueriesOf(access, meters, now);
  if (isRefusal(queries)) return queries;
  const { environment } = occasion;
  const asked = queries.map(({ entitlement, query }) => ({
    customers: usageOfEntitlement(access, entitlement),
    queries: [query],
  }));
  const answers = await readUsageOfMany(dependencies.usage, environment, asked);
  if (answers === null) return tooManyCells({ buckets: null });
  const features = queries.map(({ entitlement, window, query }) => {
    const { value } = wholeOf(answers.get(query)?.get('whole'));
    return { entitlement, usage: value, resetsAtMs: window.resetsAtMs };
  });
  return { access, features, now, dataUntil };
}
