import type { AggregationType } from '../../contract/aggregation.js';
import { plain } from '../../contract/decimal.js';
import type { UsageCustomer } from '../customers/customers-store.js';
import { PROPERTY_KEY_LENGTH_MAX } from '../domain/price/property-filters.js';
import type { UsageSplit } from '../domain/usage/aggregation-spec.js';
import type { UsageSubject } from './store/usage-question.js';
import type { Caller } from '../records/caller.js';
import { readGroups } from './usage-grouping.js';
import { MemberReader } from '../records/member-rules.js';
import { MULTIPLIED } from '../catalog/meters/meter-rules.js';
import {
  answerUsage,
  bucketProblem,
  readTerms,
  scopeOf,
  type UsageRequest,
  type UsageTerms,
} from './read-meter-usage.js';
import type { UsageQuery } from './read-usage.js';
import { isRefusal, type Refusal } from '../records/refusal.js';
import { viewsOf, type UsageAnswer } from './usage-answer.js';
import { findNamedCustomer, type UsageReadDependencies } from './usage-customers.js';
import { cutsOf } from './usage-range.js';

export type EventUsageRequest = UsageRequest & {
  readonly event_name: string;
  readonly aggregation_type: AggregationType;
  readonly property_name?: string | undefined;
  readonly multiplier?: string | undefined;
  readonly group_by?: readonly string[] | undefined;
};

function readMultiplier(reader: MemberReader, request: EventUsageRequest): string | null {
  const { aggregation_type: type, multiplier } = request;
  if (multiplier === undefined) {
    if (type === 'SUM_WITH_MULTIPLIER') reader.note('multiplier', `is required with ${type}`);
    return null;
  }
  if (!MULTIPLIED.has(type)) reader.note('multiplier', `does not go with ${type}`);
  const value = reader.decimal('multiplier', multiplier);
  if (value?.greaterThan(0) === false) reader.note('multiplier', 'is not above 0');
  return value === null ? null : plain(value);
}

function readField(reader: MemberReader, request: EventUsageRequest): string | null {
  const { aggregation_type: type, property_name: name } = request;
  if (type === 'COUNT') return null;
  if (name === undefined || name === '') reader.note('property_name', `is required with ${type}`);
  if (name !== undefined && name.length > PROPERTY_KEY_LENGTH_MAX) {
    reader.note('property_name', `has more than ${PROPERTY_KEY_LENGTH_MAX} characters`);
  }
  return name ?? null;
}

/** A rule made up for one question: no meter has it, so the events are read themselves. */
function readSubject(reader: MemberReader, request: EventUsageRequest): UsageSubject {
  return {
    eventName: reader.name('event_name', request.event_name),
    filters: [],
    aggregation: {
      type: request.aggregation_type,
      field: readField(reader, request),
      expression: null,
      multiplier: readMultiplier(reader, request),
      groupBy: null,
    },
    minutes: null,
    ends: null,
  };
}

function readSplit(reader: MemberReader, names: readonly string[]): UsageSplit {
  const { hasSource, hasFeature, properties } = readGroups(reader, names);
  if (hasFeature) reader.note('group_by', 'feature_id is not source or properties.<name>');
  return { source: hasSource, group: false, properties };
}

type Question = {
  readonly terms: UsageTerms;
  readonly subject: UsageSubject;
  readonly split: UsageSplit;
};

/** What a request asks, or what is wrong with it. */
export function eventQuestionFrom(request: EventUsageRequest, now: number): Question | Refusal {
  const reader = new MemberReader();
  const question = {
    terms: readTerms(reader, request, now),
    subject: readSubject(reader, request),
    split: readSplit(reader, request.group_by ?? []),
  };
  if (request.bucket_size !== undefined) {
    reader.note('bucket_size', bucketProblem(request.aggregation_type, 'BILLING_PERIOD'));
  }
  return reader.refusal() ?? question;
}

function askOf(
  { terms, subject, split }: Question,
  customer: UsageCustomer | null,
): (UsageQuery & { readonly split: UsageSplit }) | Refusal {
  const { aggregation } = subject;
  const { windowSize, bucketSize } = terms;
  const timezone = terms.timezone ?? customer?.timezone ?? 'UTC';
  const sizes = { type: aggregation.type, windowSize, bucketSize };
  const cuts = cutsOf({ ...terms, timezone }, sizes);
  if (isRefusal(cuts)) return cuts;
  const rule = { aggregation, resetUsage: 'BILLING_PERIOD' } as const;
  const scope = scopeOf(rule, terms.range, cuts.buckets);
  const views = viewsOf(cuts.windows, split);
  return { subject, scope, narrowedBy: terms.filters, sources: null, views, split };
}

/** POST /events/usage (api.md 10.3): an aggregation that no meter need have. */
export async function readEventUsage(
  dependencies: UsageReadDependencies,
  caller: Caller,
  request: EventUsageRequest,
): Promise<UsageAnswer | Refusal> {
  const question = eventQuestionFrom(request, dependencies.clock.now());
  if (isRefusal(question)) return question;
  // The watermark is read before anything is counted, so that it holds for every count.
  const [customer, dataUntil] = await Promise.all([
    findNamedCustomer(dependencies, caller, request),
    dependencies.dataUntil(),
  ]);
  if (isRefusal(customer)) return customer;
  const ask = askOf(question, customer);
  return isRefusal(ask) ? ask : answerUsage(dependencies, caller, { ask, customer, dataUntil });
}
