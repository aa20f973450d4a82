import type { Decimal } from '../../../contract/decimal.js';
import type { BilledUsage } from '../entitlement/billed-usage.js';
import type { PricingTrace } from '../rating/pricing-trace.js';
import { rateBuckets } from '../rating/rate-buckets.js';
import { rateCommittedWindows } from '../rating/rate-committed-windows.js';
import { ratePrice } from '../rating/rate-price.js';
import { sumWindows } from '../rating/sum-windows.js';
import { commitLine, committedWindows, type CommittedCharge } from './commit-line.js';
import type { BillableFixedLine, BillableLine, BillableUsageLine } from './billable-line.js';
import type { InvoiceInputs } from './invoice.js';
import type { PricedWindow } from '../rating/priced-window.js';
import type { Proration } from '../calendar/proration.js';
import type { BucketUsage, LineUsage } from '../usage/line-usage.js';

/** The usage of a line, and the part of it that is billed after the allowance. */
export type MeasuredUsage = { readonly usage: LineUsage; readonly billed: BilledUsage };

/** A line with its exact charge, before rounding. */
export type RatedLine = {
  readonly billable: BillableLine;
  /** Null exactly for FIXED lines. */
  readonly measured: MeasuredUsage | null;
  /** The usage before the allowance, so that the events behind a line add up to it. */
  readonly quantity: Decimal;
  readonly charge: Decimal;
  /** Null when windows were priced. */
  readonly pricing: PricingTrace | null;
  /** Null when the quantity was priced as a whole. */
  readonly windows: readonly PricedWindow[] | null;
  /** Null unless the line item has a commitment. */
  readonly committed: CommittedCharge | null;
};

/** Rates a FIXED line: quantity, price and partial period (docs/domain.md 13.1.2 b). */
export function rateFixedLine(billable: BillableFixedLine): RatedLine {
  const { lineItem, proration } = billable;
  const { quantity } = lineItem;
  const { amount, trace } = ratePrice(lineItem.price, quantity);
  const charge = proration === null ? amount : prorate(amount, proration);
  const none = { measured: null, windows: null, committed: null };
  return { ...none, billable, quantity, charge, pricing: trace };
}

/** Multiplies before it divides, so that a full period leaves the charge exact. */
function prorate(charge: Decimal, { coveredMs, fullMs }: Proration): Decimal {
  return charge.times(coveredMs).dividedBy(fullMs);
}

/** The charge before a commitment for the period, or with a commitment for every window. */
type Priced = Pick<RatedLine, 'charge' | 'pricing' | 'windows' | 'committed'>;

function priceQuantity(billable: BillableLine, quantity: Decimal): Priced {
  const { amount, trace } = ratePrice(billable.lineItem.price, quantity);
  return { charge: amount, pricing: trace, windows: null, committed: null };
}

function priceBuckets(
  billable: BillableUsageLine,
  buckets: readonly BucketUsage[],
  inputs: InvoiceInputs,
): Priced {
  const { lineItem, period, meter } = billable;
  const { price, commitment } = lineItem;
  if (commitment === null || !commitment.isWindowed || meter.bucketSize === null) {
    const windows = rateBuckets(buckets, price);
    return { charge: sumWindows(windows).charge, pricing: null, windows, committed: null };
  }
  const { timezone, billingAnchorMs: anchorMs } = inputs.subscription;
  const grid = { size: meter.bucketSize, timezone, anchorMs };
  const { asOfMs } = inputs;
  const windows = rateCommittedWindows({ price, commitment, period, grid, buckets, asOfMs });
  const committed = committedWindows(commitment, sumWindows(windows));
  return { charge: committed.charge, pricing: null, windows, committed };
}

/** Rates a usage line: its price, then the commitment of the line (docs/domain.md 11). */
export function rateUsageLine(
  billable: BillableUsageLine,
  measured: MeasuredUsage,
  inputs: InvoiceInputs,
): RatedLine {
  const { quantity: billed, buckets } = measured.billed;
  const { usage: quantity } = measured.usage;
  const priced =
    buckets === null ? priceQuantity(billable, billed) : priceBuckets(billable, buckets, inputs);
  const rated: RatedLine = { billable, measured, quantity, ...priced };
  const { commitment } = billable.lineItem;
  const terms = commitment?.terms ?? null;
  if (commitment === null || commitment.isWindowed || terms === null) return rated;
  const committed = commitLine(priced.charge, billable, { commitment, terms, inputs });
  return { ...rated, charge: committed.charge, committed };
}
