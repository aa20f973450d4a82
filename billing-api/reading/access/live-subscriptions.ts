import { lifeOf } from '../../domain/periods/ledger-periods.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import { Refusal, Refused } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import { ruledBy } from '../../subscriptions/children-store.js';
import { findPeriods } from '../../subscriptions/periods/periods-store.js';
import { ledgerFrom } from '../../subscriptions/subscription-terms.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { findLiveSubscriptions } from '../../subscriptions/subscriptions-store.js';

/** Their entitlements are read at once. */
const SUBSCRIPTIONS_MAX = 100;

/** A subscription that is in force, with its periods. */
export type LiveSubscription = { readonly row: SubscriptionRow; readonly ledger: PeriodLedger };

/** The subscriptions of a customer that are in force, oldest first, or a refusal of so many. */
export async function findSubscriptionsInForce(
  { tx, now }: ReadUnit,
  query: { readonly customerId: string; readonly ids: readonly string[] | undefined },
): Promise<readonly LiveSubscription[]> {
  const rows = await findLiveSubscriptions(tx, {
    customerId: query.customerId,
    ids: query.ids,
    now,
    limit: SUBSCRIPTIONS_MAX + 1,
  });
  if (rows.length > SUBSCRIPTIONS_MAX) {
    const problem = `the customer has more than ${SUBSCRIPTIONS_MAX} subscriptions in force`;
    throw new Refused(new Refusal('invalid_operation', `${problem}, too many for one answer`));
  }
  const periods = await findPeriods(tx, rows.map(ruledBy));
  const live = rows.map((row) => ({ row, ledger: ledgerFrom(row, periods.get(ruledBy(row))) }));
  return live.filter(({ ledger }) => now < lifeOf(ledger).endMs);
}
