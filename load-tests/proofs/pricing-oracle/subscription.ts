import type { OracleFilter, OracleMeter } from '../usage-oracle/meter.js';
import type { OracleEvent } from '../usage-oracle/usage-event.js';
import type { BillingPeriod, Length } from './billing-grid.js';

/*
 * Everything that the amounts of an invoice depend on, as a subscription would be written down:
 * amounts, quantities, rates and factors are decimal texts, instants milliseconds since 1970.
 */

export type Tier = {
  readonly unitAmount: string;
  readonly flatAmount: string;
  /** Null: the open tier, which is the last. */
  readonly upTo: number | null;
};

export type PriceModel =
  | { readonly model: 'FLAT_FEE'; readonly amount: string }
  | {
      readonly model: 'PACKAGE';
      readonly amount: string;
      readonly divideBy: number;
      readonly round: 'up' | 'down';
    }
  | {
      readonly model: 'TIERED';
      readonly mode: 'VOLUME' | 'SLAB';
      readonly tiers: readonly Tier[];
    };

export type Price = PriceModel & {
  /** Fiat money per unit when amounts are in units of a custom price unit, else null. */
  readonly unitRate: string | null;
};

export type Commitment = {
  readonly type: 'amount' | 'quantity';
  readonly value: string;
  readonly factor: string;
  readonly hasTrueUp: boolean;
};

/** Minutes since 00:00 by the local clock, `[start, end)`, 1440 only as an end; may wrap. */
export type TimeBucket = {
  readonly id: string;
  readonly start: number;
  readonly end: number;
  readonly price: Price;
  readonly commitment: Commitment;
};

export type LineCommitment = {
  /** Null only beside time buckets. */
  readonly own: Commitment | null;
  /** Null: the billing period of the subscription. */
  readonly duration: BillingPeriod | null;
  readonly isWindowed: boolean;
  readonly timeBuckets: readonly TimeBucket[];
};

type ItemBasis = {
  readonly id: string;
  readonly createdAt: number;
  readonly price: Price;
  readonly start: number;
  readonly end: number | null;
  /** Whether it was added to the period in which it begins while that ran; absent for no. */
  readonly isLate?: boolean;
};

export type FixedItem = ItemBasis & {
  readonly type: 'FIXED';
  readonly cadence: 'ADVANCE' | 'ARREAR';
  readonly quantity: string;
  readonly length: Length;
};

export type OnetimeItem = ItemBasis & { readonly type: 'ONETIME'; readonly quantity: string };

export type UsageItem = ItemBasis & {
  readonly type: 'USAGE';
  readonly meterId: string;
  readonly filterValues: readonly OracleFilter[];
  readonly length: Length;
  readonly commitment: LineCommitment | null;
  /** Items that this one continues: what they used of a commitment counts (docs/domain.md 11.3). */
  readonly predecessorIds: readonly string[];
  /** The most that it is charged for a billing period (docs/domain.md 8.8). */
  readonly maximum?: string;
};

export type LineItem = FixedItem | OnetimeItem | UsageItem;

export type EntitlementSource = {
  readonly id: string;
  readonly createdAt: number;
  readonly scope: 'PLAN' | 'ADDON' | 'SUBSCRIPTION';
  /** The entitlement that one of the subscription replaces. */
  readonly parentId: string | null;
  readonly isEnabled: boolean;
  /** Null: unlimited. */
  readonly limit: string | null;
  readonly reset: BillingPeriod | 'NEVER' | null;
  readonly start: number | null;
  readonly end: number | null;
  /** When the addon is on the subscription, once per association; empty for other scopes. */
  readonly associations: readonly { readonly start: number; readonly end: number | null }[];
};

export type Feature = {
  readonly id: string;
  readonly meterId: string;
  readonly sources: readonly EntitlementSource[];
};

export type SubscriptionCommitment = {
  readonly amount: string;
  readonly factor: string;
  readonly hasTrueUp: boolean;
  readonly duration: BillingPeriod | null;
};

export type CouponAssociation = {
  readonly id: string;
  /** Null: on the invoice. */
  readonly itemId: string | null;
  readonly start: number;
  readonly end: number | null;
  readonly discount:
    | { readonly type: 'fixed'; readonly amountOff: string }
    | { readonly type: 'percentage'; readonly percentageOff: string };
  /** Null: forever; 1: once. */
  readonly applicationsMax: number | null;
};

/** A rate that is associated with something; those of one rate differ in nothing else. */
export type TaxRate = {
  readonly id: string;
  readonly rateId: string;
  readonly level: 'invoice' | 'subscription' | 'customer' | 'tenant';
  readonly isAutoApplied: boolean;
  readonly isActive: boolean;
} & (
  | { readonly type: 'percentage'; readonly percentage: string }
  | { readonly type: 'fixed'; readonly amount: string }
);

export type Wallet = {
  readonly id: string;
  readonly createdAt: number;
  readonly creditBalance: string;
  readonly conversionRate: string;
  readonly allowed: 'ALL' | 'USAGE' | 'FIXED';
};

/**
 * What happened to a subscription after its creation (docs/domain.md 12.10), each at the instant
 * from which on it is known.
 */
export type HistoryOperation =
  /** The running row is a trial and has ended: the first billed row begins. */
  | { readonly type: 'trial_end'; readonly at: number }
  /** The running row has ended: the next one begins. */
  | { readonly type: 'renewal'; readonly at: number }
  /** A threshold invoice closes the running row at `at`. */
  | { readonly type: 'threshold'; readonly at: number }
  /** A pause `[from, at)` has ended. Until then nobody knows how long it will be. */
  | { readonly type: 'pause'; readonly at: number; readonly from: number }
  /** Requested at `at`; inside of the running row, before or after `at`, it takes effect. */
  | { readonly type: 'cancel'; readonly at: number; readonly effective: number };

export type Subscription = {
  readonly start: number;
  /** `end_date` as given at creation; a cancellation stands in `history` (`endOf`). */
  readonly end: number | null;
  /** `start` and a whole number of 24 hours; null: no trial. */
  readonly trialEnd: number | null;
  /** What is known by now, in order. Further rows are what renewals would append. */
  readonly history: readonly HistoryOperation[];
  readonly zone: string;
  readonly currency: string;
  readonly length: Length;
  readonly cycle: 'anniversary' | 'calendar';
  /** `billing_anchor` as given; null: the start. */
  readonly givenAnchor: number | null;
  readonly proration: 'create_prorations' | 'none';
  readonly commitment: SubscriptionCommitment | null;
  readonly items: readonly LineItem[];
  readonly meters: ReadonlyMap<string, OracleMeter>;
  readonly features: readonly Feature[];
  readonly coupons: readonly CouponAssociation[];
  /** Those that apply, in the order of docs/domain.md 15. */
  readonly taxes: readonly TaxRate[];
  readonly wallets: readonly Wallet[];
  /** In the order of acceptance, duplicates included; all of the customer. */
  readonly events: readonly OracleEvent[];
};

/** When the subscription ends, as far as that is known; null: it does not. */
export function endOf({ history, end }: Subscription): number | null {
  const cancellation = history.find((operation) => operation.type === 'cancel');
  return cancellation?.effective ?? end;
}
