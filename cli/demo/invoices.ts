import pc from 'picocolors';
import type { ApiClient } from './api-client.js';
import type { DemoCatalog } from './catalog.js';
import { tableLines } from './tables.js';

type Split = {
  readonly usage: string;
  readonly cost: string;
  readonly percentage: string;
  readonly event_count: number;
};
type Line = {
  readonly display_name: string;
  readonly quantity: string;
  readonly amount: string;
  readonly usage_analytics: readonly (Split & { readonly source: string })[];
  readonly usage_breakdown: readonly (Split & {
    readonly grouped_by: Readonly<Record<string, string>>;
  })[];
};
type Preview = {
  readonly currency: string;
  readonly total: string;
  readonly line_items: readonly Line[];
};

const SPLITS_SHOWN = 4;

type Tier = {
  readonly up_to: number | null;
  readonly unit_amount: string;
  readonly flat_amount: string | null;
};
type PlanAnswer = {
  readonly name: string;
  readonly prices: readonly {
    readonly display_name: string;
    readonly amount: string | null;
    readonly tiers: readonly Tier[] | null;
    readonly transform_quantity: { readonly divide_by: number } | null;
  }[];
};

function priceRows(price: PlanAnswer['prices'][number]): readonly (readonly string[])[] {
  if (price.tiers === null || price.tiers.length === 0) {
    const packageSize = price.transform_quantity?.divide_by ?? 1;
    return [[price.display_name, `per started ${packageSize}`, price.amount ?? '', '']];
  }
  return price.tiers.map((tier, index) => [
    index === 0 ? price.display_name : '',
    tier.up_to === null ? 'beyond' : `up to ${tier.up_to}`,
    tier.unit_amount,
    tier.flat_amount ?? '',
  ]);
}

async function printPrices(api: ApiClient, planId: string): Promise<void> {
  const plan = await api.get<PlanAnswer>(`/plans/${planId}`);
  console.log(`\n${pc.bold(`Prices of the plan ${plan.name}`)}`);
  const header = ['', 'tier or package', 'amount', 'flat'];
  for (const line of tableLines(header, plan.prices.flatMap(priceRows))) console.log(line);
}

/** The month in UTC in which the log begins. */
function monthOf(timestamp: string): { readonly start: string; readonly end: string } {
  const first = new Date(timestamp);
  const year = first.getUTCFullYear();
  const month = first.getUTCMonth();
  const boundary = (at: number): string => new Date(Date.UTC(year, at, 1)).toISOString();
  return { start: boundary(month), end: boundary(month + 1) };
}

function splitRows(line: Line): readonly (readonly string[])[] {
  const bySource = line.usage_analytics
    .slice(0, SPLITS_SHOWN)
    .map((split) => ({ ...split, name: `from ${split.source}` }));
  const byStatus = line.usage_breakdown
    .slice(0, SPLITS_SHOWN)
    .map((split) => ({ ...split, name: `status ${Object.values(split.grouped_by).join(', ')}` }));
  return [...bySource, ...byStatus].map((split) =>
    [`    ${split.name}`, split.usage, split.cost, `${split.percentage} %`].map((text) =>
      pc.dim(text),
    ),
  );
}

function printPreview(customer: string, preview: Preview): void {
  const rows = preview.line_items.flatMap((line) => [
    [`  ${line.display_name}`, line.quantity, line.amount, ''],
    ...splitRows(line),
  ]);
  const currency = preview.currency.toUpperCase();
  console.log(`\n${pc.bold(`Invoice preview for ${customer}`)}`);
  const total = [pc.bold('  Total'), '', pc.bold(preview.total), ''];
  const header = ['', 'quantity', `amount ${currency}`, 'share'];
  for (const line of tableLines(header, [...rows, total])) console.log(line);
}

/**
 * Subscribes customers to the plan from the month of the log on, and prints the invoice preview of
 * that month for each.
 */
export async function printInvoices(
  api: ApiClient,
  catalog: DemoCatalog,
  facts: { readonly customers: readonly string[]; readonly firstEventAt: string },
): Promise<void> {
  const month = monthOf(facts.firstEventAt);
  await printPrices(api, catalog.planId);
  for (const customer of facts.customers) {
    const { id } = await api.post<{ readonly id: string }>('/subscriptions', {
      external_customer_id: customer,
      plan_id: catalog.planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: month.start,
    });
    const preview = await api.post<Preview>('/invoices/preview', {
      subscription_id: id,
      period_start: month.start,
      period_end: month.end,
      group_by: ['source', 'properties.status'],
    });
    printPreview(customer, preview);
  }
}
