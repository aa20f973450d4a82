import type { Decimal } from '../../../contract/decimal.js';
import { windowMinutesOf, type WindowSize } from '../../domain/calendar/usage-windows.js';
import { MINUTES_OF_DAY } from '../../domain/commitment/time-bucket.js';
import type { MemberReader } from '../../records/member-rules.js';
import {
  priceCommandFrom,
  type InlinePriceRequest,
  type PriceCommand,
} from '../../catalog/prices/price-command.js';
import { isRefusal } from '../../records/refusal.js';

type TimeOfDayRequest = { readonly hour: number; readonly minute?: number | undefined };

/** One element of `commitment_time_buckets` (domain.md 11.5) as it came; hours are 0 to 24. */
export type TimeBucketRequest = {
  readonly start: TimeOfDayRequest;
  readonly end: TimeOfDayRequest;
  readonly commitment_type: 'amount' | 'quantity';
  readonly commitment_value: string;
  readonly overage_factor: number;
  readonly true_up_enabled?: boolean | undefined;
  readonly price_id?: string | undefined;
  readonly price?: InlinePriceRequest | undefined;
};

export type TimeOfDay = { readonly hour: number; readonly minute: number };
export type Hours = { readonly start: TimeOfDay; readonly end: TimeOfDay };

/** A time bucket that keeps every rule which asks for nothing but the request. */
export type TimeBucketWish = Hours & {
  /** Where it stands in the request. */
  readonly place: string;
  readonly commitmentType: 'amount' | 'quantity';
  readonly commitmentValue: Decimal;
  readonly overageFactor: number;
  readonly isTrueUpEnabled: boolean;
  readonly price: { readonly id: string } | PriceCommand;
};

const NO_PRICE = { id: '' };

/** 24 is a time only as 24:00 and only as an end. */
function readTime(reader: MemberReader, member: string, time: TimeOfDayRequest): TimeOfDay {
  const { hour, minute = 0 } = time;
  const isEnd = member.endsWith('.end');
  if (hour === 24 && !isEnd) reader.note(`${member}.hour`, 'is 24, which only an end may be');
  if (hour === 24 && minute > 0) {
    reader.note(`${member}.minute`, 'is later than 24:00; a day ends there');
  }
  return { hour, minute };
}

function readPrice(
  reader: MemberReader,
  place: string,
  { price_id: id, price }: TimeBucketRequest,
): TimeBucketWish['price'] {
  if ((id === undefined) === (price === undefined)) {
    reader.note(`${place}.price_id`, 'or price is required, and not both');
  }
  if (price === undefined) return id === undefined ? NO_PRICE : { id };
  const command = priceCommandFrom(price);
  if (!isRefusal(command)) return command;
  for (const [member, problem] of Object.entries(command.details ?? {})) {
    reader.note(`${place}.price.${member}`, problem);
  }
  return NO_PRICE;
}

/** Reads time buckets; whether they suit the meter is asked later, by `fitHours`. */
export function readTimeBuckets(
  reader: MemberReader,
  member: string,
  requests: readonly TimeBucketRequest[],
): readonly TimeBucketWish[] {
  return requests.flatMap((request, index) => {
    const place = `${member}.${index}`;
    const value = reader.positive(`${place}.commitment_value`, request.commitment_value);
    const factor = String(request.overage_factor);
    const isFactor = reader.overageFactor(`${place}.overage_factor`, factor) !== null;
    const hours = {
      start: readTime(reader, `${place}.start`, request.start),
      end: readTime(reader, `${place}.end`, request.end),
    };
    const price = readPrice(reader, place, request);
    if (value === null || !isFactor) return [];
    return {
      ...hours,
      place,
      commitmentType: request.commitment_type,
      commitmentValue: value,
      overageFactor: request.overage_factor,
      isTrueUpEnabled: request.true_up_enabled ?? false,
      price,
    };
  });
}

const HOUR_MINUTES = 60;

/** Sizes whose windows lie within one day; no bucket of hours suits longer ones. */
type SizeWithinDay = Exclude<WindowSize, 'WEEK' | 'MONTH'>;

export function hasSizeWithinDay(size: WindowSize): size is SizeWithinDay {
  return windowMinutesOf(size) <= MINUTES_OF_DAY;
}

/** Minutes since 00:00. */
function minutesOf({ hour, minute }: TimeOfDay): number {
  return hour * HOUR_MINUTES + minute;
}

/** The minute counts only where windows are shorter than an hour (specification, Line item). */
function withoutMinute(time: TimeOfDay, sizeMinutes: number): TimeOfDay {
  return sizeMinutes < HOUR_MINUTES ? time : { hour: time.hour, minute: 0 };
}

type Stretch = readonly [startMinute: number, endMinute: number];

/** 22:00 to 06:00 covers the end of the day and the beginning of it. */
function stretchesOf({ start, end }: Hours): readonly Stretch[] {
  const [from, to] = [minutesOf(start), minutesOf(end)];
  if (from < to) return [[from, to]];
  return [
    [from, MINUTES_OF_DAY],
    [0, to],
  ];
}

function isOverlapping(left: Hours, right: Hours): boolean {
  return stretchesOf(left).some(([from, to]) =>
    stretchesOf(right).some(([otherFrom, otherTo]) => from < otherTo && otherFrom < to),
  );
}

function checkTime(
  reader: MemberReader,
  member: string,
  { time, sizeMinutes }: { readonly time: TimeOfDay; readonly sizeMinutes: number },
): void {
  if (minutesOf(time) % sizeMinutes === 0) return;
  const unit = sizeMinutes < HOUR_MINUTES ? 'minute' : 'hour';
  const step = sizeMinutes < HOUR_MINUTES ? sizeMinutes : sizeMinutes / HOUR_MINUTES;
  reader.note(`${member}.${unit}`, `is no multiple of ${step}, the bucket_size of the meter`);
}

/**
 * The hours of time buckets as windows of a size have them (domain.md 11.5): minutes are dropped
 * for sizes of an hour and more, then bounds must lie on bounds of windows, no bucket may be empty
 * and none may overlap with another. What is wrong is noted with the reader.
 */
export function fitHours<Bucket extends Hours & { readonly place: string }>(
  reader: MemberReader,
  buckets: readonly Bucket[],
  size: SizeWithinDay,
): readonly Bucket[] {
  const sizeMinutes = windowMinutesOf(size);
  const fitted = buckets.map((bucket) => ({
    ...bucket,
    start: withoutMinute(bucket.start, sizeMinutes),
    end: withoutMinute(bucket.end, sizeMinutes),
  }));
  for (const [index, bucket] of fitted.entries()) {
    const { place, start, end } = bucket;
    checkTime(reader, `${place}.start`, { time: start, sizeMinutes });
    checkTime(reader, `${place}.end`, { time: end, sizeMinutes });
    if (minutesOf(start) === minutesOf(end)) {
      reader.note(`${place}.end`, 'is the start; give a later time, or an earlier one to wrap');
    } else if (fitted.slice(0, index).some((earlier) => isOverlapping(earlier, bucket))) {
      reader.note(`${place}.start`, 'begins a bucket that overlaps with an earlier one');
    }
  }
  return fitted;
}
