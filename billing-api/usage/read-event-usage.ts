import type { UsageCustomer } from '../customers/customers-store.js';
import type { Occasion } from '../records/occasion.js';
import { isRefusal, type Refusal } from '../records/refusal.js';
import { specOfMeter } from './aggregation-of-meter.js';
import { answerUsage } from './answer-usage.js';
import {
  eventUsageQueryFrom,
  type EventUsageQuery,
  type EventUsageRequest,
} from './event-usage-request.js';
import { slicingsOfAnswer, type AnswerQuery, type UsageAnswer } from './usage-answer.js';
import type { UsageReadDependencies } from './usage-customers.js';
import {
  foundCustomer,
  namedCustomer,
  readDefinitions,
  readEventCorrections,
} from './usage-definitions.js';
import { cutsOf } from './usage-range.js';

function answerQueryOf(
  { terms, subject, split }: EventUsageQuery,
  customer: UsageCustomer | null,
): AnswerQuery | Refusal {
  const { aggregation } = subject;
  const { windowSize, bucketSize } = terms;
  const timezone = terms.timezone ?? customer?.timezone ?? 'UTC';
  const sizes = { type: aggregation.type, windowSize, bucketSize };
  const cuts = cutsOf({ ...terms, timezone }, sizes);
  if (isRefusal(cuts)) return cuts;
  const rule = { aggregation, resetUsage: 'BILLING_PERIOD' } as const;
  const spec = specOfMeter(rule, terms.range, cuts.buckets);
  const slicings = slicingsOfAnswer(cuts.windows, split);
  return { subject, spec, narrowedBy: terms.filters, sources: null, slicings, split };
}

/** POST /events/usage (docs/http.md 10.3): an ad-hoc aggregation, without a meter. */
export async function readEventUsage(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  request: EventUsageRequest,
): Promise<UsageAnswer | Refusal> {
  const named = { meterIds: [], ...namedCustomer(request) };
  const definitions = await readDefinitions(dependencies, occasion, named);
  const checked = eventUsageQueryFrom(request, definitions.now);
  if (isRefusal(checked)) return checked;
  const customer = foundCustomer(definitions, request);
  if (isRefusal(customer)) return customer;
  const { eventName } = checked.subject;
  const corrections = await readEventCorrections(dependencies, occasion, eventName);
  const subject = { ...checked.subject, corrections };
  const query = answerQueryOf({ ...checked, subject }, customer);
  if (isRefusal(query)) return query;
  const { dataUntil } = definitions;
  return answerUsage(dependencies, occasion, { query, customer, dataUntil });
}
