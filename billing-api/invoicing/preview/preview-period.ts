import { formatInstant, type InstantMs, type Interval } from '../../../contract/instant.js';
import { currentPeriod, periodAt } from '../../domain/periods/ledger-periods.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import type { MemberReader } from '../../records/member-rules.js';
import { readRequestedPeriod } from '../compute/requested-period.js';

export type PreviewRequest = {
  readonly subscription_id: string;
  readonly period_start?: string | undefined;
  readonly period_end?: string | undefined;
  readonly hide_zero_charges_line_items?: boolean | undefined;
  readonly group_by?: readonly string[] | undefined;
};

type Previewed = {
  readonly terms: PeriodLedger;
  readonly hasFixedLines: boolean;
};

/**
 * What is wrong with an interval, or null. A fixed charge is scaled by its share of one billing
 * period, so it has no share of a longer interval; usage can be counted over any interval.
 */
function intervalProblem(interval: Interval, { terms, hasFixedLines }: Previewed): string | null {
  if (!hasFixedLines) return null;
  const own = periodAt(terms, interval.startMs);
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
  const { period_start: start, period_end: end } = request;
  const given = { start: ['period_start', start], end: ['period_end', end] } as const;
  const interval = readRequestedPeriod(reader, given, previewed);
  if (interval.endMs > interval.startMs && (start !== undefined || end !== undefined)) {
    const problem = intervalProblem(interval, previewed);
    reader.note('period_start', problem);
    reader.note('period_end', problem);
  }
  return interval;
}
