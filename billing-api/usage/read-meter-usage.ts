import type { InstantMs, Interval } from '../../contract/instant.js';
import type { MeterFilter } from '../../contract/meter.js';
import type { WindowSize } from '../domain/calendar/usage-windows.js';
import { propertyFiltersProblem } from '../domain/price/property-filters.js';
import type { AggregationSpec, UsageSplit } from '../domain/usage/aggregation-spec.js';
import type { UsageCustomer } from '../customers/customers-store.js';
import { findEffectiveMeters, type EffectiveMeter } from '../catalog/meters/effective-meters.js';
import { subjectOf } from './store/usage-question.js';
import type { Caller } from '../records/caller.js';
import { MemberReader } from '../records/member-rules.js';
import { OF_BUCKETS } from '../catalog/meters/meter-rules.js';
import { readUsage, type UsageQuery } from './read-usage.js';
import { invalid, isRefusal, notFound, type Refusal } from '../records/refusal.js';
import { resultsOf, tooManyRows, viewsOf, wholeOf, type UsageAnswer } from './usage-answer.js';
import {
  findNamedCustomer,
  usageOf,
  type CustomerReference,
  type UsageReadDependencies,
} from './usage-customers.js';
import { readRange, type RangeRequest } from '../records/time-range.js';
import { cutsOf } from './usage-range.js';

const RANGE_DAYS = 7;

export type PropertyFilters = Readonly<Record<string, readonly string[]>>;

/** What both usage endpoints take beside what they are about. */
export type UsageRequest = RangeRequest &
  CustomerReference & {
    readonly filters?: PropertyFilters | undefined;
    readonly window_size?: WindowSize | undefined;
    readonly bucket_size?: WindowSize | undefined;
    readonly billing_anchor?: string | undefined;
    readonly timezone?: string | undefined;
  };

export type MeterUsageRequest = UsageRequest & { readonly meter_id: string };

export type UsageTerms = {
  readonly range: Interval;
  readonly filters: readonly MeterFilter[];
  readonly windowSize: WindowSize | null;
  readonly bucketSize: WindowSize | null;
  readonly anchorMs: InstantMs | null;
  readonly timezone: string | null;
};

export function readPropertyFilters(
  reader: MemberReader,
  member: string,
  filters: PropertyFilters | undefined,
): readonly MeterFilter[] {
  const given = filters ?? {};
  reader.note(member, propertyFiltersProblem(given));
  return Object.entries(given).map(([key, values]) => ({ key, values }));
}

/** What a request asks, at an instant that stands for an absent end. */
export function readTerms(reader: MemberReader, request: UsageRequest, now: InstantMs): UsageTerms {
  return {
    range: readRange(reader, request, { now, days: RANGE_DAYS }),
    filters: readPropertyFilters(reader, 'filters', request.filters),
    windowSize: request.window_size ?? null,
    bucketSize: request.bucket_size ?? null,
    anchorMs: reader.instant('billing_anchor', request.billing_anchor),
    timezone: reader.timezone('timezone', request.timezone),
  };
}

type Subject = { readonly meter: EffectiveMeter; readonly customer: UsageCustomer | null };

/** The meter and the customer that the request names. */
async function findSubject(
  dependencies: UsageReadDependencies,
  caller: Caller,
  request: MeterUsageRequest,
): Promise<Subject | Refusal> {
  const [customer, readings] = await Promise.all([
    findNamedCustomer(dependencies, caller, request),
    findEffectiveMeters(dependencies.database, caller.environment, [request.meter_id]),
  ]);
  const meter = readings.get(request.meter_id);
  if (meter === undefined) return notFound('meter', request.meter_id);
  return isRefusal(customer) ? customer : { meter, customer };
}

/** What is wrong with buckets for an aggregation (domain.md 3.2), or null. */
export function bucketProblem(
  type: AggregationSpec['type'],
  resetUsage: AggregationSpec['resetUsage'],
): string | null {
  if (!OF_BUCKETS.has(type)) return `does not go with ${type}; only with COUNT, SUM and MAX`;
  return resetUsage === 'NEVER' ? 'does not go with a meter that never resets' : null;
}

/** The buckets of a question: the meter's own always apply (api.md 10.3). */
function bucketSizeOf(
  meter: EffectiveMeter,
  asked: WindowSize | null,
): WindowSize | null | Refusal {
  if (asked === null || asked === meter.bucketSize) return meter.bucketSize;
  if (meter.bucketSize !== null) {
    return invalid({ bucket_size: `is ${meter.bucketSize} on this meter` });
  }
  const problem = bucketProblem(meter.aggregation.type, meter.resetUsage);
  return problem === null ? asked : invalid({ bucket_size: problem });
}

function splitOf({ aggregation, bucketSize }: EffectiveMeter): UsageSplit {
  const group = aggregation.groupBy !== null && bucketSize !== null;
  return { source: false, group, properties: [] };
}

/** The question of a request about a meter, or what is wrong with it. */
export function meterAskOf(
  { meter, customer }: Subject,
  terms: UsageTerms,
): (UsageQuery & { readonly split: UsageSplit }) | Refusal {
  const bucketSize = bucketSizeOf(meter, terms.bucketSize);
  if (isRefusal(bucketSize)) return bucketSize;
  const timezone = terms.timezone ?? customer?.timezone ?? 'UTC';
  const { type } = meter.aggregation;
  const cuts = cutsOf({ ...terms, timezone }, { type, windowSize: terms.windowSize, bucketSize });
  if (isRefusal(cuts)) return cuts;
  const split = splitOf(meter);
  return {
    subject: subjectOf(meter),
    scope: scopeOf(meter, terms.range, cuts.buckets),
    narrowedBy: terms.filters,
    sources: null,
    views: viewsOf(cuts.windows, split),
    split,
  };
}

/** How a meter makes one number of a range. */
export function scopeOf(
  { aggregation, resetUsage }: Pick<EffectiveMeter, 'aggregation' | 'resetUsage'>,
  range: Interval,
  buckets: readonly Interval[] | null,
): AggregationSpec {
  const { type, groupBy } = aggregation;
  return { type, resetUsage, range, buckets, hasGroups: groupBy !== null };
}

/** POST /events/usage/meter (api.md 10.3). */
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
  const ask = meterAskOf(subject, terms);
  if (isRefusal(ask)) return ask;
  return answerUsage(dependencies, caller, { ask, customer: subject.customer, dataUntil });
}

type Asked = {
  readonly ask: UsageQuery & { readonly split: UsageSplit };
  readonly customer: UsageCustomer | null;
  /** Of now or before. */
  readonly dataUntil: InstantMs | null;
};

/** Reads what a usage endpoint asks and puts it into one answer. */
export async function answerUsage(
  dependencies: UsageReadDependencies,
  caller: Caller,
  { ask, customer, dataUntil }: Asked,
): Promise<UsageAnswer | Refusal> {
  const { subject, scope, split } = ask;
  const customers = await usageOf(dependencies, caller, { ask, customer });
  if (isRefusal(customers)) return customers;
  const whose = { environment: caller.environment, customers };
  const answers = await readUsage(dependencies.usage, whose, [ask]);
  if (answers === null) return tooManyRows(scope);
  const [whole, shown] = answers[0] ?? [];
  const results = resultsOf(shown, split, subject.aggregation.groupBy);
  if (isRefusal(results)) return results;
  const { value, unreadableCount } = wholeOf(whole);
  const { eventName, aggregation } = subject;
  return { eventName, type: aggregation.type, value, unreadableCount, results, dataUntil };
}
