import { sql } from 'slonik';
import { assertPresent } from '../../../runtime/failure.js';
import { formatInstant } from '../../../contract/instant.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { loadBilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { endSubscription } from './end-subscription.js';

/** Drafts and incomplete subscriptions whose end has come, locked, earliest first. */
function lockOver({ tx, now }: Unit, limit: number): Promise<readonly SubscriptionRow[]> {
  return tx.any(sql.type(SUBSCRIPTIONS.row)`
    SELECT * FROM subscriptions
    WHERE status = 'published' AND subscription_status IN ('draft', 'incomplete')
      AND subscription_type <> 'inherited'
      AND least(end_date, cancel_at) <= ${formatInstant(now)}::timestamptz AND ${isOfEnvironment}
    ORDER BY least(end_date, cancel_at), id LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED`);
}

async function end(unit: Unit, row: SubscriptionRow): Promise<Refusal | null> {
  const loaded = await loadBilledSubscription(unit, row.id);
  if (isRefusal(loaded)) return loaded;
  const ends = [row.end_date, row.cancel_at].filter((at) => at !== null);
  const atMs = Math.min(assertPresent(ends[0], 'the end of a subscription'), ...ends);
  const ended = await endSubscription(unit, loaded, {
    ...{ atMs, endedAs: 'cancellation' },
    metadataOf: (metadata) => metadata,
  });
  return isRefusal(ended) ? ended : null;
}

/**
 * Cancels subscriptions that nobody has activated or paid for when their end has come: nothing is
 * charged (docs/domain.md 32.2). The others are cancelled when they are renewed.
 * @returns whether there may be more. @throws DependencyError when a database fails.
 */
export async function endWaiting(
  dependencies: WriteDependencies,
  occasion: Occasion<JobActor>,
  limit: number,
): Promise<boolean> {
  const done = await writeUnit(dependencies, occasion, async (unit) => {
    const rows = await lockOver(unit, limit);
    for (const row of rows) {
      const refusal = await end(unit, row);
      if (refusal !== null) return refusal;
    }
    return rows.length;
  });
  // The job has no one whom a refusal could be told: it fails and is tried again.
  if (isRefusal(done)) throw new Error(done.message);
  return done === limit;
}
