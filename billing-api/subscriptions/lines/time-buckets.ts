import type { Decimal } from '../../../contract/number/decimal.js';
import { windowMinutesOf, type WindowSize } from '../../domain/calendar/usage-windows.js';
import { MINUTES_OF_DAY } from '../../domain/commitment/time-bucket.js';
import type { MemberReader } from '../../records/member-rules.js';
import type {
  CommitmentTimeBucketBody,
  TimeOfDayBody,
} from '../../declarations/subscriptions/commitment-dto.js';
import { readRequestedPrice, type RequestedPrice } from './requested-price.js';

export type TimeOfDay = { readonly hour: number; readonly minute: number };
export type Hours = { readonly start: TimeOfDay; readonly end: TimeOfDay };

/** A time bucket of a request that keeps every rule which needs no stored record. */
export type RequestedTimeBucket = Hours & {
  /** Where it stands in the request. */
  readonly place: string;
  readonly commitmentType: 'amount' | 'quantity';
  readonly commitmentValue: Decimal;
  readonly overageFactor: number;
  readonly isTrueUpEnabled: boolean;
  readonly price: RequestedPrice;
};

/** 24 is a time only as 24:00 and only as an end. */
function readTime(reader: MemberReader, member: string, time: TimeOfDayBody): TimeOfDay {
  const { hour, minute = 0 } = time;
  const isEnd = member.endsWith('.end');
  if (hour === 24 && !isEnd)
    reader.note(`${member}.hour`, 'must be at most 23; only an end can be 24');
  if (hour === 24 && minute > 0) {
    reader.note(`${member}.minute`, 'must be 0 when the hour is 24');
  }
  return { hour, minute };
}

/** Reads time buckets; `fitHours` checks later whether they suit the meter. */
export function readTimeBuckets(
  reader: MemberReader,
  member: string,
  requests: readonly CommitmentTimeBucketBody[],
): readonly RequestedTimeBucket[] {
  return requests.flatMap((request, index) => {
    const place = `${member}.${index}`;
    const value = reader.positive(`${place}.commitment_value`, request.commitment_value);
    const factor = String(request.overage_factor);
    const isFactor = reader.overageFactor(`${place}.overage_factor`, factor) !== null;
    const hours = {
      start: readTime(reader, `${place}.start`, request.start),
      end: readTime(reader, `${place}.end`, request.end),
    };
    const price = readRequestedPrice(reader, place, request);
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

/** Sizes whose windows lie within one day; longer windows cannot be told apart by hours. */
type SizeWithinDay = Exclude<WindowSize, 'WEEK' | 'MONTH'>;

export function hasSizeWithinDay(size: WindowSize): size is SizeWithinDay {
  return windowMinutesOf(size) <= MINUTES_OF_DAY;
}

/** Minutes since 00:00. */
function minutesOf({ hour, minute }: TimeOfDay): number {
  return hour * HOUR_MINUTES + minute;
}

/** Minutes count only where windows are shorter than an hour (specification, Line item). */
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
  reader.note(
    `${member}.${unit}`,
    `must be a multiple of ${step}, because of the bucket_size of the meter`,
  );
}

/**
 * Fits time buckets to windows of a size (docs/domain.md 11.5): minutes are dropped for sizes of an
 * hour and more; then bounds must lie on bounds of windows, no bucket may be empty and no two may
 * overlap. The reader notes what is wrong.
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
      reader.note(
        `${place}.end`,
        'must differ from the start; an earlier time is one of the next day',
      );
    } else if (fitted.slice(0, index).some((earlier) => isOverlapping(earlier, bucket))) {
      reader.note(`${place}.start`, 'must not lie within an earlier time bucket');
    }
  }
  return fitted;
}
