import type { Decimal } from '../../../contract/number/decimal.js';
import {
  onePeriod,
  wholePeriodsIn,
  type BilledEvery,
} from '../../domain/calendar/billing-length.js';
import type { BillingPeriod } from '../../domain/calendar/billing-grid.js';
import type { MemberReader } from '../../records/member-rules.js';
import type {
  LineItemCommitmentBody,
  SubscriptionCommitmentBody,
} from '../../declarations/subscriptions/commitment-dto.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { readTimeBuckets, type RequestedTimeBucket } from './time-buckets.js';

/** The commitment of a subscription as a request gives it. */
export type RequestedSubscriptionCommitment = {
  readonly amount: Decimal | null;
  readonly overageFactor: Decimal | null;
  readonly duration: BillingPeriod | null;
  readonly isTrueUpEnabled: boolean;
};

/** What a line is committed to, instead of time buckets or beside them. */
type Committed = {
  readonly type: 'amount' | 'quantity';
  readonly value: Decimal;
  readonly overageFactor: Decimal;
};

/** The commitment of a line that keeps every rule which needs no stored record. */
export type RequestedCommitment = {
  readonly priceId: string;
  /** Where it stands in the request. */
  readonly place: string;
  /** Null for a line on which only time buckets commit. */
  readonly committed: Committed | null;
  readonly duration: BillingPeriod | null;
  readonly isTrueUpEnabled: boolean;
  readonly isWindowed: boolean;
  readonly timeBuckets: readonly RequestedTimeBucket[];
};

/**
 * What is wrong with a duration (docs/domain.md 11.2): it is the period of what it commits, or a
 * whole multiple of it in months; null for a good one.
 */
export function durationProblem(duration: BillingPeriod, every: BilledEvery): string | null {
  if (wholePeriodsIn(onePeriod(duration), every) !== null) return null;
  const period = `${every.billingPeriod} × ${every.billingPeriodCount}`;
  return `must be a whole multiple of the billing period, ${period}`;
}

function checkAmount(reader: MemberReader, amount: Decimal, currency: string): void {
  if (amount.lessThan(0)) reader.note('commitment_amount', 'must be 0 or more');
  reader.minorDigits('commitment_amount', amount, currency);
}

/** Why no line of a subscription can have a commitment of its own; null when one can. */
export function commitmentProblem({
  commitment_amount: amount,
  auto_invoice_threshold: threshold,
}: Pick<SubscriptionRow, 'commitment_amount' | 'auto_invoice_threshold'>): string | null {
  if (amount !== null) return 'cannot be combined with the commitment of the subscription';
  return threshold === null ? null : 'cannot be combined with auto_invoice_threshold';
}

/** Refuses members that describe an amount when there is none. */
function checkWithoutAmount(reader: MemberReader, request: SubscriptionCommitmentBody): void {
  const members = [
    ['overage_factor', request.overage_factor !== undefined],
    ['commitment_duration', request.commitment_duration !== undefined],
    ['enable_true_up', request.enable_true_up === true],
  ] as const;
  for (const [member, isGiven] of members) {
    if (isGiven) reader.note(member, 'needs commitment_amount');
  }
}

/** Reads the commitment of a subscription: amount and factor come together. */
export function readSubscriptionCommitment(
  reader: MemberReader,
  request: SubscriptionCommitmentBody,
  terms: BilledEvery & { readonly currency: string },
): RequestedSubscriptionCommitment {
  const { commitment_duration: duration = null, enable_true_up: isTrueUpEnabled = false } = request;
  const amount = reader.decimal('commitment_amount', request.commitment_amount);
  const overageFactor = reader.overageFactor('overage_factor', request.overage_factor);
  if (request.commitment_amount === undefined) checkWithoutAmount(reader, request);
  else if (request.overage_factor === undefined) {
    reader.note('overage_factor', 'is required with commitment_amount; give 1 or more');
  }
  if (amount !== null) checkAmount(reader, amount, terms.currency);
  if (duration !== null) reader.note('commitment_duration', durationProblem(duration, terms));
  return { amount, overageFactor, duration, isTrueUpEnabled };
}

/** Whether the members commit to money or to a quantity; null when they contradict each other. */
function typeOf(
  reader: MemberReader,
  place: string,
  request: LineItemCommitmentBody,
): 'amount' | 'quantity' | null {
  const { commitment_type: type } = request;
  const hasAmount = request.commitment_amount !== undefined;
  if (hasAmount && request.commitment_quantity !== undefined) {
    reader.note(`${place}.commitment_quantity`, 'cannot be combined with commitment_amount');
    return null;
  }
  const implied = hasAmount ? 'amount' : 'quantity';
  if (type === undefined || type === implied) return implied;
  reader.note(`${place}.commitment_type`, `is ${type}, but commitment_${implied} is given`);
  return null;
}

