import { sql } from 'slonik';
import { z } from 'zod';
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
      FROM line, movement RETURNING 1
    )
    INSERT INTO credited_charges (tenant_id, environment_id, wallet_transaction_id, is_own,
      invoice_line_item_id, subscription_line_item_id, period_start, period_end, net_amount,
      tax_amount)
    SELECT ${tenantId}, ${environmentId}, movement.id, false, line.id, line.item,
      line.period_start, line.period_end, 0.01, 0
    FROM line, movement`);
}
