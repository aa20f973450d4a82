import type { InstantMs, Interval } from '../../../contract/instant.js';
import { currentPeriod } from '../../domain/calendar/billing-periods.js';
import { MemberReader } from '../../records/member-rules.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import { termsFromRow } from '../../subscriptions/subscription-terms.js';
import {
  loadSubscription,
  type LoadedSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { NO_GROUPING } from '../../usage/usage-grouping.js';
import type { InvoiceQuery } from '../compute/invoice-query.js';

export type SubscriptionUsageRequest = {
  readonly subscription_id: string;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
};

/** The current period, or what the request names instead. */
function readRange(
  reader: MemberReader,
  request: SubscriptionUsageRequest,
  current: Interval,
): Interval {
  const startMs = reader.instant('start_time', request.start_time) ?? current.startMs;
  const endMs = reader.instant('end_time', request.end_time) ?? current.endMs;
  if (endMs <= startMs) reader.note('end_time', 'must be later than start_time');
  return { startMs, endMs };
}

function queryFrom(
  request: SubscriptionUsageRequest,
  loaded: LoadedSubscription,
  now: InstantMs,
): InvoiceQuery | Refusal {
  const { subscription, related } = loaded;
  const reader = new MemberReader();
  const period = readRange(reader, request, currentPeriod(termsFromRow(subscription), now));
  const lineItems = related.lineItems.filter((row) => row.price_type === 'USAGE');
  const shown = { grouping: NO_GROUPING, hideZeroCharges: false };
  return reader.refusal() ?? { loaded, period, lineItems, ...shown, now };
}

/** The invoice whose usage lines answer a request. */
export async function findUsageQuery(
  unit: ReadUnit,
  request: SubscriptionUsageRequest,
  now: InstantMs,
): Promise<InvoiceQuery | Refusal> {
  const loaded = await loadSubscription(unit, request.subscription_id);
  return isRefusal(loaded) ? loaded : queryFrom(request, loaded, now);
}
