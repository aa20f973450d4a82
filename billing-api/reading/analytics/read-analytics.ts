import { assertPresent, mustGet } from '../../../runtime/failure.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { readUsageOfMany } from '../../usage/read-usage.js';
import { tooManyCells } from '../../usage/usage-answer.js';
import { usageOfOwners, type UsageReadDependencies } from '../../usage/usage-customers.js';
import { itemsOf, sumOfCosts, type Analytics, type AnalyticsItem } from './analytics-items.js';
import { findAnalyticsLines, type AnalyticsLines } from './analytics-lines.js';
import type { AnalyticsRequest } from './analytics-query.js';
import { readInvoicedCharges, type InvoicedCharges } from './invoiced-charges.js';
import { invoicedPeriods } from './invoiced-periods.js';
import { lineQueriesOf, type LineQueries } from './analytics-usage.js';

/** Lines with what invoices charge for them; null where each is priced by itself. */
type PricedLines = AnalyticsLines & { readonly invoiced: InvoicedCharges | null };

/** Reads all lines in one round trip. */
async function readItems(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  { lines, metering, query, usageOf, invoiced }: PricedLines,
): Promise<readonly AnalyticsItem[] | Refusal> {
  const all: LineQueries[] = [];
  for (const line of lines) {
    const meterId = assertPresent(line.row.meter_id, 'the meter of a line');
    const meter = mustGet(metering.effectiveMeters, meterId, 'the meter of a line');
    const queries = lineQueriesOf(line, meter, query);
    if (isRefusal(queries)) return queries;
    all.push(queries);
  }
  const asked = all.map(({ line, usage, sources }) => {
    const owners = mustGet(usageOf, line.subscription.id, 'the owners of usage');
    return { customers: usageOfOwners(owners), queries: [usage, sources] };
  });
  const answers = await readUsageOfMany(dependencies.usage, occasion.environment, asked);
  if (answers === null) return tooManyCells({ buckets: null });
  return all.flatMap((queries) => itemsOf({ queries, query, answers, invoiced }));
}

/** POST /events/analytics (docs/http.md 10.4). */
export async function readAnalytics(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  request: AnalyticsRequest,
): Promise<Analytics | Refusal> {
  const { expand = [] } = request;
  const found = await findAnalyticsLines(dependencies, occasion, request);
  if (isRefusal(found)) return found;
  // The watermark is read before anything is counted, so that it holds for every count.
  const dataUntil = await dependencies.dataUntil();
  const periods = invoicedPeriods(found, request.include_children === true);
  const invoiced =
    periods === null ? null : await readInvoicedCharges(dependencies, occasion, periods);
  const items = await readItems(dependencies, occasion, { ...found, invoiced });
  if (isRefusal(items)) return items;
  const { query, customer, metering, related } = found;
  const [currency = null, ...others] = new Set(
    items.map(({ line }) => line.lineItem.price.currency),
  );
  const common = others.length === 0 ? currency : null;
  return {
    customer,
    metering,
    related,
    items,
    currency: common,
    cost: common === null ? null : sumOfCosts(items, common),
    windowSize: query.windowSize,
    invoiced,
    isBrokenDown: request.breakdown_bucket === true,
    expand: new Set(expand),
    dataUntil,
  };
}
