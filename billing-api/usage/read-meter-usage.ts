import { readEffectiveMeters, type EffectiveMeter } from '../catalog/meters/effective-meters.js';
import type { UsageCustomer } from '../customers/customers-store.js';
import type { Caller } from '../records/caller.js';
import { MemberReader } from '../records/member-rules.js';
import { isRefusal, notFound, type Refusal } from '../records/refusal.js';
import { answerUsage } from './answer-usage.js';
import { meterUsageQuery } from './meter-usage-query.js';
import type { UsageAnswer } from './usage-answer.js';
import { findNamedCustomer, type UsageReadDependencies } from './usage-customers.js';
import { readTerms, type UsageRequest } from './usage-request.js';

export type MeterUsageRequest = UsageRequest & { readonly meter_id: string };

type Subject = { readonly meter: EffectiveMeter; readonly customer: UsageCustomer | null };

/** The meter and the customer that the request names. */
async function findSubject(
  dependencies: UsageReadDependencies,
  caller: Caller,
  request: MeterUsageRequest,
): Promise<Subject | Refusal> {
  const [customer, meters] = await Promise.all([
    findNamedCustomer(dependencies, caller, request),
    readEffectiveMeters(dependencies.database, caller.environment, [request.meter_id]),
  ]);
  const meter = meters.get(request.meter_id);
  if (meter === undefined) return notFound('meter', request.meter_id);
  return isRefusal(customer) ? customer : { meter, customer };
}

/** POST /events/usage/meter (docs/http.md 10.3). */
export async function readMeterUsage(
  dependencies: UsageReadDependencies,
  caller: Caller,
  request: MeterUsageRequest,
): Promise<UsageAnswer | Refusal> {
  const reader = new MemberReader();
  const terms = readTerms(reader, request, dependencies.clock.now());
  const problems = reader.refusal();
  if (problems !== null) return problems;
  // The watermark is read before anything is counted, so that it holds for every count.
  const [subject, dataUntil] = await Promise.all([
    findSubject(dependencies, caller, request),
    dependencies.dataUntil(),
  ]);
  if (isRefusal(subject)) return subject;
  const { meter, customer } = subject;
  const query = meterUsageQuery(meter, customer, terms);
  if (isRefusal(query)) return query;
  return answerUsage(dependencies, caller, { query, customer, dataUntil });
}
