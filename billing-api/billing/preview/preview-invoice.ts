import type { InstantMs } from '../../../contract/instant.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import type { Occasion } from '../../records/occasion.js';
import { computeInvoice } from '../compute/compute-invoice.js';
import type { InvoicePreview } from '../compute/compute-invoice.js';
import { findDueDays, previewPurpose } from '../compute/invoice-purpose.js';
import type { InvoiceQuery } from '../compute/invoice-query.js';
import { readPreviewPeriod, type PreviewRequest } from './preview-period.js';
import { readGroups } from '../../usage/usage-grouping.js';
import { MemberReader } from '../../records/member-rules.js';
import {
  loadBilledSubscription,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { isRefusal, Refusal } from '../../records/refusal.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';

type Previewed = {
  readonly loaded: BilledSubscription;
  readonly dueDays: number;
  readonly now: InstantMs;
};

function queryFrom(
  request: PreviewRequest,
  { loaded, dueDays, now }: Previewed,
): InvoiceQuery | Refusal {
  const { terms, related } = loaded;
  const { lineItems, prices } = related;
  const hasFixedLines = lineItems.some(({ price_id: id }) => prices.get(id)?.type === 'FIXED');
  const reader = new MemberReader();
  const period = readPreviewPeriod(reader, request, { terms, hasFixedLines, now });
  const grouping = readGroups(reader, request.group_by);
  const hideZeroCharges = request.hide_zero_charges_line_items ?? false;
  const asked = { grouping, hideZeroCharges, purpose: previewPurpose(dueDays) };
  return reader.refusal() ?? { loaded, period, lineItems, ...asked, now };
}

function isPreviewable({ subscription_status: status }: SubscriptionRow): boolean {
  return isIn(SUBSCRIPTION, 'running', status);
}

/** POST /invoices/preview: the invoice of a period as it stands now; nothing is stored. */
export function previewInvoice(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  request: PreviewRequest,
): Promise<InvoicePreview | Refusal> {
  return computeInvoice(dependencies, occasion, async (unit) => {
    const loaded = await loadBilledSubscription(unit, request.subscription_id);
    if (isRefusal(loaded)) return loaded;
    const { subscription } = loaded;
    if (isPreviewable(subscription)) {
      const dueDays = await findDueDays(unit, subscription);
      return queryFrom(request, { loaded, dueDays, now: unit.now });
    }
    const problem = `the subscription is ${subscription.subscription_status}, so it has no invoice to preview`;
    return new Refusal('invalid_operation', problem);
  });
}
