import { sql } from 'slonik';
import { formatInstant, type Interval } from '../../../contract/instant.js';
import { groupBy } from '../../../runtime/group-by.js';
import { noRows } from '../../../sql/columns.js';
import type { LedgerPeriod } from '../../domain/periods/period-ledger.js';
import { CURRENT_ENVIRONMENT, isOfEnvironment } from '../../records/conditions.js';
import type { Transaction, Unit } from '../../records/unit.js';
import { periodFromRow, periodRow } from './period-row.js';

/** The recorded periods of subscriptions, by subscription, in the order of time. */
export async function findPeriods(
  transaction: Transaction,
  subscriptionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly LedgerPeriod[]>> {
  if (subscriptionIds.length === 0) return new Map();
  const rows = await transaction.any(sql.type(periodRow)`
    SELECT subscription_id, period_index, kind, period_start, period_end, anchor, anchor_number,
      grid_number, grid_start, grid_end, pauses
    FROM subscription_periods
    WHERE subscription_id = ANY (${sql.array([...subscriptionIds], 'text')})
      AND ${isOfEnvironment}
    ORDER BY subscription_id, period_index`);
  const found = groupBy(rows, (row) => row.subscription_id);
  return new Map([...found].map(([id, ofOne]) => [id, ofOne.map(periodFromRow)]));
}

/** A period of a subscription. */
export type SubscriptionPeriod = {
  readonly subscriptionId: string;
  readonly period: LedgerPeriod;
};

function pauseToJson({ startMs, endMs }: Interval) {
  return { start: formatInstant(startMs), end: formatInstant(endMs) };
}

/** Records what has become of the running period of a subscription: its end, kind and pauses. */
export async function replaceLastPeriod(unit: Unit, ended: SubscriptionPeriod): Promise<void> {
  // A release that recorded no periods left it out.
  await insertPeriods(unit, [ended]);
  const { subscriptionId, period } = ended;
  await unit.tx.query(sql.type(noRows)`
    UPDATE subscription_periods
    SET kind = ${period.kind}, period_end = ${formatInstant(period.endMs)}::timestamptz,
      pauses = ${JSON.stringify(period.pauses.map(pauseToJson))}::jsonb
    WHERE subscription_id = ${subscriptionId} AND period_index = ${period.index}
      AND ${isOfEnvironment}`);
}

/** Records periods of subscriptions; those that are recorded already stay as they are. */
export async function insertPeriods(
  { tx }: Unit,
  periods: readonly SubscriptionPeriod[],
): Promise<void> {
  const rows = periods.map(({ subscriptionId, period }) => ({
    subscription_id: subscriptionId,
    period_index: period.index,
    kind: period.kind,
    period_start: formatInstant(period.startMs),
    period_end: formatInstant(period.endMs),
    anchor: formatInstant(period.anchor.atMs),
    anchor_number: period.anchor.number,
    grid_number: period.gridNumber,
    grid_start: formatInstant(period.grid.startMs),
    grid_end: formatInstant(period.grid.endMs),
    pauses: period.pauses.map(pauseToJson),
  }));
  await tx.query(sql.type(noRows)`
    INSERT INTO subscription_periods (tenant_id, environment_id, subscription_id, period_index,
      kind, period_start, period_end, anchor, anchor_number, grid_number, grid_start, grid_end,
      pauses)
    SELECT ${CURRENT_ENVIRONMENT}, subscription_id, period_index, kind, period_start, period_end,
      anchor, anchor_number, grid_number, grid_start, grid_end, pauses
    FROM jsonb_populate_recordset(NULL::subscription_periods, ${JSON.stringify(rows)}::jsonb)
    ON CONFLICT (tenant_id, environment_id, subscription_id, period_index) DO NOTHING`);
}
