import { ZERO, decimalOf, type Decimal } from '../../../contract/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { InvoiceLine } from '../../domain/invoice/invoice.js';
import type { PriceRow } from '../../catalog/prices/prices-store.js';
import type { SubscriptionRow } from '../../subscriptions/subscriptions-store.js';
import type { Caller } from '../../records/caller.js';
import { computeInvoice } from '../compute/compute-invoice.js';
import type { InvoiceQuery } from '../compute/invoice-query.js';
import { NO_GROUPING } from '../../usage/usage-grouping.js';
import { MemberReader } from '../../records/member-rules.js';
import { currentPeriod } from '../../domain/calendar/billing-periods.js';
import {
  loadSubscription,
  type LoadedSubscription,
} from '../../subscriptions/read-subscriptions.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { termsFromRow } from '../../subscriptions/create/subscription-request.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';

export type SubscriptionUsageRequest = {
  readonly subscription_id: string;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
};

/** What the usage of a subscription costs over an interval, before discounts. */
export type SubscriptionUsage = {
  readonly subscription: SubscriptionRow;
  readonly currency: string;
  readonly range: Interval;
  /** The usage lines; a line that a commitment splits appears twice. */
  readonly charges: readonly InvoiceLine[];
  readonly prices: ReadonlyMap<string, PriceRow>;
  readonly amount: Decimal;
  /** The commitment of the subscription; null where it has none. */
  readonly commitment: {
    readonly amount: Decimal;
    readonly overageFactor: Decimal;
    readonly utilized: Decimal;
  } | null;
  readonly overageAmount: Decimal;
};

function sumOf(lines: readonly InvoiceLine[]): Decimal {
  return lines.reduce((sum, { amount }) => sum.plus(amount), ZERO);
}

function commitmentOf(
  { commitment_amount: amount, overage_factor: factor }: SubscriptionRow,
  covered: readonly InvoiceLine[],
): SubscriptionUsage['commitment'] {
  if (amount === null || factor === null) return null;
  const utilized = sumOf(covered.filter(({ trace }) => trace.commitment !== null));
  return { amount: decimalOf(amount), overageFactor: decimalOf(factor), utilized };
}

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
  const { subscription, surroundings } = loaded;
  const reader = new MemberReader();
  const period = readRange(reader, request, currentPeriod(termsFromRow(subscription), now));
  const lineItems = surroundings.lineItems.filter((row) => row.price_type === 'USAGE');
  const shown = { grouping: NO_GROUPING, hideZeroCharges: false };
  return reader.refusal() ?? { loaded, period, lineItems, ...shown, now };
}

/** POST /subscriptions/usage: computed as the usage lines of an invoice are. */
export async function readSubscriptionUsage(
  dependencies: UsageReadDependencies,
  caller: Caller,
  request: SubscriptionUsageRequest,
): Promise<SubscriptionUsage | Refusal> {
  const now = dependencies.clock.now();
  const computed = await computeInvoice(dependencies, caller, async (unit) => {
    const loaded = await loadSubscription(unit, request.subscription_id);
    return isRefusal(loaded) ? loaded : queryFrom(request, loaded, now);
  });
  if (isRefusal(computed)) return computed;
  const { query, invoice } = computed;
  const { subscription, surroundings } = query.loaded;
  // A true-up is no usage.
  const charges = invoice.lines.filter(({ kind }) => kind !== 'true_up');
  const covered = charges.filter(({ kind }) => kind === 'charge');
  return {
    subscription,
    currency: invoice.currency,
    range: query.period,
    charges,
    prices: surroundings.prices,
    amount: sumOf(charges),
    commitment: commitmentOf(subscription, covered),
    overageAmount: sumOf(charges.filter(({ kind }) => kind === 'overage')),
  };
}
