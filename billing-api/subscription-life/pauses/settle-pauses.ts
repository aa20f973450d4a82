import { sql } from 'slonik';
import { assertPresent } from '../../../runtime/failure.js';
import { PAUSES, type PauseRow } from '../../declarations/subscriptions/pause.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import { lockRecord } from '../../records/find-record.js';
import { accept } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { dueStep, oneByOne } from '../../due/due-step.js';
import { dueOf, isWanted, type DueQuery } from '../../due/due-items.js';
import { lockLivePause } from '../../subscriptions/periods/pauses-store.js';
import { beginPause } from './begin-pause.js';
import { endPause } from './end-pause.js';

/** The job of a single subscription whose pause could not begin or end with the others. */
export const SETTLE_PAUSE = 'settle-pause';

/**
 * Pauses that are to begin or to end, earliest first. One begins in a period that is running, so a
 * period that has ended before is billed first.
 */
async function findDue(unit: Unit, due: DueQuery): Promise<readonly PauseRow[]> {
  return unit.tx.any(sql.type(PAUSES.row)`
    SELECT pause.* FROM (${dueOf(unit, 'pause_begin')} UNION ALL ${dueOf(unit, 'pause_end')}) AS due
    JOIN subscription_pauses AS pause ON pause.id = due.id AND ${rowIsOfEnvironment('pause')}
    JOIN subscriptions AS subscription ON subscription.id = pause.subscription_id
      AND ${rowIsOfEnvironment('subscription')}
    WHERE (pause.pause_status = 'active' OR (pause.pause_start < subscription.current_period_end
          AND subscription.subscription_status = 'active'))
      AND ${isWanted(SETTLE_PAUSE, sql.fragment`pause.subscription_id`, due)}
    ORDER BY coalesce(pause.ends_at, pause.pause_start), pause.id LIMIT ${due.limit}`);
}

/** Begins or ends one pause, if it is still due when its subscription is locked. */
async function settle(unit: Unit, due: PauseRow): Promise<void> {
  const subscription = await lockRecord(unit, SUBSCRIPTIONS, due.subscription_id);
  const pause = await lockLivePause(unit, due.subscription_id);
  if (subscription === null || pause?.id !== due.id) return;
  if (pause.pause_status !== due.pause_status) return;
  const one = { subscription, pause };
  if (pause.pause_status === 'scheduled') {
    accept(await beginPause(unit, one));
    return;
  }
  const atMs = assertPresent(due.ends_at, 'the end of a pause');
  accept(await endPause(unit, one, { atMs, mode: pause.resume_mode }));
}

/** Begins and ends the pauses that are due; a subscription has one at a time. */
export const PAUSES_DUE = dueStep({
  job: SETTLE_PAUSE,
  find: findDue,
  idOf: ({ subscription_id: id }) => id,
  settle: oneByOne(settle),
});
