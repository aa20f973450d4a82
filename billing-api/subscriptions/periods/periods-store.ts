import { sql, type FragmentSqlToken } from 'slonik';
import { z } from 'zod';
import { formatInstant, type Interval } from '../../../contract/instant.js';
import { groupBy } from '../../../runtime/group-by.js';
import { instantColumn, noRows } from '../../../sql/columns.js';
import type { LedgerPeriod } from '../../domain/periods/period-ledger.js';
import {
  CURRENT_ENVIRONMENT,
  isOfEnvironment,
  rowIsOfEnvironment,
} from '../../records/conditions.js';
import type { StatementUnit, Transaction, Unit } from '../../records/unit.js';
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
  /** The subscription whose invoices bill it (docs/domain.md 29.2); absent for its own. */
  readonly billedWith?: string | null;
};

const billedRow = z.object({
  subscription_id: z.string(),
  billed_with: z.string(),
  period_start: instantColumn,
  period_end: instantColumn,
});

/** A period of a grouped child, which the invoice of another subscription bills. */
export type GroupedPeriod = {
  readonly subscriptionId: string;
  readonly parentId: string;
  readonly period: Interval;
};

/**
 * The periods of grouped children that end inside these periods of subscriptions: after the start,
 * or at the end (docs/domain.md 29.2). That of a paused one has no end yet. One statement for all,
 * in the order of the children.
 */
export async function findGroupedPeriods(
  { tx }: StatementUnit,
  parents: readonly { readonly id: string; readonly period: Interval }[],
): Promise<readonly GroupedPeriod[]> {
  if (parents.length === 0) return [];
  const from = Math.min(...parents.map(({ period }) => period.startMs));
  const to = Math.max(...parents.map(({ period }) => period.endMs));
  const rows = await tx.any(sql.type(billedRow)`
    SELECT period.subscription_id, period.billed_with, period.period_start, period.period_end
    FROM subscription_periods AS period
    JOIN subscriptions AS child ON child.id = period.subscription_id AND ${rowIsOfEnvironment('child')}
    WHERE period.billed_with = ANY (${sql.array(
      parents.map(({ id }) => id),
      'text',
    )})
      AND period.period_end > ${formatInstant(from)}::timestamptz
      AND period.period_end <= ${formatInstant(to)}::timestamptz AND ${rowIsOfEnvironment('period')}
      AND NOT (child.subscription_status = 'paused' AND child.current_period_end = period.period_end)
    ORDER BY period.subscription_id, period.period_index`);
  const found = rows.map((row) => ({
    subscriptionId: row.subscription_id,
    parentId: row.billed_with,
    period: { startMs: row.period_start, endMs: row.period_end },
  }));
  return found.filter(({ parentId, period: { endMs } }) =>
    parents.some(({ id, period }) => {
      return id === parentId && endMs > period.startMs && endMs <= period.endMs;
    }),
  );
}

/** Says which subscription bills the running period of another one; null for itself. */
export async function markBilledWith(
  { tx }: Unit,
  subscriptionId: string,
  parentId: string | null,
): Promise<void> {
  await tx.query(sql.type(noRows)`
    UPDATE subscription_periods AS period SET billed_with = ${parentId}
    FROM subscriptions AS subscription
    WHERE subscription.id = ${subscriptionId} AND ${rowIsOfEnvironment('subscription')}
      AND period.subscription_id = subscription.id AND ${rowIsOfEnvironment('period')}
      AND period.period_end = subscription.current_period_end`);
}

function pauseToJson({ startMs, endMs }: Interval) {
  return { start: formatInstant(startMs), end: formatInstant(endMs) };
}

/**
 * Notes that the billing run can end the running period of a subscription from now on, not before
 * (docs/operations.md 5.1).
 */
export async function awaitRenewal({ tx, now }: Unit, subscriptionId: string): Promise<void> {
  await tx.query(sql.type(noRows)`
    UPDATE subscription_periods AS period
    SET awaited_from = ${formatInstant(now)}::timestamptz
    FROM subscriptions AS subscription
    WHERE subscription.id = ${subscriptionId} AND ${rowIsOfEnvironment('subscription')}
      AND period.subscription_id = subscription.id AND ${rowIsOfEnvironment('period')}
      AND period.period_end = subscription.current_period_end`);
}

/**
 * Records what has become of the running period of a subscription: its end, kind and pauses. A
 * release that recorded no periods left it out.
 */
export function replaceLastPeriod(unit: Unit, ended: SubscriptionPeriod): Promise<void> {
  return writePeriods(
    unit,
    [ended],
    sql.fragment`DO UPDATE SET kind = excluded.kind, period_end = excluded.period_end,
      awaited_from = excluded.awaited_from, pauses = excluded.pauses`,
  );
}

/** Removes the periods of a subscription after one of them, which it does not live any more. */
export async function removePeriods(
  { tx }: Unit,
  subscriptionId: string,
  afterIndex: number,
): Promise<void> {
  await tx.query(sql.type(noRows)`
    DELETE FROM subscription_periods
    WHERE subscription_id = ${subscriptionId} AND period_index > ${afterIndex}
      AND ${isOfEnvironment}`);
}

/** Records periods of subscriptions; those that are recorded already stay as they are. */
export function insertPeriods(unit: Unit, periods: readonly SubscriptionPeriod[]): Promise<void> {
  return writePeriods(unit, periods, sql.fragment`DO NOTHING`);
}

async function writePeriods(
  { tx, now }: Unit,
  periods: readonly SubscriptionPeriod[],
  whereRecorded: FragmentSqlToken,
): Promise<void> {
  const rows = periods.map(({ subscriptionId, period, billedWith = null }) => ({
    billed_with: billedWith,
    awaited_from: formatInstant(now),
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
      pauses, billed_with, awaited_from)
    SELECT ${CURRENT_ENVIRONMENT}, subscription_id, period_index, kind, period_start, period_end,
      anchor, anchor_number, grid_number, grid_start, grid_end, pauses, billed_with,
      awaited_from
    FROM jsonb_populate_recordset(NULL::subscription_periods, ${JSON.stringify(rows)}::jsonb)
    ON CONFLICT (tenant_id, environment_id, subscription_id, period_index) ${whereRecorded}`);
}
