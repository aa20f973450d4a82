import type { InstantMs } from '../../contract/instant.js';
import type { PauseRow } from '../declarations/subscriptions/pause.resource.js';
import { recordPause } from '../domain/periods/ledger-rows.js';
import { findPauses } from './periods/pauses-store.js';
import { mustGet } from '../../runtime/failure.js';
import { groupBy } from '../../runtime/group-by.js';
import type { InvoiceRow } from '../declarations/invoices/invoice.resource.js';
import type { LedgerPeriod } from '../domain/periods/period-ledger.js';
import type { SubscriptionTerms } from '../domain/invoice/subscription-terms.js';
import type { Occasion } from '../records/occasion.js';
import { accept, notFound, type Refusal, Refused } from '../records/refusal.js';
import { findRecords } from '../records/find-record.js';
import {
  readUnit,
  type ReadDependencies,
  type ReadUnit,
  type StatementUnit,
} from '../records/unit.js';
import { ruledBy } from './children-store.js';
import { subscriptionCommitmentFrom } from './lines/stored-commitments.js';
import { findPeriods } from './periods/periods-store.js';
import {
  findBilledRecords,
  findRelatedRecords,
  type BilledRecords,
  type RelatedRecords,
} from './related-records.js';
import { ledgerFrom } from './subscription-terms.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../declarations/subscriptions/subscription.resource.js';
import { findLatestInvoices, findSubscription } from './subscriptions-store.js';

/** A subscription with everything that belongs to it. */
export type LoadedSubscription = {
  readonly subscription: SubscriptionRow;
  readonly related: RelatedRecords;
  /** The last one that was made; null while there is none. */
  readonly latestInvoice: InvoiceRow | null;
};

/** A subscription with everything that its invoices are computed from. */
export type BilledSubscription = {
  readonly subscription: SubscriptionRow;
  readonly related: BilledRecords;
  readonly terms: SubscriptionTerms;
  /** In the order of time. */
  readonly pauses: readonly PauseRow[];
};

/** A subscription as it will be stored when its running pause, if any, ends at an instant. */
export function pausedUntil(loaded: BilledSubscription, atMs: InstantMs): BilledSubscription {
  const running = loaded.pauses.find(({ pause_status: status }) => status === 'active');
  if (running === undefined || running.pause_start >= atMs) return loaded;
  const pause = { startMs: running.pause_start, endMs: atMs };
  return { ...loaded, terms: { ...loaded.terms, ...recordPause(loaded.terms, pause) } };
}

/** The subscription with everything that belongs to it, whatever its status. */
async function loadSubscription({ tx }: ReadUnit, id: string): Promise<LoadedSubscription> {
  const subscription = await findSubscription(tx, id);
  if (subscription === null) throw new Refused(notFound('subscription', id));
  return withRelated({ tx }, subscription);
}

/** A subscription that was read or written in this unit, with everything that belongs to it. */
export async function withRelated(
  { tx }: StatementUnit,
  subscription: SubscriptionRow,
): Promise<LoadedSubscription> {
  const { id } = subscription;
  const related = await findRelatedRecords(tx, [subscription]);
  const latest = await findLatestInvoices(tx, [id]);
  return { subscription, related, latestInvoice: latest.get(id) ?? null };
}

/** A subscription with the records that belong to it alone, its periods and its pauses. */
export function billedFrom(
  subscription: SubscriptionRow,
  related: BilledRecords,
  times: {
    readonly periods: readonly LedgerPeriod[] | undefined;
    readonly pauses: readonly PauseRow[];
  },
): BilledSubscription {
  const plan = mustGet(related.plans, subscription.plan_id, 'the plan');
  const terms = {
    ...ledgerFrom(subscription, times.periods),
    currency: subscription.currency,
    prorationBehavior: subscription.proration_behavior,
    commitment: subscriptionCommitmentFrom(subscription, plan),
  };
  return { subscription, related, terms, pauses: times.pauses };
}

/**
 * The subscriptions with these ids, whatever their status, each with everything that its invoices
 * are computed from; unknown ids are left out. One statement for each kind of record, whatever the
 * number of subscriptions. They share the maps of their plans, prices and customers.
 */
export async function loadBilledSubscriptions(
  { tx }: ReadUnit,
  ids: readonly string[],
): Promise<ReadonlyMap<string, BilledSubscription>> {
  const found = await findRecords({ tx }, SUBSCRIPTIONS, ids);
  if (found.size === 0) return new Map();
  const rows = [...found.values()];
  const records = await findBilledRecords(tx, rows);
  const periods = await findPeriods(tx, rows.map(ruledBy));
  const lineItems = groupBy(records.lineItems, (item) => item.subscription_id);
  const coupons = groupBy(records.coupons, (coupon) => coupon.association.subscription_id);
  const paused = await findPauses({ tx }, [...found.keys()]);
  const pauses = groupBy(paused, (row) => row.subscription_id);
  return new Map(
    rows.map((subscription) => {
      const { id } = subscription;
      // Absent means none: the subscription has no line items or no coupons.
      const parts = { lineItems: lineItems.get(id) ?? [], coupons: coupons.get(id) ?? [] };
      // Absent means none: it was never paused.
      const own = pauses.get(id) ?? [];
      const times = { periods: periods.get(ruledBy(subscription)), pauses: own };
      return [id, billedFrom(subscription, { ...records, ...parts }, times)];
    }),
  );
}

/** As `loadBilledSubscriptions`, of one subscription. */
export async function loadBilledSubscription(
  unit: ReadUnit,
  id: string,
): Promise<BilledSubscription> {
  const loaded = await loadBilledSubscriptions(unit, [id]);
  return accept(loaded.get(id) ?? notFound('subscription', id));
}

/** As `loadSubscription`, in a unit of its own. */
export function readSubscription(
  dependencies: ReadDependencies,
  occasion: Occasion,
  id: string,
): Promise<LoadedSubscription | Refusal> {
  return readUnit(dependencies, occasion, (unit) => loadSubscription(unit, id));
}
