import { sql } from 'slonik';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import { PHASES, type PhaseRow } from '../declarations/subscriptions/phase.resource.js';
import { markRemoved, updateRecord } from '../records/change-record.js';
import { isOfEnvironment } from '../records/conditions.js';
import { announce, payloadOf } from '../records/recorded-change.js';
import { recordToDto } from '../records/resource.js';
import type { StatementUnit, Unit } from '../records/unit.js';

/** The members of a phase in the payload of its events (docs/http.md 11.3). */
const ANNOUNCED = ['id', 'subscription_id', 'start_date', 'end_date'] as const;

/** Adds the system event of a phase to the unit that makes or changes it. */
export function announcePhase(
  unit: Unit,
  row: PhaseRow,
  what: 'created' | 'updated' | 'deleted',
): void {
  const told = payloadOf(ANNOUNCED, recordToDto(PHASES, row));
  announce(unit, PHASES, { id: row.id, name: `subscription.phase.${what}`, told });
}

/** The phases of subscriptions that count, in the order of time. */
export function findPhases(
  { tx }: StatementUnit,
  subscriptionIds: readonly string[],
): Promise<readonly PhaseRow[]> {
  return tx.any(sql.type(PHASES.row)`
    SELECT * FROM subscription_phases
    WHERE subscription_id = ANY (${sql.array([...subscriptionIds], 'text')})
      AND status = 'published' AND ${isOfEnvironment}
    ORDER BY start_date, id`);
}

/** Ends the phases of a subscription where that ends; those that were to come are deleted. */
export async function endPhases(
  unit: Unit,
  subscriptionId: string,
  atMs: InstantMs,
): Promise<void> {
  for (const row of await findPhases(unit, [subscriptionId])) {
    if (row.end_date !== null && row.end_date <= atMs) continue;
    const isToCome = row.start_date >= atMs;
    const after = isToCome
      ? await markRemoved(unit, PHASES, row)
      : await updateRecord(unit, PHASES, { row, patch: { end_date: atMs } });
    announcePhase(unit, after, isToCome ? 'deleted' : 'updated');
  }
}

/** Begins phases whose time has come. */
export function beginPhases(
  { tx, now }: Unit,
  ids: readonly string[],
): Promise<readonly PhaseRow[]> {
  const at = formatInstant(now);
  return tx.any(sql.type(PHASES.row)`
    WITH begun AS (
      UPDATE subscription_phases SET begun_at = ${at}::timestamptz
      WHERE id = ANY (${sql.array([...ids], 'text')}) AND ${isOfEnvironment}
      RETURNING *)
    SELECT * FROM begun ORDER BY start_date, id`);
}
