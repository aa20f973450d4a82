import { formatInstant, type InstantMs, type Interval } from '../../contract/instant.js';
import { currentPeriod, periodContaining } from '../domain/calendar/billing-periods.js';
import type { SubscriptionTerms } from '../domain/invoice/subscription-terms.js';
import type { SubscriptionRow } from '../subscriptions/subscriptions-store.js';
import type { Caller } from '../records/caller.js';
import { computeInvoice, type ComputedInvoice } from './compute/compute-invoice.js';
import type { InvoiceQuery } from './compute/invoice-query.js';
import { readGroups } from '../usage/usage-grouping.js';
import { MemberReader } from '../records/member-rules.js';
import { loadSubscription, type LoadedSubscription } from '../subscriptions/read-subscriptions.js';
import { isRefusal, Refusal } from '../records/refusal.js';
import { termsFromRow } from '../subscriptions/create/subscription-request.js';
import type { UsageReadDependencies } from '../usage/usage-customers.js';

export type PreviewRequest = {
  readonly subscription_id: string;
  readonly period_start?: string | undefined;
  readonly period_end?: string | undefined;
  readonly hide_zero_charges_line_items?: boolean | undefined;
  readonly group_by?: readonly string[] | undefined;
};

export type InvoicePreview = ComputedInvoice<InvoiceQuery>;

type Previewed = {
  readonly terms: SubscriptionTerms;
  readonly hasFixedLines: boolean;
};

/**
 * What is wrong with an interval, or null. A fixed charge is scaled by its share of one billing
 * period, so it has no share of a longer interval; usage can be counted over any interval.
 */
function intervalProblem(interval: Interval, { terms, hasFixedLines }: Previewed): string | null {
  if (!hasFixedLines) return null;
  const own = periodContaining(terms, interval.startMs);
  if (own !== null && interval.endMs <= own.endMs) return null;
  const { startMs, endMs } = currentPeriod(terms, interval.startMs);
  const example = `${formatInstant(startMs)} to ${formatInstant(endMs)}`;
  const reason = 'must lie within one billing period, because the subscription has fixed prices';
  return `${reason}; take ${example} or a part of it`;
}

/** The interval of a preview: the current period, or what the request names instead. */
export function readPreviewPeriod(
  reader: MemberReader,
  request: Pick<PreviewRequest, 'period_start' | 'period_end'>,
  previewed: Previewed & { readonly now: InstantMs },
): Interval {
  const current = currentPeriod(previewed.terms, previewed.now);
  const startMs = reader.instant('period_start', request.period_start) ?? current.startMs;
  const endMs = reader.instant('period_end', request.period_end) ?? current.endMs;
  const interval = { startMs, endMs };
  if (endMs <= startMs) reader.note('period_end', 'must be later than period_start');
  else if (request.period_start !== undefined || request.period_end !== undefined) {
    const problem = intervalProblem(interval, previewed);
    reader.note('period_start', problem);
    reader.note('period_end', problem);
  }
  return interval;
}

function queryFrom(
  request: PreviewRequest,
  loaded: LoadedSubscription,
  now: InstantMs,
): InvoiceQuery | Refusal {
  const { subscription, surroundings } = loaded;
  const { lineItems, prices } = surroundings;
  const hasFixedLines = lineItems.some(({ price_id: id }) => prices.get(id)?.type === 'FIXED');
  const terms = termsFromRow(subscription);
  const reader = new MemberReader();
  const period = readPreviewPeriod(reader, request, { terms, hasFixedLines, now });
  const grouping = readGroups(reader, request.group_by ?? []);
  const hideZeroCharges = request.hide_zero_charges_line_items ?? false;
  return reader.refusal() ?? { loaded, period, lineItems, grouping, hideZeroCharges, now };
}

function isPreviewable({ subscription_status: status }: SubscriptionRow): boolean {
  return status === 'active' || status === 'trialing';
}

/** POST /invoices/preview: the invoice of a period as it stands now; nothing is stored. */
export function previewInvoice(
  dependencies: UsageReadDependencies,
  caller: Caller,
  request: PreviewRequest,
): Promise<InvoicePreview | Refusal> {
  const now = dependencies.clock.now();
  return computeInvoice(dependencies, caller, async (unit) => {
    const loaded = await loadSubscription(unit, request.subscription_id);
    if (isRefusal(loaded)) return loaded;
    const { subscription } = loaded;
    if (isPreviewable(subscription)) return queryFrom(request, loaded, now);
    const problem = `the subscription is ${subscription.subscription_status}`;
    return new Refusal('invalid_operation', problem);
  });
}
