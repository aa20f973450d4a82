import { sql } from 'slonik';
import { assertPresent } from '../../../runtime/failure.js';
import { formatInstant } from '../../../contract/instant.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { loadBilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { isWanted, type DueQuery } from '../due/due-items.js';
import { dueStep, oneByOne } from '../due/due-step.js';
import { endSubscription } from './end-subscription.js';

/** The job of a single one that could not be ended with the others. */
const END_WAITING = 'end-waiting-subscription';

/** Drafts and incomplete subscriptions whose end has come, locked, earliest first. */
function lockOver({ tx, now }: Unit, due: DueQuery): Promise<readonly SubscriptionRow[]> {
  return tx.any(sql.type(SUBSCRIPTIONS.row)`
    SELECT * FROM subscriptions
    WHERE status = 'published' AND subscription_status IN ('draft', 'incomplete')
      AND subscription_type <> 'inherited'
      AND least(end_date, cancel_at) <= ${formatInstant(now)}::timestamptz AND ${isOfEnvironment}
      AND ${isWanted(END_WAITING, sql.fragment`subscriptions.id`, due)}
    ORDER BY least(end_date, cancel_at), id LIMIT ${due.limit} FOR NO KEY UPDATE SKIP LOCKED`);
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
 */
export const WAITING_DUE = dueStep({
  job: END_WAITING,
  find: lockOver,
  idOf: ({ id }) => id,
  settle: oneByOne(end),
});
