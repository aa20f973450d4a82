import { sql } from 'slonik';
import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import type { Database } from '../../sql/pool.js';

/** A credit for unused time as releases stored it that wrote no credit note for it. */
export async function storeEarlierCredit(
  database: Database,
  { tenantId, environmentId }: Environment,
): Promise<void> {
  await ownerOf(database).query(sql.type(z.unknown())`
    WITH line AS (
      SELECT id, subscription_line_item_id AS item, period_start, period_end FROM invoice_line_items
      WHERE tenant_id = ${tenantId} AND environment_id = ${environmentId}
        AND subscription_line_item_id IS NOT NULL
      ORDER BY id LIMIT 1
    ), movement AS (
      SELECT id FROM wallet_transactions
      WHERE tenant_id = ${tenantId} AND environment_id = ${environmentId} ORDER BY id LIMIT 1
    ), credit AS (
      INSERT INTO line_credits (tenant_id, environment_id, wallet_transaction_id,
        subscription_line_item_id, period_start, period_end, amount)
      SELECT ${tenantId}, ${environmentId}, movement.id, line.item, line.period_start,
        line.period_end, 0.01
      FROM line, movement
      -- The same environment is filled twice.
      ON CONFLICT DO NOTHING
    )
    INSERT INTO credited_charges (tenant_id, environment_id, wallet_transaction_id, is_own,
      invoice_line_item_id, subscription_line_item_id, period_start, period_end, net_amount,
      tax_amount)
    SELECT ${tenantId}, ${environmentId}, movement.id, false, line.id, line.item,
      line.period_start, line.period_end, 0.01, 0
    FROM line, movement`);
}

/** Late usage of an invoice, as the job that looks for it stores it. */
export async function storeLateUsageRow(
  database: Database,
  { tenantId, environmentId }: Environment,
): Promise<void> {
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO late_usage (tenant_id, environment_id, invoice_id, place, subscription_id,
      customer_id, kind, display_name, currency, period_start, period_end, quantity, amount,
      event_count, seen_at)
    SELECT ${tenantId}, ${environmentId}, id, 'true_up', subscription_id, customer_id, 'true_up',
      'Late', currency, period_start, period_end, 0, 0.01, 0, now()
    FROM invoices
    WHERE tenant_id = ${tenantId} AND environment_id = ${environmentId}
      AND subscription_id IS NOT NULL AND period_end IS NOT NULL
    ORDER BY id LIMIT 1
    ON CONFLICT DO NOTHING`);
}

/** What an attempt to prepare a correction has written that was cut short: nobody reads it. */
export async function storeUnreadCorrection(
  clickhouse: ClickHouse,
  { tenantId, environmentId }: Environment,
): Promise<void> {
  const of = { tenantId, environmentId };
  await clickhouse.command(
    `INSERT INTO event_corrections_v1 (tenant_id, environment_id, event_name, customer_key,
       timestamp, correction, effect, event_id, appended_at)
     SELECT {tenantId: String}, {environmentId: String}, 'api.request', 'gone',
       toDateTime64('2026-01-05 08:00:00', 3, 'UTC'), 9, 'withdrawn', 'order-1040',
       toDateTime64('2026-01-05 08:00:00', 3, 'UTC')`,
    of,
  );
  await clickhouse.command(
    `INSERT INTO corrected_minutes_v1 (tenant_id, environment_id, event_name, customer_key, minute,
       correction)
     SELECT {tenantId: String}, {environmentId: String}, 'api.request', 'gone',
       toDateTime64('2026-01-05 08:00:00', 0, 'UTC'), 9`,
    of,
  );
}