function readCommitted(
  reader: MemberReader,
  place: string,
  request: LineItemCommitmentBody,
): Committed | null {
  const type = typeOf(reader, place, request);
  const value =
    type === 'quantity'
      ? reader.positive(`${place}.commitment_quantity`, request.commitment_quantity)
      : reader.positive(`${place}.commitment_amount`, request.commitment_amount);
  const member = `${place}.commitment_overage_factor`;
  const overageFactor = reader.overageFactor(member, request.commitment_overage_factor);
  if (request.commitment_overage_factor === undefined) {
    reader.note(member, 'is required with a commitment; give 1 or more');
  }
  if (type === null || value === null || overageFactor === null) return null;
  return { type, value, overageFactor };
}

/** Refuses members that describe an amount or quantity when there is none. */
function checkAlone(reader: MemberReader, place: string, request: LineItemCommitmentBody): void {
  const problem = 'needs commitment_amount or commitment_quantity';
  const members = [
    ['commitment_type', request.commitment_type !== undefined],
    ['commitment_overage_factor', request.commitment_overage_factor !== undefined],
    ['commitment_true_up_enabled', request.commitment_true_up_enabled === true],
    ['commitment_duration', request.commitment_duration !== undefined],
  ] as const;
  for (const [member, isGiven] of members) {
    if (isGiven) reader.note(`${place}.${member}`, problem);
  }
}

function checkTimeBuckets(
  reader: MemberReader,
  place: string,
  request: LineItemCommitmentBody,
): void {
  const { commitment_time_buckets: buckets } = request;
  const hasBuckets = buckets !== undefined && buckets.length > 0;
  if (hasBuckets && request.commitment_windowed !== true) {
    reader.note(`${place}.commitment_time_buckets`, 'need commitment_windowed true');
  }
  if (!hasBuckets && !isCommitted(request)) {
    reader.note(`${place}.commitment_amount`, 'give commitment_amount or commitment_quantity');
  }
}

function isCommitted(request: LineItemCommitmentBody): boolean {
  return request.commitment_amount !== undefined || request.commitment_quantity !== undefined;
}

/** Reads the commitment of one line, which stands at `place` of the request. */
export function readLineCommitment(
  reader: MemberReader,
  { priceId, place }: { readonly priceId: string; readonly place: string },
  request: LineItemCommitmentBody,
): RequestedCommitment {
  const { commitment_time_buckets: buckets = [] } = request;
  checkTimeBuckets(reader, place, request);
  if (!isCommitted(request)) checkAlone(reader, place, request);
  return {
    priceId,
    place,
    committed: isCommitted(request) ? readCommitted(reader, place, request) : null,
    duration: request.commitment_duration ?? null,
    isTrueUpEnabled: request.commitment_true_up_enabled ?? false,
    isWindowed: request.commitment_windowed ?? false,
    timeBuckets: readTimeBuckets(reader, `${place}.commitment_time_buckets`, buckets),
  };
}

/** Whether a request says anything of the commitment of a line but defaults. */
export function givesCommitment(request: LineItemCommitmentBody): boolean {
  const { commitment_true_up_enabled: isTrueUp, commitment_windowed: isWindowed } = request;
  if (isTrueUp === true || isWindowed === true || isCommitted(request)) return true;
  const { commitment_type: type, commitment_duration: duration } = request;
  const { commitment_overage_factor: factor, commitment_time_buckets: buckets } = request;
  return [type, duration, factor, buckets].some((member) => member !== undefined);
}

/** Reads the commitments of line items, by price; none beside one of the subscription. */
export function readLineCommitments(
  reader: MemberReader,
  requests: Readonly<Record<string, LineItemCommitmentBody>> | undefined,
  subscription: SubscriptionCommitmentBody,
): readonly RequestedCommitment[] {
  const entries = Object.entries(requests ?? {});
  if (entries.length > 0 && subscription.commitment_amount !== undefined) {
    reader.note('line_item_commitments', 'cannot be combined with commitment_amount');
  }
  return entries.map(([priceId, request]) => {
    const place = `line_item_commitments.${priceId}`;
    return readLineCommitment(reader, { priceId, place }, request);
  });
}
