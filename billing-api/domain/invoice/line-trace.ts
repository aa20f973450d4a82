import type { AggregationType } from '../../../contract/aggregation.js';
import type { Decimal } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import type { MeterFilter } from '../../../contract/meter.js';
import type { DiscountTrace } from '../adjustments/adjusted-line.js';
import type { Money } from '../money/money.js';
import type { WindowSize } from '../calendar/usage-windows.js';
import type { MeterValue } from '../usage/line-meter.js';
import type { Proration } from '../calendar/proration.js';
import type { CommitmentTrace } from '../commitment/commitment-trace.js';
import type { AllowanceTrace } from '../entitlement/allowance-trace.js';
import type { PricedWindow } from '../rating/priced-window.js';
import type { PricingTrace } from '../rating/pricing-trace.js';
import type { MaximumTrace } from '../rating/maximum-trace.js';

/** The steps that led to a line's amount, enough to compute it again by hand (docs/http.md 6). */
export type LineTrace<C extends string = string> = {
  readonly timezone: string;
  /** Usage window or charged period. */
  readonly window: Interval;
  /** Null unless it is a usage line. */
  readonly usage: UsageTrace | null;
  /** Null for a line that is priced by `windows`, and for a true-up line. */
  readonly pricing: PricingTrace | null;
  /** Every window that was priced, in the order of time; null without a bucketed meter. */
  readonly windows: readonly PricedWindow[] | null;
  readonly commitment: CommitmentTrace | null;
  /** Absent unless the price has a maximum. */
  readonly maximum?: MaximumTrace;
  readonly proration: Proration | null;
  readonly rounding: Rounding<C>;
  /**
   * What threshold invoices charged in the same period, which the amount leaves out (docs/domain.md
   * 30.1); absent where there are none.
   */
  readonly chargedBefore?: Money<C>;
  /** What was charged for the line before; absent unless it charges late usage. */
  readonly late?: LateTrace<C>;
  /** In the order in which they were taken; line coupons first. */
  readonly discounts: readonly DiscountTrace<C>[];
};

/** Why a line charges no more than late usage (docs/domain.md 13.8). */
export type LateTrace<C extends string = string> = {
  /** The invoice of the period, and its number. */
  readonly invoiceId: string;
  readonly invoiceNumber: string | null;
  /** What the period costs now, after discounts. */
  readonly cost: Money<C>;
  /** What it and later invoices have charged of that. */
  readonly chargedBefore: Money<C>;
  readonly quantityBefore: Decimal;
  /** What this invoice is too small to give back, so that it waits for the next one. */
  readonly waiting: Money<C>;
};

export type UsageTrace = {
  readonly meterId: string;
  readonly meterVersion: number;
  readonly eventName: string;
  readonly aggregationType: AggregationType;
  readonly eventValue: MeterValue;
  readonly bucketSize: WindowSize | null;
  readonly groupBy: string | null;
  /** Of the meter; an event counts when it passes these and the `filterValues` of the price. */
  readonly filters: readonly MeterFilter[];
  readonly filterValues: Readonly<Record<string, readonly string[]>>;
  /** Whose events count; absent where they are those of the invoice's customer. */
  readonly customerIds?: readonly string[];
  readonly eventCount: number;
  /** Aggregated quantity. */
  readonly raw: Decimal;
  /** The quantity that was priced, after the allowance. */
  readonly billed: Decimal;
  /** Null where no entitlement applies. */
  readonly allowance: AllowanceTrace | null;
};

export type Rounding<C extends string = string> = {
  readonly exact: Decimal;
  readonly rounded: Money<C>;
  readonly digits: number;
  /** `largest_remainder`: a part of a rounded sum (docs/domain.md 6.5). */
  readonly mode: 'half_up_away_from_zero' | 'largest_remainder';
};
