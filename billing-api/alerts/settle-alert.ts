import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, plain, type Decimal } from '../../contract/number/decimal.js';
import { noRows, numericColumn } from '../../sql/columns.js';
import {
  ALERT_STATES,
  alertState,
  isRecovery,
  type AlertLevel,
  type AlertLevels,
  type AlertState,
} from '../domain/wallet/alert-state.js';
import { isOfEnvironment } from '../records/conditions.js';
import type { Unit } from '../records/unit.js';
import { logAlert, type AlertChange } from '../money/wallets/log-alert.js';

/** An alert, and the figure that it watches as it stands now. */
export type WatchedFigure = {
  readonly type: AlertChange['alert_type'];
  readonly entityId: string;
  /** Of what it is evaluated for apart; empty where there is one of the entity. */
  readonly scopeId: string;
  readonly levels: AlertLevels;
  readonly value: Decimal;
  /** How a change is told. */
  readonly changeTo: (
    state: AlertState,
    facts: { readonly isRecovery: boolean; readonly threshold: number | null },
  ) => Pick<AlertChange, 'entity_type' | 'entity_id' | 'alert_info' | 'event' | 'beside'>;
  /** How another figure than that of the evaluation before is told; absent when it is not. */
  readonly updateTo?: (state: AlertState) => Unit['events'][number];
};

const stateRow = z.object({
  alert_status: z.enum(ALERT_STATES),
  value: numericColumn.transform(decimalOf).nullable(),
});
type Evaluated = { readonly state: AlertState; readonly value: Decimal | null };

/** How an alert stood at its last evaluation, locked; ok without a figure before the first. */
async function lockState({ tx, environment }: Unit, watched: WatchedFigure): Promise<Evaluated> {
  const { tenantId, environmentId } = environment;
  const { type, entityId, scopeId } = watched;
  await tx.query(sql.type(noRows)`
    INSERT INTO alert_states (tenant_id, environment_id, alert_type, entity_id, scope_id, alert_status)
    VALUES (${tenantId}, ${environmentId}, ${type}, ${entityId}, ${scopeId}, 'ok')
    ON CONFLICT DO NOTHING`);
  const { alert_status: state, value } = await tx.one(sql.type(stateRow)`
    SELECT alert_status, value FROM alert_states
    WHERE alert_type = ${type} AND entity_id = ${entityId} AND scope_id = ${scopeId}
      AND ${isOfEnvironment}
    FOR UPDATE`);
  return { state, value };
}

/** The level that a state is about. */
function levelOf({ critical, warning, info }: AlertLevels, state: AlertState): AlertLevel | null {
  return { in_alarm: critical, warning, info, ok: null }[state];
}

/** Tells of another figure than that of the evaluation before; the first one is silent. */
function tellFigure(
  unit: Unit,
  { value, updateTo }: WatchedFigure,
  { state, valueBefore }: { readonly state: AlertState; readonly valueBefore: Decimal | null },
): void {
  const isNews = valueBefore !== null && !valueBefore.equals(value);
  if (isNews && updateTo !== undefined) unit.events.push(updateTo(state));
}

/**
 * Compares a figure with its levels, and logs and tells of a change of the state. A second
 * evaluation of the same figure changes nothing (docs/domain.md 31).
 */
export async function settleAlert(unit: Unit, watched: WatchedFigure): Promise<void> {
  const { type, entityId, scopeId, levels, value, changeTo } = watched;
  const { state: before, value: valueBefore } = await lockState(unit, watched);
  const state = alertState(levels, value);
  if (valueBefore?.equals(value) === true && state === before) return;
  await unit.tx.query(sql.type(noRows)`
    UPDATE alert_states SET alert_status = ${state}, value = ${plain(value)}::numeric
    WHERE alert_type = ${type} AND entity_id = ${entityId} AND scope_id = ${scopeId}
      AND ${isOfEnvironment}`);
  tellFigure(unit, watched, { state, valueBefore });
  if (state === before) return;
  const recovery = isRecovery(before, state);
  // What has recovered is told with the level that it has left.
  const level = levelOf(levels, recovery ? before : state);
  const facts = { isRecovery: recovery, threshold: level?.threshold ?? null };
  const change = changeTo(state, facts);
  return logAlert(unit, { ...change, alert_type: type, alert_status: state });
}
