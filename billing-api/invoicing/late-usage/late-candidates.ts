import { sql } from 'slonik';
import { z } from 'zod';
import type { ClickHouse } from '../../../clickhouse/client.js';
import { queryFile } from '../../../clickhouse/query-file.js';
import type { Environment } from '../../../contract/environment.js';
import { environmentKey } from '../../../contract/environment.js';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { groupBy } from '../../../runtime/group-by.js';
import { assertPresent } from '../../../runtime/failure.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { partitionName, type PartitionEnd } from '../../domain/usage/watermark.js';
import { rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit } from '../../records/unit.js';

const PAGE = 20_000;

const CANDIDATES = queryFile('list-late-candidates');

const candidateRow = z.object({
  tenant_id: z.string(),
  environment_id: z.string(),
  customer_key: z.string(),
  first_ms: z.string().transform(Number),
});

/** A customer with events that a look meets, and the earliest of them. */
export type LateCustomer = { readonly key: string; readonly firstMs: InstantMs };

/** Which part of the log a look goes through; all environments, or one. */
export type LookedRange = {
  readonly since: readonly PartitionEnd[];
  readonly until: readonly PartitionEnd[];
  readonly environment: Environment | null;
};

/** The range of offsets of each partition that has any in the range. */
export function rangesOf({ since, until }: Pick<LookedRange, 'since' | 'until'>) {
  const known = new Map(since.map((end) => [partitionName(end), end.countedBelow]));
  const ranges = until.map((end) => {
    // Absent means zero: the partition began afterwards.
    return { ...end, from: known.get(partitionName(end)) ?? 0 };
  });
  const moved = ranges.filter(({ from, countedBelow }) => countedBelow > from);
  return {
    logs: moved.map(({ log }) => log),
    partitions: moved.map(({ partition }) => partition),
    sinceOffsets: moved.map(({ from }) => from),
    untilOffsets: moved.map(({ countedBelow }) => countedBelow),
    least: Math.min(...moved.map(({ from }) => from)),
  };
}

/** Customers whose events lie in a range of the log, by environment, page by page. */
export async function* lateCustomersOf(
  clickHouse: Pick<ClickHouse, 'query'>,
  { environment, ...range }: LookedRange,
): AsyncGenerator<{
  readonly environment: Environment;
  readonly customers: readonly LateCustomer[];
}> {
  const ranges = rangesOf(range);
  if (ranges.logs.length === 0) return;
  const { tenantId, environmentId } = environment ?? { tenantId: '', environmentId: '' };
  let after = { afterTenant: '', afterEnvironment: '', afterKey: '' };
  for (;;) {
    const parameters = { tenantId, environmentId, ...ranges, ...after, rowsMax: PAGE };
    const rows = await clickHouse.query(CANDIDATES, parameters, candidateRow);
    const groups = groupBy(rows, (row) =>
      environmentKey({ tenantId: row.tenant_id, environmentId: row.environment_id }),
    );
    for (const [, group] of groups) {
      const first = assertPresent(group[0], 'a customer');
      yield {
        environment: { tenantId: first.tenant_id, environmentId: first.environment_id },
        customers: group.map((row) => ({ key: row.customer_key, firstMs: row.first_ms })),
      };
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    const {
      tenant_id: afterTenant,
      environment_id: afterEnvironment,
      customer_key: afterKey,
    } = last;
    after = { afterTenant, afterEnvironment, afterKey };
  }
}

/**
 * The final invoices that may not count events of these customers: invoices of periods that end
 * after the earliest of the events. They are of the customers' own subscriptions, of the parents
 * that they inherit from, and of those that bill them as grouped children.
 */
export async function findLateInvoices(
  { tx }: StatementUnit,
  customers: readonly LateCustomer[],
): Promise<readonly { readonly id: string; readonly subscriptionId: string }[]> {
  const given = customers.map(({ key, firstMs }) => ({ key, first: formatInstant(firstMs) }));
  const rows = JSON.stringify(given);
  const found = await tx.any(sql.type(z.object({ id: z.string(), subscription_id: z.string() }))`
    SELECT DISTINCT invoice.id, invoice.subscription_id
    FROM (
      SELECT customer.id, given.first FROM jsonb_to_recordset(${rows}::jsonb) AS given (key text, first timestamptz)
      JOIN customers AS customer
        ON customer.external_id = substr(given.key, 3) AND ${rowIsOfEnvironment('customer')}
      WHERE starts_with(given.key, 'e:')
      UNION ALL
      SELECT customer.id, given.first FROM jsonb_to_recordset(${rows}::jsonb) AS given (key text, first timestamptz)
      JOIN customers AS customer
        ON customer.id = substr(given.key, 3) AND ${rowIsOfEnvironment('customer')}
      WHERE starts_with(given.key, 'i:')) AS late
    JOIN subscriptions AS member ON member.customer_id = late.id AND ${rowIsOfEnvironment('member')}
    JOIN invoices AS invoice ON invoice.subscription_id IN (member.id, member.parent_subscription_id)
      AND ${rowIsOfEnvironment('invoice')}
    WHERE invoice.period_end > late.first AND invoice.invoice_type = 'SUBSCRIPTION'
      AND invoice.billing_reason = 'SUBSCRIPTION_CYCLE' AND NOT invoice.is_manually_edited
      AND ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'decided')}
      AND EXISTS (SELECT FROM invoice_line_items AS line WHERE line.invoice_id = invoice.id
        AND line.price_type = 'USAGE' AND ${rowIsOfEnvironment('line')})
    ORDER BY invoice.subscription_id, invoice.id`);
  return found.map(({ id, subscription_id: subscriptionId }) => ({ id, subscriptionId }));
}
