/** How events become a number (docs/domain.md 7.5), in the order of the specification. */
export const AGGREGATION_TYPES = [
  'COUNT',
  'SUM',
  'AVG',
  'COUNT_UNIQUE',
  'LATEST',
  'SUM_WITH_MULTIPLIER',
  'MAX',
  'WEIGHTED_SUM',
] as const;
export type AggregationType = (typeof AGGREGATION_TYPES)[number];

/** What a meter makes of its events; every member but the type is null where it says nothing. */
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
