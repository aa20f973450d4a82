import { assertPresent } from '../../../runtime/failure.js';
import type { BillingReason } from '../../declarations/invoices/invoice.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import type { UnusedCharge } from '../../domain/invoice/invoice.js';
import { findInvoiceConfig, type InvoiceConfig } from '../../platform/settings/invoice-config.js';
import { accept, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { computeWithoutUsage } from '../../invoicing/compute/compute-invoice.js';
import { storeInvoices } from '../../invoicing/finalize/store-invoices.js';
import type { NewDraft, StoredInvoice } from '../../invoicing/drafts/draft-invoices.js';
import type { InvoiceTask } from '../../invoicing/drafts/invoice-task.js';
import {
  findFirstQuery,
  findInvoiceQueries,
  type StoredQuery,
} from '../../invoicing/drafts/find-invoice-queries.js';
import { billedFromMade, type MadeSubscription } from './made-subscription.js';

/** Whether an opening invoice may have a line for it (docs/domain.md 22.1). */
export function isChargedAtStart(
  item: Pick<LineItemRow, 'invoice_cadence' | 'billing_period'>,
): boolean {
  return item.invoice_cadence === 'ADVANCE' || item.billing_period === 'ONETIME';
}

/** A subscription that begins; why it opens, and what its first invoice takes off. */
type Opening = {
  readonly subscription: SubscriptionRow;
  readonly lineItems: readonly LineItemRow[];
  readonly reason?: 'SUBSCRIPTION_CREATE' | 'SUBSCRIPTION_UPDATE';
  readonly unused?: readonly UnusedCharge[];
  /** Of a subscription that this unit has made, all of it; others are read. */
  readonly made?: MadeSubscription | undefined;
};

function reasonOf(
  isTrial: boolean,
  given: Opening['reason'] = 'SUBSCRIPTION_CREATE',
): BillingReason {
  return isTrial ? 'SUBSCRIPTION_TRIAL_START' : given;
}

/**
 * Computes the opening invoice of a new subscription: ADVANCE and ONETIME lines of the first period
 * (docs/domain.md 22.1). Null where there is no such line. A trial opens with an invoice of zero
 * (docs/domain.md 22.4).
 * @param known How invoices are made out, where the unit has read it.
 */
export async function computeOpening(
  unit: Unit,
  { subscription, lineItems, reason, unused = [], made }: Opening,
  known?: InvoiceConfig,
): Promise<NewDraft | null> {
  const isTrial = subscription.subscription_status === 'trialing';
  if (!isTrial && !lineItems.some(isChargedAtStart)) return null;
  const { id: subscriptionId, current_period_start: startMs, current_period_end } = subscription;
  const period = { startMs, endMs: current_period_end };
  const task = {
    subscriptionId,
    period,
    reason: reasonOf(isTrial, reason),
    invoiceId: null,
    unused,
  };
  const queries = await findQueries(unit, task, { made, known });
  const [first] = await computeWithoutUsage(unit, queries, made?.known);
  const computed = accept(assertPresent(first, 'the opening invoice'));
  if (!isTrial && computed.invoice.lines.length === 0) return null;
  const { revision } = computed.query;
  return { computed, held: { subscription, revision }, finalizeAt: null };
}

async function findQueries(
  unit: Unit,
  task: InvoiceTask,
  { made, known }: Pick<Opening, 'made'> & { readonly known: InvoiceConfig | undefined },
): Promise<readonly (StoredQuery | Refusal)[]> {
  if (made === undefined) return findInvoiceQueries(unit, [task]);
  const config = known ?? (await findInvoiceConfig(unit));
  return [await findFirstQuery(unit, task, { made: billedFromMade(made), config })];
}

/** Stores and finalizes the opening invoice of a new subscription in the unit that makes it. */
export async function storeOpeningInvoice(
  unit: Unit,
  opening: Opening,
): Promise<StoredInvoice | null> {
  const invoice = await computeOpening(unit, opening);
  if (invoice === null) return invoice;
  const stored = await storeInvoices(unit, [invoice]);
  return assertPresent(stored[0], 'the opening invoice');
}
