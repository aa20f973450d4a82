import fc from 'fast-check';
import {
  AGGREGATION_TYPES,
  WINDOW_SIZES,
  type AggregationType,
  type OracleFilter,
} from '../meter.js';
import { anyExpression } from './random-expression.js';
import { anyScene, anyTimestamp, anyWindows, anyZone, type Scene } from './random-times.js';

type Generated<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never;

/** A property as it is written in the request: a JSON text, number or boolean. */
export type JsonToken = string;

/**
 * Customers are numbered: 0 and 1 exist from the start, 2 and 3 are created when their events are
 * stored, 4 never.
 */
export const CUSTOMER_ZONES = [null, 'Europe/Berlin', 'Australia/Lord_Howe', null, null] as const;
export const EARLY_CUSTOMERS = 2;
export const LATE_CUSTOMERS = 4;

const anyCustomer = fc.nat({ max: CUSTOMER_ZONES.length - 1 });

const NUMERIC_TEXTS = [
  '0',
  '-0',
  '1',
  '3',
  '7',
  '-4.5',
  '1e3',
  '+2',
  '1.50',
  '1.5',
  '007',
  '25e-1',
  '1E+2',
  '0.1',
  '1.',
  '.5',
  '1e30',
  '-1e30',
  '1e-30',
  '1e-18',
  '123456789.123456789123456789',
  '0.3333333333333333333333',
  '9.9999999999999999999',
  '12345678901234567890',
];
const OTHER_TEXTS = [
  '',
  'abc',
  '0x10',
  ' 7',
  '7 ',
  '.',
  '-',
  '1e',
  '1,5',
  'NaN',
  'Infinity',
  '1e39',
  '1e400',
  'true',
  'é',
  '1e99999999999',
];
const NUMBER_TOKENS = ['0', '1', '-4.5', '1.50', '1e3', '1E-2', '12345678901234567890.5', '1e30'];

const plainNumber = fc
  .tuple(fc.integer({ min: -9999, max: 99_999 }), fc.integer({ min: 0, max: 20 }))
  .map(([digits, places]) => `${digits}e-${places}`);
const anyNumeric: fc.Arbitrary<JsonToken> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NUMERIC_TEXTS).map((text) => JSON.stringify(text)) },
  { weight: 2, arbitrary: plainNumber.map((text) => JSON.stringify(text)) },
  { weight: 2, arbitrary: fc.constantFrom(...NUMBER_TOKENS) },
  { weight: 1, arbitrary: fc.constantFrom(...OTHER_TEXTS).map((text) => JSON.stringify(text)) },
);
const TAGS = ['red', 'green', 'Red', ''] as const;

const anyProperties = fc.record(
  {
    v: anyNumeric,
    w: anyNumeric,
    'w x': anyNumeric,
    tag: fc.constantFrom(...TAGS).map((text) => JSON.stringify(text)),
    flag: fc.constantFrom('true', 'false'),
  },
  { requiredKeys: [] },
);

const anyEvent = (scene: Scene) =>
  fc.record({
    /** Few ids, so that some repeat. */
    id: fc.nat({ max: 60 }),
    name: fc.constantFrom('own', 'own', 'own', 'own', 'own', 'blanks', 'otherCase'),
    customer: anyCustomer,
    reference: fc.constantFrom('external', 'external', 'id', 'both'),
    source: fc.constantFrom('', 's1', 's2', 'ü'),
    timestamp: anyTimestamp(scene),
    digitsBeyondMs: fc.constantFrom('', '', '9', '999'),
    properties: anyProperties,
  });
export type EventSpec = Generated<ReturnType<typeof anyEvent>>;

const anyFilters: fc.Arbitrary<readonly OracleFilter[]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom('tag', 'flag', 'v'),
        fc.uniqueArray(fc.constantFrom(...TAGS, 'true', '1.5', '1'), {
          minLength: 1,
          maxLength: 4,
        }),
      )
      .map(([key, values]) => [{ key, values }]),
  },
);

const EXPRESSION_TYPES: readonly AggregationType[] = ['SUM', 'AVG', 'MAX', 'MIN', 'LATEST'];
const BUCKET_TYPES: readonly AggregationType[] = ['COUNT', 'SUM', 'MAX'];

