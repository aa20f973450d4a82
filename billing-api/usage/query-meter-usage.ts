import type { InstantMs } from '../../contract/instant.js';
import { assertPresent } from '../../runtime/failure.js';
import { readEffectiveMeters, type EffectiveMeter } from '../catalog/meters/effective-meters.js';
import type { Caller } from '../records/caller.js';
import { MemberReader } from '../records/member-rules.js';
import { isRefusal, notFound, type Refusal } from '../records/refusal.js';
import { meterUsageItemOf, pointsQueriesOf, type MeterUsageItem } from './meter-points.js';
import { readUsage } from './read-usage.js';
import { tooManyCells } from './usage-answer.js';
import { usageOfExternalIds, type UsageReadDependencies } from './usage-customers.js';
import { readTerms, type MeterUsageQuery } from './usage-request.js';

export type MeterUsageItems = {
  readonly items: readonly MeterUsageItem[];
  readonly dataUntil: InstantMs | null;
};

async function findMeters(
  { database }: UsageReadDependencies,
  { environment }: Caller,
  ids: readonly string[],
): Promise<readonly EffectiveMeter[] | Refusal> {
  const meters = await readEffectiveMeters(database, environment, ids);
  const unknown = ids.find((id) => !meters.has(id));
  if (unknown !== undefined) return notFound('meter', unknown);
  return [...new Set(ids)].map((id) => assertPresent(meters.get(id), 'a meter that was found'));
}

/** POST /meter-usage/query (docs/http.md 10.3). */
export async function queryMeterUsage(
  dependencies: UsageReadDependencies,
  caller: Caller,
  request: MeterUsageQuery,
): Promise<MeterUsageItems | Refusal> {
  const reader = new MemberReader();
  const terms = readTerms(reader, request, dependencies.clock.now());
  const problems = reader.refusal();
  if (problems !== null) return problems;
  const meters = await findMeters(dependencies, caller, request.meter_ids);
  if (isRefusal(meters)) return meters;
  const queries = pointsQueriesOf(meters, terms);
  if (isRefusal(queries)) return queries;
  // The watermark is read before anything is counted, so that it holds for every count.
  const dataUntil = await dependencies.dataUntil();
  const ids = request.external_customer_ids ?? [];
  const customers = await usageOfExternalIds(dependencies, caller, { ids, queries });
  if (isRefusal(customers)) return customers;
  const owner = { environment: caller.environment, customers };
  const answers = await readUsage(dependencies.usage, owner, queries);
  if (answers === null) return tooManyCells({ buckets: null });
  const items = queries.map((query, index) =>
    meterUsageItemOf(assertPresent(meters[index], 'the meter of a query'), answers.get(query)),
  );
  return { items, dataUntil };
}
