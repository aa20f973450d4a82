import type { AggregationType } from '../../contract/aggregation.js';
import type { Decimal } from '../../contract/decimal.js';
import type { InstantMs } from '../../contract/instant.js';
import type { MeterFilter } from '../../contract/meter.js';
import type { WindowSize } from './calendar/usage-windows.js';
import type { LineCommitment, SubscriptionCommitment } from './commitment/commitment.js';
import type { Price } from './price/price.js';
import type { ResetUsage } from './usage/usage-view.js';

/** How often a subscription is billed; `billingPeriodCount` multiplies it (domain.md 12). */
export type BillingPeriod = 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'QUARTERLY' | 'HALF_YEARLY' | 'ANNUAL';

export type BillingCadence = 'RECURRING' | 'ONETIME';
export type BillingCycle = 'anniversary' | 'calendar';
export type ProrationBehavior = 'create_prorations' | 'none';

/**
 * What the boundaries of billing periods are computed from (domain.md 12.2): every boundary is the
 * anchor moved by a whole number of steps in the wall-clock time of `timezone`.
 */
export type BillingGrid = {
  readonly billingCycle: BillingCycle;
  readonly billingPeriod: BillingPeriod;
  /** At least 1. */
  readonly billingPeriodCount: number;
  /** The resolved anchor, never absent: `resolveBillingAnchor` makes it at creation. */
  readonly billingAnchorMs: InstantMs;
  /** An IANA name; fixed for the life of the subscription (domain.md 12.6). */
  readonly timezone: string;
};

/** The part of a subscription that decides its periods and its charges. */
export type SubscriptionTerms = BillingGrid & {
  /** Lower case. */
  readonly currency: string;
  readonly billingCadence: BillingCadence;
  readonly startMs: InstantMs;
  /**
   * The instant at which the subscription stops to exist: the earlier of `end_date` and the
   * effective cancellation (with `cancel_at_period_end`, the end of the current period); null while
   * it has no end.
   */
  readonly endMs: InstantMs | null;
  /** End of the trial; usage before it is not billed. Null where there was no trial. */
  readonly trialEndMs: InstantMs | null;
  readonly prorationBehavior: ProrationBehavior;
  /** Null where there is none, and always where a line item has a commitment. */
  readonly commitment: SubscriptionCommitment | null;
};

/** The meter of a usage line as it stands when the invoice is computed. */
export type LineMeter = {
  readonly id: string;
  readonly version: number;
  readonly displayName: string;
  readonly eventName: string;
  readonly aggregationType: AggregationType;
  readonly filters: readonly MeterFilter[];
  readonly resetUsage: ResetUsage;
  /** Cuts the usage window into buckets that are priced one by one; null without buckets. */
  readonly bucketSize: WindowSize | null;
  /** Property that cuts every bucket further; only with `bucketSize`. */
  readonly groupBy: string | null;
};

/** A subscription line item: one price of the subscription over the time `[startMs, endMs)`. */
export type LineItem = {
  readonly id: string;
  /** With `id` the line order of domain.md 1. */
  readonly createdAtMs: InstantMs;
  readonly entityType: 'plan' | 'addon' | 'subscription';
  readonly entityId: string;
  readonly displayName: string;
  readonly planDisplayName: string | null;
  /** What a FIXED price is multiplied with; 0 on USAGE lines (domain.md 9.1). */
  readonly quantity: Decimal;
  readonly startMs: InstantMs;
  readonly endMs: InstantMs | null;
  readonly price: Price;
  /** Present exactly when the price is of type USAGE. */
  readonly meter: LineMeter | null;
  /** Only with a meter. */
  readonly commitment: LineCommitment | null;
};
