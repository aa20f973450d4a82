import type { Decimal } from '../../../contract/number/decimal.js';
import type { AllowanceTrace } from './allowance-trace.js';
import type { BucketUsage } from '../usage/line-usage.js';

/** The part of a line's usage that is priced. */
export type BilledUsage = {
  /** At least 0 and at most the aggregated quantity. */
  readonly quantity: Decimal;
  /** The rest of each bucket, in the order of time, groups by text; null without buckets. */
  readonly buckets: readonly BucketUsage[] | null;
  /** Null where no entitlement applies. */
  readonly allowance: AllowanceTrace | null;
};
