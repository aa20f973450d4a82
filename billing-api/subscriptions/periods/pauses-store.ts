import { sql } from 'slonik';
import type { InstantMs } from '../../../contract/instant.js';
import { PAUSES, type PauseRow } from '../../declarations/subscriptions/pause.resource.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit } from '../../records/unit.js';

/** The pauses of subscriptions, in the order of time. */
export function findPauses(
  { tx }: StatementUnit,
  subscriptionIds: readonly string[],
): Promise<readonly PauseRow[]> {
  return tx.any(sql.type(PAUSES.row)`
    SELECT * FROM subscription_pauses
    WHERE subscription_id = ANY (${sql.array([...subscriptionIds], 'text')}) AND ${isOfEnvironment}
    ORDER BY pause_start, id`);
}

/** The pause of a subscription that is to come or under way, locked; null when there is none. */
export function lockLivePause({ tx }: StatementUnit, subscriptionId: string) {
  return tx.maybeOne(sql.type(PAUSES.row)`
    SELECT * FROM subscription_pauses
    WHERE subscription_id = ${subscriptionId} AND pause_status IN ('scheduled', 'active')
      AND ${isOfEnvironment}
    FOR NO KEY UPDATE`);
}

/** Whether one of these pauses was under way at an instant. */
export function isPausedAt(pauses: readonly PauseRow[], atMs: InstantMs): boolean {
  return pauses.some((pause) => {
    const { pause_status: status, pause_start: startMs } = pause;
    if ((status !== 'active' && status !== 'completed') || startMs > atMs) return false;
    const endMs = pause.resumed_at ?? pause.ends_at;
    return endMs === null || endMs > atMs;
  });
}
