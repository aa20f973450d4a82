import type { Decimal } from '../../../../contract/number/decimal.js';
import type { BilledUsage } from '../../entitlement/billed-usage.js';
import type { PricedWindow } from '../../rating/priced-window.js';
import type { PricingTrace } from '../../rating/pricing-trace.js';
import type { LineUsage } from '../../usage/line-usage.js';
import type { BillableLine } from '../billable-line.js';
import type { CommittedCharge } from './commit-line.js';
import type { MaximumTrace } from '../../rating/maximum-trace.js';

/** The usage of a line, and the part of it that is billed after the allowance. */
export type MeasuredUsage = { readonly usage: LineUsage; readonly billed: BilledUsage };

/** A line with its exact charge, before rounding. */
export type RatedLine = {
  readonly billable: BillableLine;
  /** Null exactly for FIXED lines. */
  readonly measured: MeasuredUsage | null;
  /**
   * The quantity of a FIXED line; else the usage before the allowance, so that the events behind a
   * line add up to it.
   */
  readonly quantity: Decimal;
  readonly charge: Decimal;
  /** Null when windows were priced. */
  readonly pricing: PricingTrace | null;
  /** Null when the quantity was priced as a whole. */
  readonly windows: readonly PricedWindow[] | null;
  /** Null unless the line item has a commitment. */
  readonly committed: CommittedCharge | null;
  /** Absent unless the price has a maximum. */
  readonly maximum?: MaximumTrace;
};
