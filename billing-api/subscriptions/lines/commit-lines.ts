import { plain } from '../../../contract/decimal.js';
import type { PriceTerms } from '../../domain/price/price.js';
import type { BillingPeriod } from '../../domain/calendar/billing-grid.js';
import {
  billingLengthOf,
  multipleOf,
  type BilledEvery,
} from '../../domain/calendar/billing-length.js';
import type { MeterRow } from '../../catalog/meters/meter.resource.js';
import type { NewRow } from '../../records/records.js';
import { durationProblem, type LineCommitmentWish } from './commitment-request.js';
import {
  currencyRefusal,
  inlinePrice,
  namedPrice,
  ownPrice,
  termsOfDraft,
  type DraftContext,
  type DraftPrice,
  type LineDraft,
  type TimeBucketDraft,
} from './line-draft.js';
import { MemberReader } from '../../records/member-rules.js';
import { invalid, isRefusal, nestedRefusal, type Refusal } from '../../records/refusal.js';
import { fitHours, hasSizeWithinDay, type TimeBucketWish } from './time-buckets.js';

function columnsOf({ committed, duration, ...wish }: LineCommitmentWish): NewRow {
  const value = committed === null ? null : plain(committed.value);
  return {
    commitment_type: committed?.type ?? null,
    commitment_amount: committed?.type === 'amount' ? value : null,
    commitment_quantity: committed?.type === 'quantity' ? value : null,
    commitment_duration: duration,
    commitment_overage_factor: committed === null ? null : plain(committed.overageFactor),
    commitment_true_up_enabled: wish.isTrueUpEnabled,
    commitment_windowed: wish.isWindowed,
  };
}

/** How often a usage price is billed; such a price is never ONETIME. */
function everyOf({ billingPeriod, billingPeriodCount }: PriceTerms): BilledEvery | null {
  return billingPeriod === 'ONETIME' ? null : { billingPeriod, billingPeriodCount };
}

function isLonger(duration: BillingPeriod, every: BilledEvery): boolean {
  const length = billingLengthOf({ billingPeriod: duration, billingPeriodCount: 1 });
  return multipleOf(length, billingLengthOf(every)) !== 1;
}

function checkDuration(reader: MemberReader, wish: LineCommitmentWish, terms: PriceTerms): void {
  const { place, duration, isWindowed } = wish;
  const every = everyOf(terms);
  if (duration === null || every === null) return;
  const member = `${place}.commitment_duration`;
  reader.note(member, durationProblem(duration, every));
  if (isWindowed && isLonger(duration, every)) {
    reader.note(member, 'is longer than the billing period, which commitment_windowed excludes');
  }
}

/** What a commitment needs of its meter; the hours of its time buckets as the meter has windows. */
function fitToMeter(
  reader: MemberReader,
  { place, isWindowed, timeBuckets }: LineCommitmentWish,
  meter: MeterRow | undefined,
): readonly TimeBucketWish[] {
  const size = meter?.bucket_size ?? null;
  if (size === null) {
    if (isWindowed) {
      reader.note(`${place}.commitment_windowed`, 'needs a meter with bucket_size');
    }
    return [];
  }
  if (timeBuckets.length === 0 || hasSizeWithinDay(size)) {
    return hasSizeWithinDay(size) ? fitHours(reader, timeBuckets, size) : [];
  }
  const problem = `need a meter with a bucket_size of at most DAY; that of the meter is ${size}`;
  reader.note(`${place}.commitment_time_buckets`, problem);
  return [];
}

/** A time bucket prices the usage of its line: same currency, same meter. */
function suitRefusal(terms: PriceTerms, line: PriceTerms, context: DraftContext): Refusal | null {
  if (terms.type !== 'USAGE') return invalid({ type: 'is FIXED; a time bucket prices usage' });
  if (terms.meterId !== line.meterId) return invalid({ meter_id: 'is not the meter of the line' });
  return currencyRefusal(terms, context);
}

function bucketPriceOf(
  { price, place }: TimeBucketWish,
  line: PriceTerms,
  context: DraftContext,
): DraftPrice | Refusal {
  if ('id' in price) {
    const named = namedPrice(price.id, context);
    if (isRefusal(named)) return nestedRefusal(named, place);
    const refusal = suitRefusal(termsOfDraft(named), line, context);
    if (refusal === null) return named;
    const [[member = '', problem = ''] = []] = Object.entries(refusal.details ?? {});
    return invalid({ [`${place}.price_id`]: `names a price whose ${member} ${problem}` });
  }
  const { meterId, billingPeriod, billingPeriodCount } = line;
  const made = inlinePrice(price, context, { meterId, billingPeriod, billingPeriodCount });
  const refusal = isRefusal(made) ? made : suitRefusal(termsOfDraft(made), line, context);
  return refusal === null ? made : nestedRefusal(refusal, `${place}.price`);
}

function bucketDrafts(
  wishes: readonly TimeBucketWish[],
  line: PriceTerms,
  context: DraftContext,
): readonly TimeBucketDraft[] | Refusal {
  const drafts: TimeBucketDraft[] = [];
  for (const wish of wishes) {
    const price = bucketPriceOf(wish, line, context);
    if (isRefusal(price)) return price;
    drafts.push({ wish, price });
  }
  return drafts;
}

function commit(
  draft: LineDraft,
  wish: LineCommitmentWish,
  context: DraftContext,
): LineDraft | Refusal {
  const terms = termsOfDraft(draft.price);
  if (terms.type !== 'USAGE') return invalid({ [wish.place]: 'is a FIXED line; usage commits' });
  const reader = new MemberReader();
  checkDuration(reader, wish, terms);
  const hours = fitToMeter(reader, wish, context.meters.get(terms.meterId ?? ''));
  const refusal = reader.refusal();
  if (refusal !== null) return refusal;
  const timeBuckets = bucketDrafts(hours, terms, context);
  if (isRefusal(timeBuckets)) return timeBuckets;
  const commitment = columnsOf(wish);
  if (timeBuckets.length === 0) return { ...draft, commitment };
  // The buckets stand on the price, which the line therefore must not share with others.
  const price = { kind: 'new', price: ownPrice(draft.price, context.subscriptionId) } as const;
  return { ...draft, price, commitment, timeBuckets };
}

/** The drafts with the commitments of their lines, which a request names by price. */
export function commitLines(
  drafts: readonly LineDraft[],
  wishes: readonly LineCommitmentWish[],
  context: DraftContext,
): readonly LineDraft[] | Refusal {
  const committed = [...drafts];
  for (const wish of wishes) {
    const index = drafts.findIndex(({ priceId }) => priceId === wish.priceId);
    const draft = drafts[index];
    if (draft === undefined) return invalid({ [wish.place]: 'is no price of the subscription' });
    const result = commit(draft, wish, context);
    if (isRefusal(result)) return result;
    committed[index] = result;
  }
  return committed;
}
