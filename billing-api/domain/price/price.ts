import type { Decimal } from '../../../contract/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { BillingCadence, BillingPeriod } from '../calendar/billing-grid.js';

export type PriceType = 'USAGE' | 'FIXED';
export type BillingModel = 'FLAT_FEE' | 'PACKAGE' | 'TIERED';
export type TierMode = 'VOLUME' | 'SLAB';
export type InvoiceCadence = 'ARREAR' | 'ADVANCE';
export type PriceOwnerType = 'PLAN' | 'ADDON' | 'SUBSCRIPTION';
export type PriceUnitType = 'FIAT' | 'CUSTOM';
export type RecordStatus = 'published' | 'deleted' | 'archived';
export type PriceBillingPeriod = BillingPeriod | 'ONETIME';

/**
 * One step of a tiered price; the last tier of a price, and only the last, is open (`upTo` null).
 */
export type Tier = {
  readonly unitAmount: Decimal;
  /** Added once when the tier is entered; null counts as 0. */
  readonly flatAmount: Decimal | null;
  /** Inclusive upper bound, a positive safe integer. */
  readonly upTo: number | null;
};

export type TransformQuantity = {
  /** At least 1. */
  readonly divideBy: number;
  readonly round: 'up' | 'down';
};

/**
 * The members that turn a quantity into money. Those the billing model does not use may be present
 * and are never billed (domain.md 3.2). Amounts are in the price's currency, unrounded.
 */
export type PriceModel = {
  readonly billingModel: BillingModel;
  /** Present for FLAT_FEE and PACKAGE. */
  readonly amount: Decimal | null;
  readonly tierMode: TierMode;
  /** Present for TIERED, ascending. */
  readonly tiers: readonly Tier[] | null;
  /** Present for PACKAGE. */
  readonly transformQuantity: TransformQuantity | null;
};

/** The figures of a CUSTOM price in its own unit; the price itself carries them in fiat (8.6). */
export type PriceUnitFigures = {
  readonly priceUnitId: string;
  readonly priceUnit: string;
  /** Fiat money for one unit, frozen when the price is created; greater than 0. */
  readonly conversionRate: Decimal;
  readonly amount: Decimal | null;
  readonly tiers: readonly Tier[] | null;
};

/** A price without its identity: what `completePrice` makes of a request. */
export type PriceTerms = PriceModel & {
  readonly type: PriceType;
  /** Lower case. */
  readonly currency: string;
  readonly billingCadence: BillingCadence;
  /** ONETIME exactly when the cadence is (domain.md 9.2). */
  readonly billingPeriod: PriceBillingPeriod;
  readonly billingPeriodCount: number;
  readonly invoiceCadence: InvoiceCadence;
  readonly entityType: PriceOwnerType;
  readonly entityId: string;
  /** Present for USAGE; a FIXED price may carry one, which is never billed. */
  readonly meterId: string | null;
  /** Property key to accepted texts; empty when the price takes all events of its meter (9.3). */
  readonly filterValues: Readonly<Record<string, readonly string[]>>;
  /** Default quantity of a FIXED line, never a minimum charge (domain.md 9.1). */
  readonly minQuantity: Decimal | null;
  readonly trialPeriodDays: number | null;
  readonly startMs: InstantMs;
  readonly endMs: InstantMs | null;
  /** Present for CUSTOM prices, null for FIAT. */
  readonly priceUnitFigures: PriceUnitFigures | null;
};

/** A price as it is stored. */
export type Price = PriceTerms & {
  readonly id: string;
  readonly status: RecordStatus;
};
