import { plain } from '../../../contract/number/decimal.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import type { MeterRow } from '../../declarations/catalog/meter.resource.js';
import { isLonger, onePeriod, type BilledEvery } from '../../domain/calendar/billing-length.js';
import type { PriceTerms } from '../../domain/price/price.js';
import { currencyRefusal } from '../../catalog/prices/price-request.js';
import { MemberReader } from '../../records/member-rules.js';
import { collect, invalid, isRefusal, nestedRefusal, type Refusal } from '../../records/refusal.js';
import { durationProblem, type RequestedCommitment } from './commitment-request.js';
import {
  inlinePrice,
  namedPrice,
  priceOfSubscription,
  termsOfPrice,
  type LineContext,
  type LinePrice,
} from './line-price.js';
import type { CommitmentColumns, NewLine, PricedTimeBucket } from './new-line.js';
import { fitHours, hasSizeWithinDay, type RequestedTimeBucket } from './time-buckets.js';

function columnsOf({ committed, duration, ...requested }: RequestedCommitment): CommitmentColumns {
  const value = committed === null ? null : plain(committed.value);
  return {
    commitment_type: committed?.type ?? null,
    commitment_amount: committed?.type === 'amount' ? value : null,
    commitment_quantity: committed?.type === 'quantity' ? value : null,
    commitment_duration: duration,
    commitment_overage_factor: committed === null ? null : plain(committed.overageFactor),
    commitment_true_up_enabled: requested.isTrueUpEnabled,
    commitment_windowed: requested.isWindowed,
  };
}

/** How often a usage price is billed; such a price is never ONETIME. */
function everyOf({ billingPeriod, billingPeriodCount }: PriceTerms): BilledEvery | null {
  return billingPeriod === 'ONETIME' ? null : { billingPeriod, billingPeriodCount };
}

function checkDuration(
  reader: MemberReader,
  { place, duration, isWindowed }: RequestedCommitment,
  terms: PriceTerms,
): void {
  const every = everyOf(terms);
  if (duration === null || every === null) return;
  const member = `${place}.commitment_duration`;
  reader.note(member, durationProblem(duration, every));
  if (isWindowed && isLonger(onePeriod(duration), every)) {
    reader.note(member, 'must be the billing period, because commitment_windowed is true');
  }
}

/** Checks what a commitment needs of its meter; fits its time buckets to the meter's windows. */
function fitToMeter(
  reader: MemberReader,
  { place, isWindowed, timeBuckets }: RequestedCommitment,
  { bucket_size: size }: MeterRow,
): readonly RequestedTimeBucket[] {
  if (size === null) {
    if (isWindowed) reader.note(`${place}.commitment_windowed`, 'needs a meter with bucket_size');
    return [];
  }
  if (hasSizeWithinDay(size)) return fitHours(reader, timeBuckets, size);
  if (timeBuckets.length > 0) {
    const problem = `need a meter with a bucket_size of at most DAY; the meter has ${size}`;
    reader.note(`${place}.commitment_time_buckets`, problem);
  }
  return [];
}

function meterOf({ meterId }: PriceTerms, { meters }: LineContext): MeterRow {
  const id = assertPresent(meterId, 'the meter of a usage price');
  return mustGet(meters, id, 'the meter of a usage price');
}

/** A time bucket prices the usage of its line: same currency, same meter. */
function bucketPriceRefusal(
  terms: PriceTerms,
  line: PriceTerms,
  context: LineContext,
): Refusal | null {
  if (terms.type !== 'USAGE') return invalid({ type: 'is FIXED; a time bucket prices usage' });
  if (terms.meterId !== line.meterId) return invalid({ meter_id: 'is not the meter of the line' });
  return currencyRefusal(terms, context);
}

function namedBucketPrice(
  { id, place }: { readonly id: string; readonly place: string },
  line: PriceTerms,
  context: LineContext,
): LinePrice | Refusal {
  const price = namedPrice(id, context);
  if (isRefusal(price)) return nestedRefusal(price, place);
  const refusal = bucketPriceRefusal(termsOfPrice(price), line, context);
  if (refusal === null) return price;
  const [first] = Object.entries(refusal.details ?? {});
  const [member, problem] = assertPresent(first, 'what a price is refused for');
  return invalid({ [`${place}.price_id`]: `names a price whose ${member} ${problem}` });
}

/** The price of a time bucket; what an inline one leaves out is as on the price of the line. */
function bucketPrice(
  { price, place }: RequestedTimeBucket,
  line: PriceTerms,
  context: LineContext,
): LinePrice | Refusal {
  if ('id' in price) return namedBucketPrice({ id: price.id, place }, line, context);
  const made = inlinePrice(price, context, {
    billing_period: line.billingPeriod,
    billing_period_count: line.billingPeriodCount,
    ...(line.meterId === null ? {} : { meter_id: line.meterId }),
  });
  const refusal = isRefusal(made) ? made : bucketPriceRefusal(termsOfPrice(made), line, context);
  return refusal === null ? made : nestedRefusal(refusal, `${place}.price`);
}

function priceTimeBuckets(
  buckets: readonly RequestedTimeBucket[],
  line: PriceTerms,
  context: LineContext,
): readonly PricedTimeBucket[] | Refusal {
  return collect({ items: buckets, isBulk: false }, (bucket) => {
    const price = bucketPrice(bucket, line, context);
    return isRefusal(price) ? price : { bucket, price };
  });
}

/** A line with its commitment. */
export function commitLine(
  line: NewLine,
  requested: RequestedCommitment,
  context: LineContext,
): NewLine | Refusal {
  const terms = termsOfPrice(line.price);
  if (terms.type !== 'USAGE') {
    return invalid({ [requested.place]: 'is a FIXED line; only usage lines have commitments' });
  }
  const reader = new MemberReader();
  checkDuration(reader, requested, terms);
  const buckets = fitToMeter(reader, requested, meterOf(terms, context));
  const refusal = reader.refusal();
  if (refusal !== null) return refusal;
  const timeBuckets = priceTimeBuckets(buckets, terms, context);
  if (isRefusal(timeBuckets)) return timeBuckets;
  const commitment = columnsOf(requested);
  if (timeBuckets.length === 0) return { ...line, commitment };
  // Time buckets are stored on the price, which the line therefore must not share with others.
  const price = { kind: 'new', price: priceOfSubscription(line.price, context) } as const;
  return { ...line, price, commitment, timeBuckets };
}

/** The lines with their commitments, which a request names by price. */
export function commitLines(
  lines: readonly NewLine[],
  commitments: readonly RequestedCommitment[],
  context: LineContext,
): readonly NewLine[] | Refusal {
  const committed = collect({ items: commitments, isBulk: false }, (requested) => {
    const line = lines.find(({ priceId }) => priceId === requested.priceId);
    if (line === undefined) {
      return invalid({ [requested.place]: 'is not a price of the subscription' });
    }
    const result = commitLine(line, requested, context);
    return isRefusal(result) ? result : ([line, result] as const);
  });
  if (isRefusal(committed)) return committed;
  const byLine = new Map(committed);
  return lines.map((line) => byLine.get(line) ?? line);
}
