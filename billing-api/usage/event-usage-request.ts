import { AGGREGATIONS, type AggregationType } from '../../contract/aggregation.js';
import { plain } from '../../contract/number/decimal.js';
import { PROPERTY_KEY_LENGTH_MAX } from '../domain/price/property-filters.js';
import type { UsageSplit } from '../domain/usage/aggregation-spec.js';
import { MemberReader } from '../records/member-rules.js';
import type { Refusal } from '../records/refusal.js';
import { bucketProblem } from './meter-usage-query.js';
import type { UsageSubject } from './store/cell-query.js';
import { readGroups } from './usage-grouping.js';
import { readTerms, type UsageRequest, type UsageTerms } from './usage-request.js';

export type EventUsageRequest = UsageRequest & {
  readonly event_name: string;
  readonly aggregation_type: AggregationType;
  readonly property_name?: string | undefined;
  readonly multiplier?: string | undefined;
  readonly group_by?: readonly string[] | undefined;
};

function readMultiplier(reader: MemberReader, request: EventUsageRequest): string | null {
  const { aggregation_type: type, multiplier } = request;
  const rule = AGGREGATIONS[type].multiplier;
  if (multiplier === undefined) {
    if (rule === 'required') reader.note('multiplier', `is required for ${type}`);
    return null;
  }
  if (rule === 'refused') reader.note('multiplier', `must be left out for ${type}`);
  const value = reader.decimal('multiplier', multiplier);
  if (value?.greaterThan(0) === false) reader.note('multiplier', 'must be greater than 0');
  return value === null ? null : plain(value);
}

function readField(reader: MemberReader, request: EventUsageRequest): string | null {
  const { aggregation_type: type, property_name: name } = request;
  if (AGGREGATIONS[type].counts === 'event') return null;
  if (name === undefined || name === '') reader.note('property_name', `is required for ${type}`);
  if (name !== undefined && name.length > PROPERTY_KEY_LENGTH_MAX) {
    reader.note('property_name', `must have at most ${PROPERTY_KEY_LENGTH_MAX} characters`);
  }
  return name ?? null;
}

/** An ad-hoc rule: no meter has minutes of it, so the events are read. */
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
    corrections: [],
  };
}

function readSplit(reader: MemberReader, names: readonly string[] | undefined): UsageSplit {
  const { hasSource, hasFeature, properties } = readGroups(reader, names);
  if (hasFeature)
    reader.note('group_by', 'feature_id is not possible here; use source or properties.<name>');
  return { source: hasSource, group: false, properties };
}

/** A request about an ad-hoc rule, checked. */
export type EventUsageQuery = {
  readonly terms: UsageTerms;
  readonly subject: UsageSubject;
  readonly split: UsageSplit;
};

/** Reads a request, or says what is wrong with it. */
export function eventUsageQueryFrom(
  request: EventUsageRequest,
  now: number,
): EventUsageQuery | Refusal {
  const reader = new MemberReader();
  const query = {
    terms: readTerms(reader, request, now),
    subject: readSubject(reader, request),
    split: readSplit(reader, request.group_by),
  };
  if (request.bucket_size !== undefined) {
    reader.note('bucket_size', bucketProblem(request.aggregation_type, 'BILLING_PERIOD'));
  }
  return reader.refusal() ?? query;
}
