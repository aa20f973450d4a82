import type { Occasion } from '../records/occasion.js';
import { MemberReader } from '../records/member-rules.js';
import { isRefusal, notFound, type Refusal } from '../records/refusal.js';
import { answerUsage } from './answer-usage.js';
import { meterUsageQuery } from './meter-usage-query.js';
import type { UsageAnswer } from './usage-answer.js';
import type { UsageReadDependencies } from './usage-customers.js';
import { foundCustomer, namedCustomer, readDefinitions } from './usage-definitions.js';
import { readTerms, type UsageRequest } from './usage-request.js';

export type MeterUsageRequest = UsageRequest & { readonly meter_id: string };

/** POST /events/usage/meter (docs/http.md 10.3). */
export async function readMeterUsage(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  request: MeterUsageRequest,
): Promise<UsageAnswer | Refusal> {
  const named = { meterIds: [request.meter_id], ...namedCustomer(request) };
  const definitions = await readDefinitions(dependencies, occasion, named);
  const reader = new MemberReader();
  const terms = readTerms(reader, request, definitions.now);
  const problems = reader.refusal();
  if (problems !== null) return problems;
  const meter = definitions.meters.get(request.meter_id);
  if (meter === undefined) return notFound('meter', request.meter_id);
  const customer = foundCustomer(definitions, request);
  if (isRefusal(customer)) return customer;
  const query = meterUsageQuery(meter, customer, terms);
  if (isRefusal(query)) return query;
  const { dataUntil } = definitions;
  return answerUsage(dependencies, occasion, { query, customer, dataUntil });
}
