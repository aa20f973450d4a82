import { assertPresent } from '../../../runtime/failure.js';
import type { BillingReason } from '../../declarations/invoices/invoice.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import type { UnusedCharge } from '../../domain/invoice/invoice.js';
import { findInvoiceConfig } from '../../platform/settings/invoice-config.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { computeWithoutUsage } from '../../invoicing/compute/compute-invoice.js';
import { storeAndFinalize } from '../../invoicing/finalize/store-and-finalize.js';
import type { StoredInvoice } from '../../invoicing/drafts/draft-invoices.js';
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
  readonly made?: MadeSubscription;
};

function reasonOf(
  isTrial: boolean,
  given: Opening['reason'] = 'SUBSCRIPTION_CREATE',
): BillingReason {
  return isTrial ? 'SUBSCRIPTION_TRIAL_START' : given;
}

/**
 * Stores and finalizes the opening invoice of a new subscription in the unit that makes it: ADVANCE
 * and ONETIME lines of the first period (docs/domain.md 22.1). Null where there is no such line. A
 * trial opens with an invoice of zero (docs/domain.md 22.4).
 */
export async function storeOpeningInvoice(
  unit: Unit,
  { subscription, lineItems, reason, unused = [], made }: Opening,
): Promise<StoredInvoice | null | Refusal> {
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
  const config = await findInvoiceConfig(unit);
  const queries: readonly (StoredQuery | Refusal)[] =
    made === undefined
      ? await findInvoiceQueries(unit, [task])
      : [await findFirstQuery(unit, task, { made: billedFromMade(made), config })];
  const [computed] = await computeWithoutUsage(unit, queries, made?.known);
  const invoice = assertPresent(computed, 'the opening invoice');
  if (isRefusal(invoice)) return invoice;
  if (!isTrial && invoice.invoice.lines.length === 0) return null;
  const held = { subscription, revision: invoice.query.revision, config };
  const final = await storeAndFinalize(unit, invoice, held);
  if (isRefusal(final)) return final;
  const [stored] = [...final.finalized, ...final.skipped];
  return assertPresent(stored, 'the opening invoice');
}
