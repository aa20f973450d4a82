import type { InstantMs } from '../../../contract/instant.js';
import { priceInvoice } from '../../domain/invoice/build/build-invoice.js';
import type { InvoiceInputs, InvoiceResult } from '../../domain/invoice/invoice.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { readUnit, type ReadUnit } from '../../records/unit.js';
import { readerBelow } from '../../usage/watermark/read-below.js';
import { usageOfCustomers, type UsageReadDependencies } from '../../usage/usage-customers.js';
import { invoiceInputsOf } from './invoice-inputs.js';
import type { InvoiceQuery } from './invoice-query.js';
import { loadBillingRecords, type BillingRecords } from './load-billing-records.js';
import { planInvoice } from './plan-invoice.js';
import { readLineUsage } from './read-line-usage.js';

export type ComputedInvoice<Query extends InvoiceQuery> = Pick<
  BillingRecords,
  'customer' | 'metering' | 'watermark' | 'taxes'
> & {
  readonly query: Query;
  /** Everything that decided the invoice: computing it again from them gives the same bytes. */
  readonly inputs: InvoiceInputs;
  readonly invoice: InvoiceResult;
  /** Events received before this instant are included. */
  readonly dataUntil: InstantMs | null;
};

/** The invoice of a preview, which asks for nothing more than every computation does. */
export type InvoicePreview = ComputedInvoice<InvoiceQuery>;

/**
 * Computes the invoice of a subscription as it stands now: loads its records, selects its lines,
 * reads their usage and prices them. Nothing is stored.
 *
 * Everything that comes from PostgreSQL, also what `findQuery` reads, is one snapshot: no change
 * made meanwhile is seen in one record and missed in another. The snapshot names the watermark:
 * the generations of minutes to read, and how far events count. So usage is read after it
 * (docs/architecture.md 3.2).
 * @throws DependencyError when a database fails: a failure never becomes an amount.
 */
export async function computeInvoice<Query extends InvoiceQuery>(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  findQuery: (unit: ReadUnit) => Promise<Query | Refusal>,
): Promise<ComputedInvoice<Query> | Refusal> {
  // Before the watermark, which covers what was finished by then.
  const dataUntil = await dependencies.dataUntil();
  const found = await readUnit(dependencies, occasion, async (unit) => {
    const query = await findQuery(unit);
    if (isRefusal(query)) return query;
    return { query, records: await loadBillingRecords(unit, query) };
  });
  if (isRefusal(found)) return found;
  const { query, records } = found;
  const { customer, metering, featureIds, watermark, taxes } = records;
  const plan = planInvoice(query, records);
  if (isRefusal(plan)) return plan;
  const { environment } = occasion;
  const owner = { environment, customers: usageOfCustomers([customer]) };
  const { grouping } = query;
  const usage = await readLineUsage(readerBelow(dependencies, watermark.ends), owner, {
    lines: plan.usage,
    grouping,
    featureIds,
  });
  if (isRefusal(usage)) return usage;
  const inputs = invoiceInputsOf({ plan, usage, query, records });
  const invoice = priceInvoice(plan.lines, inputs);
  return { query, customer, metering, inputs, invoice, watermark, taxes, dataUntil };
}
