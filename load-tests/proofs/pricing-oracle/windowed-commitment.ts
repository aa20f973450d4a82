import { fraction, multiply, type Fraction } from '../usage-oracle/fraction.js';
import type { Bucket } from './buckets.js';
import {
  addParts,
  applyCommitment,
  committedMoney,
  plainUsage,
  type CommitmentParts,
} from './commitment-parts.js';
import { sum } from './exact.js';
import type { BucketUsage } from './measured-usage.js';
import { chargeFor } from './price.js';
import type { Commitment, LineCommitment, Price, TimeBucket } from './subscription.js';

/** Price and commitment of a window. */
type Terms = { readonly price: Price; readonly commitment: Commitment | null };

/** Half-open; a bucket that ends before it starts wraps past midnight (docs/domain.md 11.5). */
function containsMinute({ start, end }: TimeBucket, minute: number): boolean {
  return start < end ? minute >= start && minute < end : minute >= start || minute < end;
}

function termsOf(
  { slotMinute }: Bucket,
  { own, timeBuckets }: LineCommitment,
  linePrice: Price,
): Terms {
  const inside = timeBuckets.find((bucket) => containsMinute(bucket, slotMinute));
  return inside ?? { price: linePrice, commitment: own };
}

/**
 * A bucket that the usage window cuts has its commitment scaled by seconds (docs/domain.md 11.4).
 */
function scaled(committed: Fraction, { coveredMs, fullMs }: Bucket): Fraction {
  return multiply(committed, fraction(BigInt(coveredMs), BigInt(fullMs)));
}

function partsOfWindow(
  { bucket, groups }: BucketUsage,
  { price, commitment }: Terms,
): CommitmentParts {
  const usageMoney = sum(groups.map(({ value }) => chargeFor(price, value)));
  if (commitment === null) return plainUsage(usageMoney);
  const committed = scaled(committedMoney(commitment, price), bucket);
  return applyCommitment(usageMoney, committed, commitment);
}

/**
 * A commitment for every bucket, priced by its time of day (docs/domain.md 11.4, 11.5). Where `now`
 * is given the period is running: empty buckets that start at it or later do not take part.
 */
export function windowedParts(
  buckets: readonly BucketUsage[],
  { price, commitment }: { readonly price: Price; readonly commitment: LineCommitment },
  now: number | null,
): CommitmentParts {
  const begun = buckets.filter(
    ({ bucket, groups }) => now === null || bucket.start < now || groups.length > 0,
  );
  return addParts(
    begun.map((usage) => partsOfWindow(usage, termsOf(usage.bucket, commitment, price))),
  );
}