function multiplierOf(type: AggregationType): fc.Arbitrary<string | null> {
  const given = fc.constantFrom('1', '0.3', '1000', '0.000000000000000001', '2.5');
  if (type === 'SUM_WITH_MULTIPLIER') return given;
  return EXPRESSION_TYPES.includes(type)
    ? fc.option(given, { freq: 2 }).map((text) => text)
    : fc.constant(null);
}

function originOf(type: AggregationType) {
  const field = fc.constantFrom('v', 'tag', 'w x').map((name) => ({ field: name }));
  const expression = anyExpression.map((text) => ({ expression: text }));
  if (type === 'COUNT') return fc.constant({});
  return EXPRESSION_TYPES.includes(type) ? fc.oneof(field, expression) : field;
}
export type OriginSpec = { readonly field?: string; readonly expression?: string };

function bucketsOf(type: AggregationType) {
  const none = { bucketSize: null, groupBy: null };
  if (!BUCKET_TYPES.includes(type)) return fc.constant(none);
  const some = fc.record({
    bucketSize: fc.constantFrom(...WINDOW_SIZES),
    groupBy: fc.constantFrom(null, 'tag', 'w x'),
  });
  return fc.oneof(fc.constant(none), some);
}

const anyQuestion = (scene: Scene) =>
  fc.record({
    customer: fc.option(fc.nat({ max: LATE_CUSTOMERS - 1 })),
    isAskedByExternalId: fc.boolean(),
    filters: anyFilters,
    zone: fc.option(fc.oneof(fc.constant(scene.zone), anyZone), { freq: 4 }),
    anchor: fc.option(anyTimestamp(scene)),
    windows: anyWindows(scene),
  });
export type QuestionSpec = Generated<ReturnType<typeof anyQuestion>>;

const anyMeter = (scene: Scene, type: AggregationType) =>
  fc
    .record({
      type: fc.constant(type),
      origin: originOf(type) as fc.Arbitrary<OriginSpec>,
      multiplier: multiplierOf(type),
      filters: anyFilters,
      buckets: bucketsOf(type),
      isNeverReset: fc.boolean(),
      /** Created when half of the events are stored. */
      isLate: fc.boolean(),
      questions: fc.array(anyQuestion(scene), { minLength: 1, maxLength: 4 }),
    })
    .map((meter) => ({
      ...meter,
      // Buckets go with BILLING_PERIOD only.
      isNeverReset: meter.isNeverReset && meter.buckets.bucketSize === null,
    }));
export type MeterSpec = Generated<ReturnType<typeof anyMeter>>;

/** A question to POST /events/usage: a meter for the moment, and what to divide results by. */
const anyAdHoc = (scene: Scene) =>
  fc.constantFrom(...AGGREGATION_TYPES).chain((type) =>
    fc.record({
      type: fc.constant(type),
      field: fc.constantFrom('v', 'tag', 'w x'),
      multiplier: multiplierOf(type),
      bucketSize: bucketsOf(type).map(({ bucketSize }) => bucketSize),
      groupBy: fc.uniqueArray(fc.constantFrom('source', 'properties.tag', 'properties.w x'), {
        maxLength: 2,
      }),
      question: anyQuestion(scene),
    }),
  );
export type AdHocSpec = Generated<ReturnType<typeof anyAdHoc>>;

/** Everything of one case; what is sent bears names of its own, so that cases do not meet. */
export const anyCase = anyScene.chain((scene) =>
  fc.record({
    scene: fc.constant(scene),
    /** Requests before and after the late meters and customers are created. */
    early: fc.array(fc.array(anyEvent(scene), { minLength: 1, maxLength: 15 }), { maxLength: 3 }),
    late: fc.array(fc.array(anyEvent(scene), { minLength: 1, maxLength: 15 }), { maxLength: 2 }),
    meters: fc.tuple(...AGGREGATION_TYPES.map((type) => anyMeter(scene, type))),
    adHoc: fc.array(anyAdHoc(scene), { minLength: 1, maxLength: 6 }),
  }),
);
export type CaseSpec = Generated<typeof anyCase>;
