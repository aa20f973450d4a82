import type { EffectiveMeter } from '../catalog/meters/effective-meters.js';
import { NO_SPLIT, type Figures, type WindowFigures } from '../domain/usage/aggregation-spec.js';
import { invalid, isRefusal, type Refusal } from '../records/refusal.js';
import { meterUsageQuery } from './meter-usage-query.js';
import { partsOf, type SlicedUsage, type UsageQuery } from './read-usage.js';
import { slicingsOfAnswer, wholeOf, type AnswerSlicing } from './usage-answer.js';
import type { UsageTerms } from './usage-request.js';

export type MeterUsageItem = {
  readonly meter: EffectiveMeter;
  readonly total: Figures;
  readonly points: readonly WindowFigures[];
};
/** Counts the windows of all meters together. */
const POINTS_MAX = 100_000;

/** The total and the points of one meter. */
export type PointsQuery = UsageQuery<AnswerSlicing>;

/** Totals and points without a split: groups of a meter add up to its quantity. */
export function pointsQueriesOf(
  meters: readonly EffectiveMeter[],
  terms: UsageTerms,
): readonly PointsQuery[] | Refusal {
  const queries: PointsQuery[] = [];
  let points = 0;
  for (const meter of meters) {
    const query = meterUsageQuery(meter, null, terms);
    if (isRefusal(query)) return query;
    const windows = query.slicings.get('results')?.windows ?? null;
    if (windows !== null) points += windows.length;
    queries.push({ ...query, slicings: slicingsOfAnswer(windows, NO_SPLIT) });
  }
  if (points <= POINTS_MAX) return queries;
  return invalid({
    window_size: `the answer would have more than ${POINTS_MAX} points; narrow the query`,
  });
}

/** What the query of a meter found. */
export function meterUsageItemOf(
  meter: EffectiveMeter,
  query: PointsQuery,
  sliced: SlicedUsage<AnswerSlicing>,
): MeterUsageItem {
  const points = partsOf(query, sliced, 'results').flatMap(({ windows }) => windows);
  return { meter, total: wholeOf(sliced.get('whole')), points };
}
