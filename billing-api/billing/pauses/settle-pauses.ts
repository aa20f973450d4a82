import { sql } from 'slonik';
import { formatInstant } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { PAUSES, type PauseRow } from '../../declarations/subscriptions/pause.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import { lockRecord } from '../../records/find-record.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { lockLivePause } from '../../subscriptions/periods/pauses-store.js';
import { beginPause } from './begin-pause.js';
import { endPause } from './end-pause.js';

/**
 * Pauses that are to begin or to end, earliest first. One begins in a period that is running, so a
 * period that has ended before is billed first.
 */
async function findDue({ tx, now }: Unit, limit: number): Promise<readonly PauseRow[]> {
  const at = sql.fragment`${formatInstant(now)}::timestamptz`;
  return tx.any(sql.type(PAUSES.row)`
    SELECT pause.* FROM subscription_pauses AS pause
    JOIN subscriptions AS subscription ON subscription.id = pause.subscription_id
      AND ${rowIsOfEnvironment('subscription')}
    WHERE ${rowIsOfEnvironment('pause')}
      AND ((pause.pause_status = 'scheduled' AND pause.pause_start <= ${at}
          AND pause.pause_start < subscription.current_period_end
          AND subscription.subscription_status = 'active')
        OR (pause.pause_status = 'active' AND pause.ends_at <= ${at}))
    ORDER BY coalesce(pause.ends_at, pause.pause_start), pause.id LIMIT ${limit}`);
}

/** Begins or ends one pause, if it is still due when its subscription is locked. */
async function settle(unit: Unit, due: PauseRow): Promise<Refusal | null> {
  const subscription = await lockRecord(unit, SUBSCRIPTIONS, due.subscription_id);
  const pause = await lockLivePause(unit, due.subscription_id);
  if (subscription === null || pause?.id !== due.id) return null;
  if (pause.pause_status !== due.pause_status) return null;
  const one = { subscription, pause };
  if (pause.pause_status === 'scheduled') {
    const begun = await beginPause(unit, one);
    return isRefusal(begun) ? begun : null;
  }
  const atMs = assertPresent(due.ends_at, 'the end of a pause');
  const ended = await endPause(unit, one, { atMs, mode: pause.resume_mode });
  return isRefusal(ended) ? ended : null;
}

/** Begins and ends the pauses that are due, and answers how many there were. */
export async function settlePauses(unit: Unit, limit: number): Promise<number | Refusal> {
  const due = await findDue(unit, limit);
  for (const pause of due) {
    const refusal = await settle(unit, pause);
    if (refusal !== null) return refusal;
  }
  return due.length;
}
