import type { InstantMs } from '../../../contract/instant.js';
import { findSymbolsOfPrices } from '../../catalog/price-units/price-units-store.js';
import type { UnitSymbols } from '../../domain/price/price-unit.js';
import { MemberReader } from '../../records/member-rules.js';
import { accept, type Refusal } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import {
  loadBilledSubscription,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { NO_GROUPING } from '../../usage/usage-grouping.js';
import { DUE_DAYS_DEFAULT } from '../../domain/invoice/pricing/due-date.js';
import { previewPurpose } from '../../invoicing/compute/invoice-purpose.js';
import type { InvoiceQuery } from '../../invoicing/compute/invoice-query.js';
import { readRequestedPeriod } from '../../invoicing/compute/requested-period.js';

export type SubscriptionUsageRequest = {
  readonly subscription_id: string;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
};

function queryFrom(
  request: SubscriptionUsageRequest,
  loaded: BilledSubscription,
  now: InstantMs,
): InvoiceQuery | Refusal {
  const { terms, related } = loaded;
  const reader = new MemberReader();
  const period = readRequestedPeriod(
    reader,
    { start: ['start_time', request.start_time], end: ['end_time', request.end_time] },
    { terms, now },
  );
  const lineItems = related.lineItems.filter((row) => row.price_type === 'USAGE');
  // The answer has no due date.
  const purpose = previewPurpose(DUE_DAYS_DEFAULT);
  const shown = { grouping: NO_GROUPING, hideZeroCharges: false, purpose };
  return reader.refusal() ?? { loaded, period, lineItems, ...shown, now };
}

/** The invoice whose usage lines answer a request, and the units in which its prices are shown. */
export type SubscriptionUsageQuery = InvoiceQuery & { readonly symbols: UnitSymbols };

export async function findUsageQuery(
  unit: ReadUnit,
  request: SubscriptionUsageRequest,
): Promise<SubscriptionUsageQuery> {
  const loaded = await loadBilledSubscription(unit, request.subscription_id);
  const query = accept(queryFrom(request, loaded, unit.now));
  const symbols = await findSymbolsOfPrices(unit, loaded.related.prices.values());
  return { ...query, symbols };
}
