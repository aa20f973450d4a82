import type { InstantMs } from '../../contract/instant.js';
import { mustGet, zip } from '../../runtime/failure.js';
import type { EffectiveMeter } from '../catalog/meters/effective-meters.js';
import type { Occasion } from '../records/occasion.js';
import { MemberReader } from '../records/member-rules.js';
import { isRefusal, notFound, type Refusal } from '../records/refusal.js';
import {
  meterUsageItemOf,
  pointsQueriesOf,
  type MeterUsageItem,
  type PointsQuery,
} from './meter-points.js';
import { readUsage, type UsageAnswers } from './read-usage.js';
import { tooManyCells, type AnswerSlicing } from './usage-answer.js';
import {
  usageOfCustomers,
  readUsageOfEverybody,
  type UsageReadDependencies,
} from './usage-customers.js';
import { readDefinitions, type UsageDefinitions } from './usage-definitions.js';
import { readTerms, type MeterUsageQuery } from './usage-request.js';

export type MeterUsageItems = {
  readonly items: readonly MeterUsageItem[];
  readonly dataUntil: InstantMs | null;
};

type NamedQueries = {
  readonly definitions: UsageDefinitions;
  readonly ids: readonly string[];
  readonly queries: readonly PointsQuery[];
};

function metersOf(
  { meters }: UsageDefinitions,
  ids: readonly string[],
): readonly EffectiveMeter[] | Refusal {
  const unknown = ids.find((id) => !meters.has(id));
  if (unknown !== undefined) return notFound('meter', unknown);
  return [...new Set(ids)].map((id) => mustGet(meters, id, 'a meter that was found'));
}

/** The usage of the customers with these external ids, or of everybody when there are none. */
async function answersFor(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  { definitions, ids, queries }: NamedQueries,
): Promise<UsageAnswers<AnswerSlicing> | null | Refusal> {
  if (ids.length === 0) return readUsageOfEverybody(dependencies, occasion, queries);
  const known = new Set(definitions.customers.map((customer) => customer.external_id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) return notFound('customer', unknown);
  const { environment } = occasion;
  const customers = usageOfCustomers(definitions.customers);
  return readUsage(dependencies.usage, { environment, customers }, queries);
}

/** POST /meter-usage/query (docs/http.md 10.3). */
export async function queryMeterUsage(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  request: MeterUsageQuery,
): Promise<MeterUsageItems | Refusal> {
  const { external_customer_ids: externalIds = [] } = request;
  const named = { meterIds: request.meter_ids, externalIds, customerId: null };
  const definitions = await readDefinitions(dependencies, occasion, named);
  const reader = new MemberReader();
  const terms = readTerms(reader, request, definitions.now);
  const problems = reader.refusal();
  if (problems !== null) return problems;
  const meters = metersOf(definitions, request.meter_ids);
  if (isRefusal(meters)) return meters;
  const queries = pointsQueriesOf(meters, terms);
  if (isRefusal(queries)) return queries;
  const question = { definitions, ids: externalIds, queries };
  const answers = await answersFor(dependencies, occasion, question);
  if (isRefusal(answers)) return answers;
  if (answers === null) return tooManyCells({ buckets: null });
  const items = zip(meters, queries).map(([meter, query]) =>
    meterUsageItemOf(meter, query, mustGet(answers, query, 'the usage of a meter')),
  );
  return { items, dataUntil: definitions.dataUntil };
}
