import { sql } from 'slonik';
import { assertPresent } from '../../../runtime/failure.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { accept } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { loadBilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { findPending } from '../../subscriptions/schedules-store.js';
import { lockDue, type DueQuery } from '../../due/due-items.js';
import { dueStep, oneByOne } from '../../due/due-step.js';
import { endSubscription } from './end-subscription.js';

/** The job of a single one that could not be ended with the others. */
const END_WAITING = 'end-waiting-subscription';

/** Drafts and incomplete subscriptions whose end has come, locked, earliest first. */
function lockOver(unit: Unit, due: DueQuery): Promise<readonly SubscriptionRow[]> {
  const where = sql.fragment`record.subscription_type <> 'inherited'`;
  return lockDue(unit, SUBSCRIPTIONS, { kind: 'waiting_end', job: END_WAITING, due, where });
}

async function end(unit: Unit, row: SubscriptionRow): Promise<void> {
  const loaded = accept(await loadBilledSubscription(unit, row.id));
  const ends = [row.end_date, row.cancel_at].filter((at) => at !== null);
  const atMs = Math.min(assertPresent(ends[0], 'the end of a subscription'), ...ends);
  const ended = endSubscription(unit, {
    loaded,
    atMs,
    locked: { row, pending: await findPending(unit, row.id) },
    staysCharged: false,
    endedAs: 'cancellation',
    isReplaced: false,
    metadataOf: (metadata) => metadata,
  });
  accept(await ended);
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
