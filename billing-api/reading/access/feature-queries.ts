import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import {
  currentUsageWindow,
  type CurrentUsageWindow,
} from '../../domain/entitlement/current-usage.js';
import { isRefusal, Refusal } from '../../records/refusal.js';
import { meterUsageQuery } from '../../usage/meter-usage-query.js';
import type { AnswerQuery } from '../../usage/usage-answer.js';
import type { AccessEntitlement, CustomerAccess } from './load-customer-access.js';

/** What is to be read of a feature. */
export type FeatureQuery = {
  readonly entitlement: AccessEntitlement;
  readonly window: CurrentUsageWindow;
  readonly query: AnswerQuery;
};

/** Of the subscriptions whose reset period is that of the feature, the oldest. */
function windowOfFeature(
  { effective, sources }: AccessEntitlement,
  { subscriptions }: CustomerAccess,
  { meter, now }: { readonly meter: EffectiveMeter; readonly now: InstantMs },
): CurrentUsageWindow | null {
  const resetPeriod = effective?.usageResetPeriod ?? null;
  const fitting = sources.filter((source) => source.usageResetPeriod === resetPeriod);
  const ids = new Set((fitting.length > 0 ? fitting : sources).map((one) => one.subscriptionId));
  const subscription = subscriptions.find(({ row }) => ids.has(row.id));
  const { ledger } = assertPresent(subscription, 'the subscription of an entitlement');
  const { aggregation, resetUsage, bucketSize } = meter;
  const counted = { aggregationType: aggregation.type, resetUsage, bucketSize };
  return currentUsageWindow({ ledger, resetPeriod, meter: counted }, now);
}

function queryOfFeature(
  entitlement: AccessEntitlement,
  access: CustomerAccess,
  at: { readonly meter: EffectiveMeter; readonly now: InstantMs },
): FeatureQuery | null | Refusal {
  const window = windowOfFeature(entitlement, access, at);
  if (window === null) return null;
  const { range, timezone, anchorMs } = window;
  const terms = { range, timezone, anchorMs, filters: [], windowSize: null, bucketSize: null };
  const query = meterUsageQuery(at.meter, access.customer, terms);
  if (!isRefusal(query)) return { entitlement, window, query };
  const problem = `feature ${entitlement.featureId} has too many buckets since its last reset`;
  const remedy = 'ask POST /events/usage/meter for a shorter range';
  return new Refusal('invalid_operation', `${problem}; ${remedy}`);
}

/** What is to be read of the metered features, or why so much cannot be. */
export function featureQueriesOf(
  access: CustomerAccess,
  meters: ReadonlyMap<string, EffectiveMeter>,
  now: InstantMs,
): readonly FeatureQuery[] | Refusal {
  const queries: FeatureQuery[] = [];
  for (const entitlement of access.entitlements) {
    const { meterId } = entitlement.sources[0];
    if (meterId === null) continue;
    const meter = mustGet(meters, meterId, 'the meter of a feature');
    const query = queryOfFeature(entitlement, access, { meter, now });
    if (isRefusal(query)) return query;
    if (query !== null) queries.push(query);
  }
  return queries;
}
