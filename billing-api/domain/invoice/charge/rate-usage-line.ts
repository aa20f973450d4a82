import type { Decimal } from '../../../../contract/number/decimal.js';
import { rateBuckets } from '../../rating/rate-buckets.js';
import { rateCommittedWindows } from '../../rating/rate-committed-windows.js';
import { ratePrice } from '../../rating/rate-price.js';
import { sumWindows } from '../../rating/sum-windows.js';
import type { BucketUsage } from '../../usage/line-usage.js';
import type { BillableLine, BillableUsageLine } from '../billable-line.js';
import { commitLine, committedWindows, type CommitmentContext } from './commit-line.js';
import type { InvoiceInputs } from '../invoice.js';
import type { MeasuredUsage, RatedLine } from './rated-line.js';

/** The charge: before a commitment for the whole period, but after one for every window. */
type Priced = Pick<RatedLine, 'charge' | 'pricing' | 'windows' | 'committed'>;

function priceQuantity(billable: BillableLine, quantity: Decimal): Priced {
  const { amount, trace } = ratePrice(billable.lineItem.price, quantity);
  return { charge: amount, pricing: trace, windows: null, committed: null };
}

function priceBuckets(
  billable: BillableUsageLine,
  { buckets, billed }: { readonly buckets: readonly BucketUsage[]; readonly billed: Decimal },
  inputs: InvoiceInputs,
): Priced {
  const { lineItem, period, bucketGrid: grid } = billable;
  const { price, commitment } = lineItem;
  if (commitment === null || !commitment.isWindowed || grid === null) {
    if (billable.meter.isPricedOverPeriod === true) return priceQuantity(billable, billed);
    const windows = rateBuckets(buckets, price);
    return { charge: sumWindows(windows).charge, pricing: null, windows, committed: null };
  }
  const { asOfMs } = inputs;
  const windows = rateCommittedWindows({ price, commitment, period, grid, buckets, asOfMs });
  const committed = committedWindows(commitment, sumWindows(windows));
  return { charge: committed.charge, pricing: null, windows, committed };
}

/** Rates a usage line: its price, then the commitment of the line (docs/domain.md 11). */
export function rateUsageLine<C extends string>(
  billable: BillableUsageLine,
  measured: MeasuredUsage,
  { inputs, ...known }: CommitmentContext<C>,
): RatedLine {
  const { quantity: billed, buckets } = measured.billed;
  const { usage: quantity } = measured.usage;
  const priced =
    buckets === null
      ? priceQuantity(billable, billed)
      : priceBuckets(billable, { buckets, billed }, inputs);
  const rated: RatedLine = { billable, measured, quantity, ...priced };
  const { commitment } = billable.lineItem;
  const terms = commitment?.terms ?? null;
  if (commitment === null || commitment.isWindowed || terms === null) return rated;
  const committed = commitLine(priced.charge, billable, { commitment, terms, inputs, ...known });
  return { ...rated, charge: committed.charge, committed };
}
