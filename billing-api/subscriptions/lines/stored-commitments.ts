import { Decimal, decimalOf } from '../../../contract/number/decimal.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import type {
  CommitmentTerms,
  CommitmentTimeBucket,
  LineCommitment,
  SubscriptionCommitment,
} from '../../domain/commitment/commitment.js';
import type { PlanRow } from '../../declarations/catalog/plan.resource.js';
import type { TimeBucketColumn } from '../../declarations/catalog/price-json.js';
import { priceFromRow, type PriceRow } from '../../declarations/catalog/price.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import type { CommitmentColumns, PricedTimeBucket } from './new-line.js';

/** The commitment of a stored subscription (docs/domain.md 11.1); null where it has none. */
export function subscriptionCommitmentFrom(
  row: SubscriptionRow,
  plan: PlanRow,
): SubscriptionCommitment | null {
  if (row.commitment_amount === null || row.overage_factor === null) return null;
  const overageFactor = decimalOf(row.overage_factor);
  const isMinimum = overageFactor.equals(1) && row.enable_true_up;
  return {
    amount: decimalOf(row.commitment_amount),
    overageFactor,
    isTrueUpEnabled: row.enable_true_up,
    ...(isMinimum ? { isMinimum } : {}),
    duration: row.commitment_duration,
    ...(row.commitment_start === null ? {} : { windowsFromMs: row.commitment_start }),
    planId: plan.id,
    planDisplayName: plan.name,
  };
}

/** Where a line item has its price and its commitment. */
type CommittedRow = Pick<LineItemRow, 'price_id' | keyof CommitmentColumns>;

function termsOf(row: CommittedRow): CommitmentTerms | null {
  const { commitment_type: type, commitment_overage_factor: factor } = row;
  if (type === null) return null;
  const value = type === 'amount' ? row.commitment_amount : row.commitment_quantity;
  return {
    type,
    value: decimalOf(assertPresent(value, 'the value of a commitment')),
    overageFactor: decimalOf(assertPresent(factor, 'the overage factor of a commitment')),
    isTrueUpEnabled: row.commitment_true_up_enabled,
  };
}

function minutesOf({ hour, minute }: TimeBucketColumn['start']): number {
  return hour * 60 + minute;
}

function timeBucketFrom(
  bucket: TimeBucketColumn,
  prices: ReadonlyMap<string, PriceRow>,
): CommitmentTimeBucket {
  return {
    id: bucket.id,
    startMinute: minutesOf(bucket.start),
    endMinute: minutesOf(bucket.end),
    terms: {
      type: bucket.commitment_type,
      value: decimalOf(bucket.commitment_value),
      overageFactor: new Decimal(bucket.overage_factor),
      isTrueUpEnabled: bucket.true_up_enabled,
    },
    price: priceFromRow(mustGet(prices, bucket.price_id, 'the price of a time bucket')),
  };
}

/** The time buckets of a stored price, as they go on with another price. */
export function keptTimeBuckets(
  { commitment_time_buckets: buckets }: PriceRow,
  prices: ReadonlyMap<string, PriceRow>,
): readonly PricedTimeBucket[] {
  if (buckets === null) return [];
  return buckets.map((bucket) => ({
    bucket: {
      place: 'commitment_time_buckets',
      start: bucket.start,
      end: bucket.end,
      commitmentType: bucket.commitment_type,
      price: { id: bucket.price_id },
      overageFactor: bucket.overage_factor,
      isTrueUpEnabled: bucket.true_up_enabled,
      commitmentValue: decimalOf(bucket.commitment_value),
    },
    price: {
      kind: 'stored',
      row: mustGet(prices, bucket.price_id, 'the price of a time bucket'),
    },
  }));
}

/**
 * The commitment of a stored line item (docs/domain.md 11.3 to 11.5); null where it has none. The
 * prices are those of the line and of its time buckets.
 */
export function lineCommitmentFrom(
  row: CommittedRow,
  prices: ReadonlyMap<string, PriceRow>,
): LineCommitment | null {
  const terms = termsOf(row);
  const price = mustGet(prices, row.price_id, 'the price of a line');
  const buckets = price.commitment_time_buckets === null ? [] : price.commitment_time_buckets;
  if (terms === null && buckets.length === 0) return null;
  return {
    terms,
    isWindowed: row.commitment_windowed,
    duration: row.commitment_duration,
    timeBuckets: buckets.map((bucket) => timeBucketFrom(bucket, prices)),
  };
}
