import { assertPresent } from '../../runtime/failure.js';
import type { PeriodLedger } from '../domain/periods/period-ledger.js';
import type { SubscriptionTerms } from '../domain/invoice/subscription-terms.js';
import type { Occasion } from '../records/occasion.js';
import { isRefusal, notFound, type Refusal } from '../records/refusal.js';
import { readUnit, type ReadDependencies, type ReadUnit } from '../records/unit.js';
import { subscriptionCommitmentFrom } from './lines/stored-commitments.js';
import { findPeriods } from './periods/periods-store.js';
import { findRelatedRecords, type RelatedRecords } from './related-records.js';
import { ledgerFrom } from './subscription-terms.js';
import type { SubscriptionRow } from '../declarations/subscriptions/subscription.resource.js';
import { findSubscription } from './subscriptions-store.js';

/** A subscription with everything that belongs to it. */
export type LoadedSubscription = {
  readonly subscription: SubscriptionRow;
  readonly related: RelatedRecords;
};

/** A subscription with everything that its invoices are computed from. */
export type BilledSubscription = LoadedSubscription & { readonly terms: SubscriptionTerms };

/** The subscription with everything that belongs to it, whatever its status. */
async function loadSubscription(
  { tx }: ReadUnit,
  id: string,
): Promise<LoadedSubscription | Refusal> {
  const subscription = await findSubscription(tx, id);
  if (subscription === null) return notFound('subscription', id);
  return { subscription, related: await findRelatedRecords(tx, [subscription]) };
}

/** The terms that decide the charges of a subscription. */
function billingTermsOf(
  { subscription, related }: LoadedSubscription,
  ledger: PeriodLedger,
): SubscriptionTerms {
  const plan = assertPresent(related.plans.get(subscription.plan_id), 'the plan');
  return {
    ...ledger,
    currency: subscription.currency,
    prorationBehavior: subscription.proration_behavior,
    commitment: subscriptionCommitmentFrom(subscription, plan),
  };
}

/** As `loadSubscription`, with its periods and its commitment. */
export async function loadBilledSubscription(
  unit: ReadUnit,
  id: string,
): Promise<BilledSubscription | Refusal> {
  const loaded = await loadSubscription(unit, id);
  if (isRefusal(loaded)) return loaded;
  const periods = await findPeriods(unit.tx, [id]);
  const ledger = ledgerFrom(loaded.subscription, periods.get(id));
  return { ...loaded, terms: billingTermsOf(loaded, ledger) };
}

/** As `loadSubscription`, in a unit of its own. */
export function readSubscription(
  dependencies: ReadDependencies,
  occasion: Occasion,
  id: string,
): Promise<LoadedSubscription | Refusal> {
  return readUnit(dependencies, occasion, (unit) => loadSubscription(unit, id));
}
