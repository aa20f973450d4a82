import { formatInstant, type InstantMs, type Interval } from '../../contract/instant.js';
import { currentPeriod, periodContaining } from '../domain/calendar/billing-periods.js';
import type { SubscriptionTerms } from '../domain/invoice/subscription-terms.js';
import type { LineItemRow, SubscriptionRow } from '../subscriptions/subscriptions-store.js';
import type { Caller } from '../records/caller.js';
import { computeInvoice, type ComputedInvoice } from './compute/compute-invoice.js';
import { readGroups, type Grouping } from '../usage/usage-grouping.js';
import { MemberReader } from '../records/member-rules.js';
import { readSubscription, type SubscriptionReading } from '../subscriptions/read-subscriptions.js';
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

export type InvoicePreview = ComputedInvoice & {
  readonly subscription: SubscriptionRow;
  readonly reading: SubscriptionReading;
  readonly computedAtMs: InstantMs;
};

type Wish = { readonly period: Interval; readonly grouping: Grouping };

type Previewed = {
  readonly terms: SubscriptionTerms;
  readonly hasFixedLines: boolean;
};

/**
 * What is wrong with an interval. A fixed charge is scaled by its share of one billing period, so
 * an interval over more than one has no share; usage is counted over any interval.
 */
function intervalProblem(interval: Interval, { terms, hasFixedLines }: Previewed): string | null {
  if (!hasFixedLines) return null;
  const own = periodContaining(terms, interval.startMs);
  if (own !== null && interval.endMs <= own.endMs) return null;
  const { startMs, endMs } = currentPeriod(terms, interval.startMs);
  const example = `${formatInstant(startMs)} to ${formatInstant(endMs)}`;
  return `lies not within one billing period, as fixed prices need; take ${example} or a part of it`;
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
  if (endMs <= startMs) reader.note('period_end', 'is not later than period_start');
  else if (request.period_start !== undefined || request.period_end !== undefined) {
    const problem = intervalProblem(interval, previewed);
    reader.note('period_start', problem);
    reader.note('period_end', problem);
  }
  return interval;
}

function wishFrom(
  request: PreviewRequest,
  { subscription, surroundings }: SubscriptionReading,
  now: InstantMs,
): Wish | Refusal {
  const reader = new MemberReader();
  const isFixed = ({ price_id: id }: LineItemRow): boolean =>
    surroundings.prices.get(id)?.type === 'FIXED';
  const hasFixedLines = surroundings.lineItems.some(isFixed);
  const terms = termsFromRow(subscription);
  const period = readPreviewPeriod(reader, request, { terms, hasFixedLines, now });
  const grouping = readGroups(reader, request.group_by ?? []);
  return reader.refusal() ?? { period, grouping };
}

function isPreviewable(subscription: SubscriptionRow): boolean {
  const { subscription_status: status } = subscription;
  return status === 'active' || status === 'trialing';
}

/** POST /invoices/preview: the invoice of a period as it stands now; nothing is stored. */
export async function previewInvoice(
  dependencies: UsageReadDependencies,
  caller: Caller,
  request: PreviewRequest,
): Promise<InvoicePreview | Refusal> {
  const now = dependencies.clock.now();
  const reading = await readSubscription(dependencies, caller, request.subscription_id);
  if (isRefusal(reading)) return reading;
  const { subscription, surroundings } = reading;
  if (!isPreviewable(subscription)) {
    return new Refusal(
      'invalid_operation',
      `the subscription is ${subscription.subscription_status}`,
    );
  }
  const wish = wishFrom(request, reading, now);
  if (isRefusal(wish)) return wish;
  const { lineItems } = surroundings;
  const hideZeroCharges = request.hide_zero_charges_line_items ?? false;
  const computed = await computeInvoice(dependencies, caller, {
    ...wish,
    reading,
    lineItems,
    hideZeroCharges,
    now,
  });
  return isRefusal(computed) ? computed : { ...computed, subscription, reading, computedAtMs: now };
}
