import { sql } from 'slonik';
import { formatInstant } from '../../contract/instant.js';
import { integerColumn } from '../../sql/columns.js';
import { z } from 'zod';
import { rowIsOfEnvironment } from '../records/conditions.js';
import type { Occasion } from '../records/occasion.js';
import type { PageRequest } from '../records/record-dto.js';
import type { Page } from '../records/search-records.js';
import { mustRead, type ReadDependencies } from '../records/unit.js';
import { SETTLE_PAUSE } from '../subscription-life/pauses/settle-pauses.js';
import { BILL_SUBSCRIPTION, FINALIZE_EDITED, FINALIZE_INVOICE } from './due-tasks.js';
import { leftoverRow, type LeftoverRow } from './leftover-item.js';
import { RENEW_CHILD } from './renew-children.js';

/** GET /billing/leftovers: what the billing run has not collected, the oldest first. */
export function readLeftovers(
  dependencies: ReadDependencies,
  occasion: Occasion,
  query: PageRequest,
): Promise<Page<LeftoverRow>> {
  const { limit = 50, offset = 0 } = query;
  return mustRead(dependencies, occasion, async ({ tx, environment, now }) => {
    const { tenantId, environmentId } = environment;
    const at = sql.fragment`${formatInstant(now)}::timestamptz`;
    const found = sql.fragment`
      SELECT * FROM find_leftovers(${tenantId}, ${environmentId}, ${at}, interval '100 years')
      WHERE kind IN ('held_draft', 'missing_invoice', 'future_period') OR wait > interval '1 hour'`;
    const items = await tx.any(sql.type(leftoverRow)`
      SELECT CASE WHEN found.kind IN ('renewal', 'draft', 'overdue') THEN 'late_' || found.kind ELSE found.kind END AS kind,
        found.subscription_id, coalesce(invoice.customer_id, subscription.customer_id) AS customer_id,
        found.invoice_id, found.period_start, found.period_end, ${at} - found.wait AS since,
        extract(epoch FROM found.wait)::double precision AS age_seconds, found.meter_id,
        (SELECT min(jobs.id) FROM jobs
          WHERE ${rowIsOfEnvironment('jobs')} AND (jobs.name IN (${FINALIZE_INVOICE}, ${FINALIZE_EDITED}) AND jobs.key = found.invoice_id
            OR jobs.name IN (${BILL_SUBSCRIPTION}, ${SETTLE_PAUSE}, ${RENEW_CHILD}) AND jobs.key = found.subscription_id
              AND found.invoice_id IS NULL)) AS job_id
      FROM (${found}) AS found
      LEFT JOIN invoices AS invoice ON invoice.id = found.invoice_id AND ${rowIsOfEnvironment('invoice')}
      LEFT JOIN subscriptions AS subscription ON subscription.id = found.subscription_id
        AND ${rowIsOfEnvironment('subscription')}
      ORDER BY found.wait DESC, found.subscription_id, found.invoice_id, found.period_end
      LIMIT ${limit} OFFSET ${offset}`);
    const total = await tx.oneFirst(sql.type(z.object({ count: integerColumn }))`
      SELECT count(*) AS count FROM (${found}) AS found`);
    return { items, pagination: { total, limit, offset } };
  });
}
