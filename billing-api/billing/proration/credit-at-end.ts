import type { InstantMs } from '../../../contract/instant.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { loadBilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { findPending } from '../../subscriptions/schedules-store.js';
import { creditLines, creditsOf } from './credit-lines.js';
import { findUnused } from './find-unused.js';

/**
 * Gives back what is unused of charges in advance where a locked subscription ends as its pending
 * cancellation says, if that asks for it (docs/domain.md 24.6).
 */
export async function creditAtEnd(
  unit: Unit,
  subscriptionId: string,
  atMs: InstantMs,
): Promise<Refusal | null> {
  const pending = await findPending(unit, subscriptionId);
  if (pending?.schedule_type !== 'cancellation') return null;
  if (pending.configuration['proration_behavior'] !== 'create_prorations') return null;
  const loaded = await loadBilledSubscription(unit, subscriptionId);
  if (isRefusal(loaded)) return loaded;
  const { subscription } = loaded;
  const unused = await findUnused(unit, loaded, atMs);
  const credited = await creditLines(unit, subscription, creditsOf(unused, subscription.currency));
  return isRefusal(credited) ? credited : null;
}
