import { formatInstant, type InstantMs, type Interval } from '../../contract/instant.js';
import { currentPeriod, periodContaining } from '../domain/calendar/billing-periods.js';
import type { SubscriptionTerms } from '../domain/invoice/subscription-terms.js';
import type { MemberReader } from '../records/member-rules.js';

export type PreviewRequest = {
  readonly subscription_id: string;
  readonly period_start?: string | undefined;
  readonly period_end?: string | undefined;
  readonly hide_zero_charges_line_items?: boolean | undefined;
  readonly group_by?: readonly string[] | undefined;
};

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
