import { assertPresent } from '../../../runtime/failure.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import type { UnusedCharge } from '../../domain/invoice/invoice.js';
import { findInvoiceConfig } from '../../platform/settings/invoice-config.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { computeWithoutUsage } from '../compute/compute-invoice.js';
import { storeDrafts, type StoredInvoice } from '../stored/draft-invoices.js';
import { asComputed, finalizeDrafts } from '../finalize/finalize-drafts.js';
import { findInvoiceQueries, type StoredQuery } from '../stored/find-invoice-queries.js';

/** Whether an opening invoice may have a line for it (docs/domain.md 22.1). */
export function isChargedAtStart(
  item: Pick<LineItemRow, 'invoice_cadence' | 'billing_period'>,
): boolean {
  return item.invoice_cadence === 'ADVANCE' || item.billing_period === 'ONETIME';
}

/** A new subscription with its lines; why it opens, and what its first invoice takes off. */
type Opening = {
  readonly subscription: SubscriptionRow;
  readonly lineItems: readonly LineItemRow[];
  readonly reason?: 'SUBSCRIPTION_CREATE' | 'SUBSCRIPTION_UPDATE';
  readonly unused?: readonly UnusedCharge[];
};

/**
 * Stores and finalizes the opening invoice of a new subscription in the unit that makes it: ADVANCE
 * and ONETIME lines of the first period (docs/domain.md 22.1). Null where there is no such line.
 */
export async function storeOpeningInvoice(
  unit: Unit,
  { subscription, lineItems, reason = 'SUBSCRIPTION_CREATE', unused = [] }: Opening,
): Promise<StoredInvoice | null | Refusal> {
  if (!lineItems.some(isChargedAtStart)) return null;
  const { id: subscriptionId, current_period_start: startMs, current_period_end } = subscription;
  const period = { startMs, endMs: current_period_end };
  const task = { subscriptionId, period, reason, invoiceId: null, unused } as const;
  const queries: readonly (StoredQuery | Refusal)[] = await findInvoiceQueries(unit, [task]);
  const [computed] = await computeWithoutUsage(unit, queries);
  const invoice = assertPresent(computed, 'the opening invoice');
  if (isRefusal(invoice)) return invoice;
  if (invoice.invoice.lines.length === 0) return null;
  const held = { subscription, revision: invoice.query.revision };
  const drafts = await storeDrafts(unit, [{ computed: invoice, held, finalizeAt: null }]);
  if (isRefusal(drafts)) return drafts;
  const final = await finalizeDrafts(unit, await findInvoiceConfig(unit), drafts.map(asComputed));
  if (isRefusal(final)) return final;
  const [stored] = [...final.finalized, ...final.skipped];
  return assertPresent(stored, 'the opening invoice');
}
