import type { Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { BillingPeriod } from '../calendar/billing-grid.js';

/** How often an allowance resets; NEVER: one allowance for the life of the subscription. */
export type UsageResetPeriod = BillingPeriod | 'NEVER';

export type FeatureType = 'metered' | 'boolean' | 'static';

/**
 * One entitlement that a subscription has to a feature: by its plan, by one active addon
 * association (an addon that is associated twice is two sources), or of its own (docs/domain.md
 * 10.1).
 */
export type EntitlementSource = {
  readonly entitlementId: string;
  /** The entitlement that a subscription-scoped one replaces; null for all others. */
  readonly parentEntitlementId: string | null;
  readonly featureId: string;
  readonly featureType: FeatureType;
  /** The meter of a metered feature, else null. */
  readonly meterId: string | null;
  readonly isEnabled: boolean;
  readonly isSoftLimit: boolean;
  /** 0 or more units of the meter; null means unlimited. */
  readonly usageLimit: Decimal | null;
  /** Null means the billing period. */
  readonly usageResetPeriod: UsageResetPeriod | null;
  readonly staticValue: string | null;
  /** Orders the sources; equal ones are ordered by `entitlementId`. */
  readonly createdAtMs: InstantMs;
  /** Its own dates and those of its addon association; `Infinity` without an end. */
  readonly validity: Interval;
};

/** The combination of all sources of one feature at one instant (docs/domain.md 10.1). */
export type EffectiveEntitlement = {
  readonly featureId: string;
  readonly featureType: FeatureType;
  readonly meterId: string | null;
  /** Sum of the limits; null means unlimited. */
  readonly usageLimit: Decimal | null;
  readonly isSoftLimit: boolean;
  readonly usageResetPeriod: UsageResetPeriod | null;
  /** The different values, in the order of their sources; empty unless the feature is STATIC. */
  readonly staticValues: readonly string[];
};
