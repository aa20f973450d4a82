import type { Decimal } from '../../../contract/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type {
  BillingModel,
  InvoiceCadence,
  PriceBillingPeriod,
  PriceOwnerType,
  PriceType,
  PriceUnitType,
  TierMode,
} from './price.js';
import type { BillingCadence } from '../calendar/billing-grid.js';

/** A member that may be missing: absent, `undefined` and `null` mean the same. */
type Maybe<T> = T | null | undefined;

/** A tier as a request names it: amounts are decimal texts. */
export type TierRequest = {
  readonly unitAmount: string;
  readonly flatAmount?: Maybe<string>;
  readonly upTo?: Maybe<number>;
};

export type TransformQuantityRequest = {
  readonly divideBy: number;
  readonly round?: Maybe<'up' | 'down'>;
};

export type PriceUnitRequest = {
  /** Code of the price unit. */
  readonly priceUnit: string;
  readonly amount?: Maybe<string>;
  readonly priceUnitTiers?: Maybe<readonly TierRequest[]>;
};

/**
 * The members of a price request that decide money (api.md 3.3). The HTTP edge has already refused
 * unknown members and enum values, turned empty texts into null and read the dates.
 */
export type PriceRequest = {
  readonly currency?: Maybe<string>;
  readonly entityId?: Maybe<string>;
  readonly entityType?: Maybe<PriceOwnerType>;
  readonly planId?: Maybe<string>;
  readonly addonId?: Maybe<string>;
  readonly subscriptionId?: Maybe<string>;
  readonly type?: Maybe<PriceType>;
  readonly billingModel?: Maybe<BillingModel>;
  readonly amount?: Maybe<string>;
  readonly tierMode?: Maybe<TierMode>;
  readonly tiers?: Maybe<readonly TierRequest[]>;
  readonly transformQuantity?: Maybe<TransformQuantityRequest>;
  readonly billingCadence?: Maybe<BillingCadence>;
  readonly billingPeriod?: Maybe<PriceBillingPeriod>;
  readonly billingPeriodCount?: Maybe<number>;
  readonly invoiceCadence?: Maybe<InvoiceCadence>;
  readonly meterId?: Maybe<string>;
  /** One text stands for a list of one (domain.md 9.3). */
  readonly filterValues?: Maybe<Readonly<Record<string, string | readonly string[]>>>;
  readonly minQuantity?: Maybe<number>;
  readonly trialPeriodDays?: Maybe<number>;
  readonly priceUnitType?: Maybe<PriceUnitType>;
  readonly priceUnitConfig?: Maybe<PriceUnitRequest>;
  readonly startMs?: Maybe<InstantMs>;
  readonly endMs?: Maybe<InstantMs>;
};

/** What `completePrice` must be told besides the request. */
export type PriceContext = {
  /** Default start of the price. */
  readonly nowMs: InstantMs;
  /** The record that the request names as owner, found by the use case. */
  readonly owner: { readonly entityType: PriceOwnerType; readonly entityId: string };
  /** The published price unit whose code the request names; null when there is none. */
  readonly priceUnit: PriceUnitTerms | null;
};

export type PriceUnitTerms = {
  readonly id: string;
  readonly code: string;
  /** Lower case. */
  readonly baseCurrency: string;
  /** Fiat money for one unit; greater than 0. */
  readonly conversionRate: Decimal;
};

/** Every rule of domain.md 3.2 (Price, Tiers, price_unit_config) that a request can break. */
export type PriceRefusalReason =
  | 'currency_not_three_letters'
  | 'owner_missing'
  | 'owner_contradictory'
  | 'decimal_malformed'
  | 'amount_missing'
  | 'amount_negative'
  | 'amount_given_twice'
  | 'transform_quantity_missing'
  | 'divide_by_below_one'
  | 'tiers_missing'
  | 'tiers_given_twice'
  | 'tier_count_out_of_range'
  | 'tiers_not_ascending'
  | 'tiers_without_open_end'
  | 'billing_period_count_below_one'
  | 'cadence_contradicts_period'
  | 'meter_missing'
  | 'usage_in_advance'
  | 'usage_with_min_quantity'
  | 'onetime_not_fixed_in_advance'
  | 'trial_days_negative'
  | 'trial_not_recurring_fixed'
  | 'min_quantity_negative'
  | 'filter_values_malformed'
  | 'dates_reversed'
  | 'price_unit_missing'
  | 'price_unit_forbidden'
  | 'price_unit_unknown'
  | 'price_unit_of_other_currency';

/** A broken rule: the member to look at, in wire spelling, and what would make the request good. */
export type PriceRefusal = {
  readonly reason: PriceRefusalReason;
  /** `tiers.2.unit_amount`. */
  readonly member: string;
  readonly remedy: string;
};

/** Makes a refusal. */
export function refuse(reason: PriceRefusalReason, member: string, remedy: string): PriceRefusal {
  return { reason, member, remedy };
}

/**
 * Tells a refusal from what was asked for. The type of `reason` counts: `filter_values` may well
 * have a key of that name, with a list.
 */
export function isPriceRefusal(value: object): value is PriceRefusal {
  return 'reason' in value && typeof value.reason === 'string';
}
