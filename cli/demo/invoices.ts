import pc from 'picocolors';
import type { VerificationDto } from '../../billing-api/reading/verify/verification-dto.js';
import { verificationLines } from '../look/invoice-verbs.js';
import type { ApiClient } from '../look/api-client.js';
import type { DemoCatalog } from './catalog.js';
import { tableLines } from '../look/tables.js';

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
type Invoice = {
  readonly invoice_number: string;
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

function printInvoice(customer: string, invoice: Invoice): void {
  const rows = invoice.line_items.flatMap((line) => [
    [`  ${line.display_name}`, line.quantity, line.amount, ''],
    ...splitRows(line),
  ]);
  const currency = invoice.currency.toUpperCase();
  console.log(`\n${pc.bold(`Invoice ${invoice.invoice_number} for ${customer}`)}`);
  const total = [pc.bold('  Total'), '', pc.bold(invoice.total), ''];
  const header = ['', 'quantity', `amount ${currency}`, 'share'];
  for (const line of tableLines(header, [...rows, total])) console.log(line);
}

/**
 * Prints finalized invoices of customers, split by source and status, and verifies each from what
 * it was computed from and from the stored events. Returns whether all are the same.
 */
export async function printInvoices(
  api: ApiClient,
  catalog: DemoCatalog,
  invoices: readonly { readonly customer: string; readonly id: string }[],
): Promise<boolean> {
  await printPrices(api, catalog.planId);
  let areSame = true;
  for (const { customer, id } of invoices) {
    const groups = 'group_by=source&group_by=properties.status';
    printInvoice(customer, await api.get<Invoice>(`/invoices/${id}?${groups}`));
    const verified = await api.get<VerificationDto>(`/invoices/${id}/verify`);
    for (const line of verificationLines(verified)) console.log(pc.dim(`  ${line}`));
    const { same_from_inputs: inputs, same_from_events: events } = verified;
    areSame = areSame && inputs && events === true;
  }
  return areSame;
}
