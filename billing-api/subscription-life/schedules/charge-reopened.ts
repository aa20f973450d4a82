import type { InstantMs } from '../../../contract/instant.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { Unit } from '../../records/unit.js';
import { loadBilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { isAdvance } from '../settle/find-unused.js';
import { settleChange, termsOf } from '../lines/settle-lines.js';

/**
 * Charges or credits the time after a scheduled end that was undone, by the terms of that time
 * (docs/domain.md 24.4). That is the rest of the periods that an invoice charged up to the end, and
 * the time beyond it that was charged by a price or quantity which has changed since. A draft is
 * computed again, and then has all of it.
 */
export async function chargeReopened(
  unit: Unit,
  subscriptionId: string,
  cutMs: InstantMs,
): Promise<void> {
  const loaded = await loadBilledSubscription(unit, subscriptionId);
  const goesOn = (item: LineItemRow): boolean =>
    isAdvance(item) && item.start_date < cutMs && cutMs < (item.end_date ?? Infinity);
  const lines = loaded.related.lineItems.filter(goesOn).map((item) => termsOf(loaded, item));
  const change = { atMs: cutMs, insideMs: cutMs - 1, lines };
  await settleChange(unit, loaded, change);
}
