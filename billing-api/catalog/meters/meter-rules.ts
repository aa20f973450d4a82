import { AGGREGATIONS } from '../../../contract/aggregation.js';
import { plain, ZERO } from '../../../contract/number/decimal.js';
import {
  compileExpression,
  DIVISIONS_MAX,
  isExpressionProblem,
} from '../../../contract/expression/compile-expression.js';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import type { MeterFilter } from '../../../contract/meter.js';
import { MemberReader } from '../../records/member-rules.js';
import { Refusal } from '../../records/refusal.js';
import type {
  AggregationBody,
  CreateMeterBody,
} from '../../declarations/catalog/meter.resource.js';

/** Exactly one of field and expression, and an expression that compiles; COUNT keeps both. */
function checkValue(reader: MemberReader, aggregation: AggregationBody): void {
  const { type, field, expression } = aggregation;
  if (AGGREGATIONS[type].counts === 'event') return;
  if (expression === undefined) {
    if (field === undefined)
      reader.note('aggregation.field', `is required for type ${type}: name the property to take`);
    return;
  }
  if (field !== undefined) {
    reader.note(
      'aggregation.expression',
      'give either aggregation.field or aggregation.expression',
    );
  }
  if (!AGGREGATIONS[type].allowsExpression) {
    reader.note('aggregation.expression', `must be left out for type ${type}`);
  }
  const compiled = compileExpression(expression);
  if (isExpressionProblem(compiled)) {
    reader.note('aggregation.expression', compiled.problem);
  } else if (compiled.divisions > DIVISIONS_MAX) {
    const problem = `has ${compiled.divisions} divisions and remainders: at most ${DIVISIONS_MAX} are allowed`;
    reader.note('aggregation.expression', problem);
  }
}

function readMultiplier(reader: MemberReader, aggregation: AggregationBody): string | null {
  const { type, multiplier } = aggregation;
  const member = 'aggregation.multiplier';
  const rule = AGGREGATIONS[type].multiplier;
  if (multiplier === undefined) {
    if (rule === 'required')
      reader.note(member, `is required for type ${type}: send a decimal string such as "0.25"`);
    return null;
  }
  if (rule === 'refused') reader.note(member, `must be left out for type ${type}`);
  const value = reader.decimal(member, multiplier);
  if (value?.lessThanOrEqualTo(ZERO) === true) reader.note(member, 'must be greater than 0');
  return value === null ? null : plain(value);
}

function checkBuckets(reader: MemberReader, request: CreateMeterBody): void {
  const { type, bucket_size: bucketSize, group_by: groupBy } = request.aggregation;
  if (bucketSize === undefined) {
    if (groupBy !== undefined) reader.note('aggregation.group_by', 'needs bucket_size');
    return;
  }
  if (AGGREGATIONS[type].buckets === 'refused') {
    reader.note('aggregation.bucket_size', `must be left out for type ${type}`);
  }
  if (request.reset_usage === 'NEVER') {
    reader.note('aggregation.bucket_size', 'must be left out with reset_usage NEVER');
  }
}

/** Whether buckets are priced one by one; null without buckets (docs/domain.md 8.5). */
function readBucketPricing(
  reader: MemberReader,
  { type, bucket_size: size, bucket_pricing: pricing }: AggregationBody,
): 'bucket' | 'period' | null {
  const member = 'aggregation.bucket_pricing';
  if (size === undefined) {
    if (pricing !== undefined) reader.note(member, 'needs bucket_size');
    return null;
  }
  if (type === 'MAX' && pricing === 'period') {
    reader.note(member, 'must be bucket for type MAX: a maximum has no sum over the period');
  }
  return pricing ?? (type === 'COUNT' ? 'period' : 'bucket');
}

/** The columns of an aggregation under the rules of docs/domain.md 3.2. */
function readAggregation(reader: MemberReader, request: CreateMeterBody) {
  const { aggregation } = request;
  checkValue(reader, aggregation);
  checkBuckets(reader, request);
  return {
    aggregation_type: aggregation.type,
    aggregation_field: aggregation.field ?? null,
    aggregation_expression: aggregation.expression ?? null,
    aggregation_group_by: aggregation.group_by ?? null,
    aggregation_multiplier: readMultiplier(reader, aggregation),
    bucket_size: aggregation.bucket_size ?? null,
    bucket_pricing: readBucketPricing(reader, aggregation),
  };
}

/** The filters of a request, whose keys do not repeat. */
export function readMeterFilters<Filter extends MeterFilter>(
  reader: MemberReader,
  filters: readonly Filter[],
): Filter[] {
  const keys = new Set<string>();
  for (const [index, filter] of filters.entries()) {
    if (keys.has(filter.key)) reader.note(`filters.${index}.key`, 'must not be given twice');
    keys.add(filter.key);
  }
  return [...filters];
}

/** The meter that a request describes, or what is wrong with it. */
export function newMeter(body: CreateMeterBody) {
  const reader = new MemberReader();
  const meter = {
    name: reader.name('name', body.name),
    event_name: reader.name('event_name', body.event_name),
    filters: readMeterFilters(reader, body.filters ?? []),
    ...readAggregation(reader, body),
    reset_usage: body.reset_usage ?? 'BILLING_PERIOD',
    version: 1,
    read_version: 1,
    metadata: reader.metadata(body.metadata),
  };
  return reader.refusal() ?? meter;
}

function valuesByKey(filters: readonly MeterFilter[]): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(filters.map(({ key, values }) => [key, new Set(values)]));
}

/** Whether two lists of filters take the same events, whatever the order of keys and values. */
export function isSameFilters(
  left: readonly MeterFilter[],
  right: readonly MeterFilter[],
): boolean {
  const others = valuesByKey(right);
  const ours = valuesByKey(left);
  return (
    ours.size === others.size &&
    [...ours].every(([key, values]) => {
      const other = others.get(key);
      return other?.size === values.size && [...values].every((value) => other.has(value));
    })
  );
}

/** Other filters would have to be applied to events that are no longer there (D-020). */
export function lostInput(beginMs: InstantMs): Refusal {
  const begin = formatInstant(beginMs);
  return new Refusal(
    'invalid_operation',
    `other filters would change the usage before ${begin}, and retention has removed the raw ` +
      'events that arrived before: create another meter for the new filters, which counts what ' +
      'arrived since, and keep this one for the usage before',
  );
}
