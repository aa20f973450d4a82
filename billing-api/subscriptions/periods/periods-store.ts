import { sql } from 'slonik';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { groupBy } from '../../../runtime/group-by.js';
import { noRows } from '../../../sql/columns.js';
import type { LedgerPeriod } from '../../domain/periods/period-ledger.js';
import { isOfEnvironment } from '../../records/conditions.js';
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

function instant(ms: InstantMs) {
  return sql.fragment`${formatInstant(ms)}::timestamptz`;
}

/** Records a period of a subscription. */
export async function insertPeriod(
  { tx, environment }: Unit,
  subscriptionId: string,
  period: LedgerPeriod,
): Promise<void> {
  const { tenantId, environmentId } = environment;
  const pauses = period.pauses.map(({ startMs, endMs }) => ({
    start: formatInstant(startMs),
    end: formatInstant(endMs),
  }));
  await tx.query(sql.type(noRows)`
    INSERT INTO subscription_periods (tenant_id, environment_id, subscription_id, period_index,
      kind, period_start, period_end, anchor, anchor_number, grid_number, grid_start, grid_end,
      pauses)
    VALUES (${tenantId}, ${environmentId}, ${subscriptionId}, ${period.index}, ${period.kind},
      ${instant(period.startMs)}, ${instant(period.endMs)}, ${instant(period.anchor.atMs)},
      ${period.anchor.number}, ${period.gridNumber}, ${instant(period.grid.startMs)},
      ${instant(period.grid.endMs)}, ${JSON.stringify(pauses)}::jsonb)`);
}
