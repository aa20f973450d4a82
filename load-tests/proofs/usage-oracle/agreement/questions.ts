import { parseExpression } from '../expression/parse-expression.js';
import type { OracleMeter, ValueOrigin, WindowSize } from '../meter.js';
import { readNumber } from '../numeric-text.js';
import { answerUsage, type UsageAnswer, type UsageQuestion } from '../usage.js';
import { worldOf, type CaseRun } from './case-run.js';
import {
  CUSTOMER_ZONES,
  type AdHocSpec,
  type MeterSpec,
  type OriginSpec,
  type QuestionSpec,
} from './random-case.js';
import { isRangeSupported } from './bucket-limit.js';

/** One request to the product and what the oracle answers to it. */
export type Check = {
  /** The meter in words. */
  readonly about: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly expected: UsageAnswer;
};

function originOf({ field, expression }: OriginSpec): ValueOrigin {
  if (field !== undefined) return { kind: 'field', name: field };
  if (expression === undefined) return { kind: 'none' };
  return { kind: 'expression', expression: parseExpression(expression) };
}

function oracleMeterOf(run: CaseRun, meter: MeterSpec): OracleMeter {
  return {
    eventName: run.eventName,
    type: meter.type,
    origin: originOf(meter.origin),
    multiplier: meter.multiplier === null ? null : readNumber(meter.multiplier),
    filters: meter.filters,
    bucketSize: meter.buckets.bucketSize,
    groupBy: meter.buckets.groupBy,
    reset: meter.isNeverReset ? 'NEVER' : 'BILLING_PERIOD',
  };
}

function isoOf(instant: number): string {
  return new Date(instant).toISOString();
}

/** Members that both usage routes share. */
function sharedBody(run: CaseRun, question: QuestionSpec): Record<string, unknown> {
  const customer = question.customer === null ? undefined : run.customers[question.customer];
  const filters = question.filters.map(({ key, values }) => [key, values]);
  return {
    external_customer_id: question.isAskedByExternalId ? customer?.externalId : undefined,
    customer_id: question.isAskedByExternalId ? undefined : customer?.id,
    filters: Object.fromEntries(filters),
    start_time: isoOf(question.windows.range.start),
    end_time: isoOf(question.windows.range.end),
    window_size: question.windows.windowSize ?? undefined,
    timezone: question.zone ?? undefined,
    billing_anchor: question.anchor === null ? undefined : isoOf(question.anchor),
  };
}

function oracleQuestion(
  run: CaseRun,
  question: QuestionSpec,
  asked: { readonly meter: OracleMeter; readonly groupBy: readonly string[] },
): UsageQuestion {
  const customer = question.customer === null ? undefined : run.customers[question.customer];
  const zoneOfCustomer = customer === undefined ? null : CUSTOMER_ZONES[question.customer ?? 0];
  return {
    ...asked,
    ...question.windows,
    customerId: customer?.id ?? null,
    filters: question.filters,
    zone: question.zone ?? zoneOfCustomer ?? 'UTC',
    anchor: question.anchor,
  };
}

/** Customers not created yet cannot be asked for. */
function isAskable(
  run: CaseRun,
  { customer, windows }: QuestionSpec,
  bucketSize: WindowSize | null,
): boolean {
  const isKnown = customer === null || customer < run.customers.length;
  return isKnown && isRangeSupported(windows.range, bucketSize);
}

/** Questions about a meter, as the oracle is asked them. */
export function questionsOf(run: CaseRun, spec: MeterSpec): readonly UsageQuestion[] {
  const meter = oracleMeterOf(run, spec);
  return spec.questions
    .filter((question) => isAskable(run, question, meter.bucketSize))
    .map((question) => oracleQuestion(run, question, { meter, groupBy: [] }));
}

/** The questions about a meter that exists. */
export function meterChecks(run: CaseRun, spec: MeterSpec): readonly Check[] {
  const meter = oracleMeterOf(run, spec);
  const asked = spec.questions.filter((question) => isAskable(run, question, meter.bucketSize));
  return asked.map((question) => ({
    about: `${spec.isLate ? 'late' : 'early'} meter ${JSON.stringify({ ...spec, questions: [] })}`,
    path: '/events/usage/meter',
    body: { meter_id: run.meterIds.get(spec), ...sharedBody(run, question) },
    expected: answerUsage(worldOf(run), oracleQuestion(run, question, { meter, groupBy: [] })),
  }));
}

/** The same for POST /events/usage, which makes a meter for the moment. */
export function adHocChecks(run: CaseRun, spec: AdHocSpec): readonly Check[] {
  const { type, field, bucketSize, multiplier } = spec;
  if (!isAskable(run, spec.question, bucketSize)) return [];
  const groupBy = bucketSize === null ? spec.groupBy : [];
  const meter: OracleMeter = {
    eventName: run.eventName,
    type,
    origin: { kind: 'field', name: field },
    multiplier: multiplier === null ? null : readNumber(multiplier),
    filters: [],
    bucketSize,
    groupBy: null,
    reset: 'BILLING_PERIOD',
  };
  const body = {
    ...sharedBody(run, spec.question),
    event_name: run.eventName,
    aggregation_type: type,
    property_name: type === 'COUNT' ? undefined : field,
    multiplier: multiplier ?? undefined,
    bucket_size: bucketSize ?? undefined,
    group_by: groupBy.length === 0 ? undefined : groupBy,
  };
  const expected = answerUsage(
    worldOf(run),
    oracleQuestion(run, spec.question, { meter, groupBy }),
  );
  return [{ about: 'no meter', path: '/events/usage', body, expected }];
}
