import type { Expression } from './expression/expression.js';
import type { Fraction } from './fraction.js';

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

export const WINDOW_SIZES = [
  'MINUTE',
  '15MIN',
  '30MIN',
  'HOUR',
  '3HOUR',
  '6HOUR',
  '12HOUR',
  'DAY',
  'WEEK',
  'MONTH',
] as const;
export type WindowSize = (typeof WINDOW_SIZES)[number];

export type OracleFilter = { readonly key: string; readonly values: readonly string[] };

/** Where the number of an event comes from. */
export type ValueOrigin =
  | { readonly kind: 'none' }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'expression'; readonly expression: Expression };

/** A meter (docs/domain.md 7), its texts already compiled. */
export type OracleMeter = {
  readonly eventName: string;
  readonly type: AggregationType;
  readonly origin: ValueOrigin;
  readonly multiplier: Fraction | null;
  readonly filters: readonly OracleFilter[];
  readonly bucketSize: WindowSize | null;
  /** Property by which a bucket is divided. */
  readonly groupBy: string | null;
  /** Tiers and packages run over the period (docs/domain.md 8.5); absent: begin anew. */
  readonly pricesPeriod?: boolean;
  readonly reset: 'BILLING_PERIOD' | 'NEVER';
};
