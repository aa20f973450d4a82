import type { InstantMs } from '../../../contract/instant.js';
import type { Unit } from '../../records/unit.js';
import {
  loadBilledSubscription,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { findPending } from '../../subscriptions/schedules-store.js';
import { creditUnused } from './credit-lines.js';
import { lockUnused } from './lock-charges.js';

/** A locked subscription that ends at an instant. */
type End = { readonly subscriptionId: string; readonly atMs: InstantMs };

/** The subscription if its pending cancellation asks for what is unused; else null. */
async function findCredited(
  unit: Unit,
  { subscriptionId }: End,
): Promise<BilledSubscription | null> {
  const pending = await findPending(unit, subscriptionId);
  if (pending?.schedule_type !== 'cancellation') return null;
  if (pending.configuration['proration_behavior'] !== 'create_prorations') return null;
  return loadBilledSubscription(unit, subscriptionId);
}

/**
 * Gives back what is unused of charges in advance where locked subscriptions end as their pending
 * cancellations say, if these ask for it (docs/domain.md 24.6). All invoices are locked before the
 * first wallet is.
 */
export async function creditAtEnds(unit: Unit, ends: readonly End[]): Promise<void> {
  const credited: (readonly [BilledSubscription, InstantMs])[] = [];
  for (const end of ends) {
    const loaded = await findCredited(unit, end);
    if (loaded === null) continue;
    await lockUnused(unit, loaded, end.atMs);
    credited.push([loaded, end.atMs]);
  }
  for (const [loaded, atMs] of credited) {
    await creditUnused(unit, loaded, atMs);
  }
}
