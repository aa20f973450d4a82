import { AGGREGATION_TYPES, AGGREGATIONS } from '../../contract/aggregation.js';
import type { EffectiveMeter } from '../catalog/meters/effective-meters.js';
import type { UsageCustomer } from '../customers/customers-store.js';
import type { WindowSize } from '../domain/calendar/usage-windows.js';
import type { AggregationSpec, UsageSplit } from '../domain/usage/aggregation-spec.js';
import { invalid, isRefusal, type Refusal } from '../records/refusal.js';
import { specOfMeter } from './aggregation-of-meter.js';
import { subjectOf } from './store/cell-query.js';
import { slicingsOfAnswer, type AnswerQuery } from './usage-answer.js';
import { cutsOf } from './usage-range.js';
import type { UsageTerms } from './usage-request.js';

const BUCKETED_TYPES = AGGREGATION_TYPES.filter((type) => AGGREGATIONS[type].buckets !== 'refused');
/** As in "COUNT, SUM and MAX". */
const BUCKETED = new Intl.ListFormat('en-GB').format(BUCKETED_TYPES);

/** What is wrong with buckets for an aggregation (docs/domain.md 3.2), or null. */
export function bucketProblem(
  type: AggregationSpec['type'],
  resetUsage: AggregationSpec['resetUsage'],
): string | null {
  if (AGGREGATIONS[type].buckets === 'refused') {
    return `must be left out for ${type}; only ${BUCKETED} can have it`;
  }
  return resetUsage === 'NEVER' ? 'must be left out for a meter that never resets' : null;
}

/** The bucket size that applies: that of the meter when it has one (docs/http.md 10.3). */
function bucketSizeOf(
  meter: EffectiveMeter,
  requested: WindowSize | null,
): WindowSize | null | Refusal {
  if (requested === null || requested === meter.bucketSize) return meter.bucketSize;
  if (meter.bucketSize !== null) {
    return invalid({
      bucket_size: `must be ${meter.bucketSize}, the size of this meter, or be left out`,
    });
  }
  const problem = bucketProblem(meter.aggregation.type, meter.resetUsage);
  return problem === null ? requested : invalid({ bucket_size: problem });
}

function splitOf({ aggregation, bucketSize }: EffectiveMeter): UsageSplit {
  const group = aggregation.groupBy !== null && bucketSize !== null;
  return { source: false, group, properties: [] };
}

/** What a request about a meter reads, or what is wrong with the request. */
export function meterUsageQuery(
  meter: EffectiveMeter,
  customer: UsageCustomer | null,
  terms: UsageTerms,
): AnswerQuery | Refusal {
  const bucketSize = bucketSizeOf(meter, terms.bucketSize);
  if (isRefusal(bucketSize)) return bucketSize;
  const timezone = terms.timezone ?? customer?.timezone ?? 'UTC';
  const { type } = meter.aggregation;
  const cuts = cutsOf({ ...terms, timezone }, { type, windowSize: terms.windowSize, bucketSize });
  if (isRefusal(cuts)) return cuts;
  const split = splitOf(meter);
  return {
    subject: subjectOf(meter),
    spec: specOfMeter(meter, terms.range, cuts.buckets),
    narrowedBy: terms.filters,
    sources: null,
    slicings: slicingsOfAnswer(cuts.windows, split),
    split,
  };
}
