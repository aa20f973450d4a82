import type { ClickHouse } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import { mustGet, zip } from '../../runtime/failure.js';
import type { Database } from '../../sql/pool.js';
import { billUntil } from './bill-environment.js';
import type { BillingUnderTest } from './billing-harness.js';

/** Drafts for the operations that use one up. */
const DRAFTS = [
  'draft',
  'spare_draft',
  'edited_draft',
  'void_draft',
  'voided',
  'recalculated',
] as const;

export type InvoiceIdKind =
  (typeof DRAFTS)[number] | 'draft_line' | 'spare_draft_line' | 'used_line' | 'workflow';

export type InvoiceIds = Readonly<Record<InvoiceIdKind, string>>;

type Filled = {
  readonly environment: Environment;
  readonly customerId: string;
  readonly meterId: string;
  readonly at: string;
};

type Stores = { readonly database: Database; readonly clickhouse: ClickHouse };

/**
 * Drafts of subscriptions whose period ends as the environment is filled, made by the billing job.
 */
export async function makeDrafts(
  { database, clickhouse }: Stores,
  call: BillingUnderTest['call'],
  { environment, customerId, meterId, at }: Filled,
): Promise<InvoiceIds> {
  const make = async (path: string, body: object) => (await call('POST', path, { body })).body;
  const plan = await make('/v1/plans', { name: 'Team' });
  const price = { entity_id: plan.id, currency: 'eur', invoice_cadence: 'ARREAR' };
  await make('/v1/prices', { ...price, amount: '45', display_name: 'Team fee' });
  await make('/v1/prices', { ...price, amount: '5', display_name: 'Support' });
  await make('/v1/prices', { ...price, amount: '0.1', meter_id: meterId });
  const start = new Date(at);
  start.setUTCMonth(start.getUTCMonth() - 1);
  const subscriptions: string[] = [];
  for (const name of DRAFTS) {
    const made = await make('/v1/subscriptions', {
      customer_id: customerId,
      plan_id: plan.id,
      currency: 'eur',
      metadata: { name },
      billing_period: 'MONTHLY',
      start_date: start.toISOString(),
    });
    subscriptions.push(made.id as string);
  }
  await billUntil({ database, clickHouse: clickhouse, environment }, at);
  const made: [string, string][] = [];
  for (const [name, id] of zip(DRAFTS, subscriptions)) {
    const read = await call('GET', `/v1/subscriptions/${id}`);
    made.push([name, read.body.latest_invoice.id as string]);
  }
  const drafts = new Map(made);
  const edited = await call('GET', `/v1/invoices/${mustGet(drafts, 'edited_draft', 'a draft')}`);
  const [first, second] = edited.body.line_items as readonly { readonly id: string }[];
  for (const name of ['voided', 'recalculated']) {
    await call('POST', `/v1/invoices/${mustGet(drafts, name, 'a draft')}/void`, { body: {} });
  }
  const recalculated = mustGet(drafts, 'recalculated', 'a draft');
  const begun = await call('POST', `/v1/invoices/${recalculated}/recalculate`);
  // Done before others look, whose runners would do it.
  await billUntil({ database, clickHouse: clickhouse, environment }, at);
  const stored = (await call('GET', `/v1/invoices/${recalculated}`)).body.line_items;
  const used = (stored as readonly { readonly id: string }[]).at(-1)?.id;
  const lines = [
    ['used_line', used] as const,
    ['draft_line', first?.id] as const,
    ['spare_draft_line', second?.id] as const,
  ];
  // The names are those of the drafts and of their lines.
  return Object.fromEntries([
    ...drafts,
    ...lines,
    ['workflow', begun.body.workflow_id],
  ]) as InvoiceIds;
}
