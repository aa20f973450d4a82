import type { MinuteValueName } from './minute-values.js';

/** How events become a number, in the order of docs/domain.md 7.5. */
export const AGGREGATION_TYPES = [
  'COUNT',
  'SUM',
  'AVG',
  'COUNT_UNIQUE',
  'LATEST',
  'SUM_WITH_MULTIPLIER',
  'MAX',
  'MIN',
  'WEIGHTED_SUM',
] as const;
export type AggregationType = (typeof AGGREGATION_TYPES)[number];

/** What an aggregation takes and how its values add up (docs/domain.md 3.2, 7.5, 7.8). */
export type AggregationFacts = {
  /** What of an event counts: that it happened, a number, or a text that is told apart. */
  readonly counts: 'event' | 'number' | 'text';
  /** Whether a meter may compute the number by an expression in place of `field`. */
  readonly allowsExpression: boolean;
  readonly multiplier: 'required' | 'optional' | 'refused';
  /** Whether a negative number counts as it is; otherwise it counts as 0. */
  readonly allowsNegative: boolean;
  /** Whether an event whose number cannot be read takes no part; otherwise it counts as 0. */
  readonly ignoresUnreadable: boolean;
  /**
   * Whether a meter may have buckets, whose values add up. The value of a divisible bucket is the
   * sum of those of its parts, whatever the cut; that of a whole bucket is not.
   */
  readonly buckets: 'divisible' | 'whole' | 'refused';
  /** Whether cells add up over any time and key. Texts may be the same in two cells. */
  readonly hasAdditiveCells: boolean;
  /** Whether the value depends on when, inside its window, an event happened. */
  readonly isTimeWeighted: boolean;
  /** The values of a minute that it is made of, beside the number of events. */
  readonly values: readonly MinuteValueName[];
};

/** What most types have in common. */
const NUMBER = {
  counts: 'number',
  allowsExpression: true,
  multiplier: 'optional',
  allowsNegative: false,
  ignoresUnreadable: false,
  buckets: 'refused',
  hasAdditiveCells: true,
  isTimeWeighted: false,
} as const;

/** All that is known of each type: request rules, minutes, statements and results follow it. */
export const AGGREGATIONS: Readonly<Record<AggregationType, AggregationFacts>> = {
  COUNT: {
    ...NUMBER,
    counts: 'event',
    allowsExpression: false,
    multiplier: 'refused',
    buckets: 'divisible',
    values: [],
  },
  SUM: { ...NUMBER, buckets: 'divisible', values: ['unreadableCount', 'valueSum'] },
  AVG: { ...NUMBER, values: ['unreadableCount', 'valueSum'] },
  COUNT_UNIQUE: {
    ...NUMBER,
    counts: 'text',
    allowsExpression: false,
    multiplier: 'refused',
    hasAdditiveCells: false,
    values: ['unreadableCount', 'uniques'],
  },
  LATEST: { ...NUMBER, values: ['unreadableCount', 'latest'] },
  SUM_WITH_MULTIPLIER: {
    ...NUMBER,
    allowsExpression: false,
    multiplier: 'required',
    values: ['unreadableCount', 'valueSum'],
  },
  MAX: { ...NUMBER, buckets: 'whole', values: ['unreadableCount', 'valueMax'] },
  // No buckets: a further event could lower the sum of least values, so more usage would cost less.
  MIN: { ...NUMBER, ignoresUnreadable: true, values: ['unreadableCount', 'valueMin'] },
  WEIGHTED_SUM: {
    ...NUMBER,
    allowsExpression: false,
    multiplier: 'refused',
    allowsNegative: true,
    isTimeWeighted: true,
    values: ['unreadableCount', 'valueSum', 'valueTimeSum'],
  },
};

/** One value for each type, made of what is known of it. */
export function forEachAggregation<Value>(
  make: (facts: AggregationFacts) => Value,
): Readonly<Record<AggregationType, Value>> {
  const entries = AGGREGATION_TYPES.map((type) => [type, make(AGGREGATIONS[type])] as const);
  return Object.fromEntries(entries) as Record<AggregationType, Value>;
}

/** How a meter aggregates its events; members that its type does not take are null. */
export type MeterAggregation = {
  readonly type: AggregationType;
  /** Property whose text is the value, or is told apart by COUNT_UNIQUE. */
  readonly field: string | null;
  /** In place of `field`: an expression over properties. */
  readonly expression: string | null;
  /** Plain decimal text above 0 by which every value is multiplied. */
  readonly multiplier: string | null;
  /** Property whose text splits the usage of a bucket (docs/domain.md 7.8). */
  readonly groupBy: string | null;
};

export const COUNT_EVENTS: MeterAggregation = {
  type: 'COUNT',
  field: null,
  expression: null,
  multiplier: null,
  groupBy: null,
};
