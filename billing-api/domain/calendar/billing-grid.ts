import type { InstantMs } from '../../../contract/instant.js';

/** Length of a billing period; `billing_period_count` multiplies it. */
export type BillingPeriod = 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'QUARTERLY' | 'HALF_YEARLY' | 'ANNUAL';

export type BillingCadence = 'RECURRING' | 'ONETIME';
export type BillingCycle = 'anniversary' | 'calendar';

/**
 * What the boundaries of billing periods are computed from (docs/domain.md 12.2): every boundary is
 * the anchor moved by a whole number of steps in the wall-clock time of `timezone`.
 */
export type BillingGrid = {
  readonly billingCycle: BillingCycle;
  readonly billingPeriod: BillingPeriod;
  /** At least 1. */
  readonly billingPeriodCount: number;
  /** The resolved anchor, never absent: `resolveBillingAnchor` makes it at creation. */
  readonly billingAnchorMs: InstantMs;
  /** An IANA name; fixed for the life of the subscription (docs/domain.md 12.6). */
  readonly timezone: string;
};
