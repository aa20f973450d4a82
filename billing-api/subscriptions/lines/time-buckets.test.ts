import { describe, expect, it } from 'vitest';
import { MemberReader } from '../../records/member-rules.js';
import { fitHours, readTimeBuckets, type TimeOfDay } from './time-buckets.js';
import type { CommitmentTimeBucketBody } from '../../declarations/subscriptions/commitment-dto.js';

type Size = Parameters<typeof fitHours>[2];

/** `9:30` as a time of day. */
function timeOf(text: string): TimeOfDay {
  const [hour = 0, minute = 0] = text.split(':').map(Number);
  return { hour, minute };
}

/** `9:00-17:00` as a bucket in the place of its index. */
function bucketsOf(texts: readonly string[]) {
  return texts.map((text, index) => {
    const [start = '', end = ''] = text.split('-');
    return { place: String(index), start: timeOf(start), end: timeOf(end) };
  });
}

const textOf = ({ hour, minute }: TimeOfDay): string =>
  `${hour}:${String(minute).padStart(2, '0')}`;

/** The hours as fitted, or the members that are refused. */
function fitted(size: Size, ...texts: readonly string[]): readonly string[] {
  const reader = new MemberReader();
  const hours = fitHours(reader, bucketsOf(texts), size);
  const refusal = reader.refusal();
  if (refusal !== null) return Object.keys(refusal.details ?? {});
  return hours.map(({ start, end }) => `${textOf(start)}-${textOf(end)}`);
}

describe('hours of a time bucket (11.5)', () => {
  it('keep their minutes where windows are shorter than an hour', () => {
    expect(fitted('MINUTE', '9:01-17:59')).toEqual(['9:01-17:59']);
    expect(fitted('15MIN', '9:15-17:45')).toEqual(['9:15-17:45']);
    expect(fitted('30MIN', '9:30-24:00')).toEqual(['9:30-24:00']);
  });

  it('are refused between two bounds of windows', () => {
    expect(fitted('15MIN', '9:16-17:00')).toEqual(['0.start.minute']);
    expect(fitted('30MIN', '9:00-17:15')).toEqual(['0.end.minute']);
    expect(fitted('3HOUR', '9:00-17:00')).toEqual(['0.end.hour']);
    expect(fitted('6HOUR', '3:00-12:00')).toEqual(['0.start.hour']);
    expect(fitted('12HOUR', '0:00-12:00')).toEqual(['0:00-12:00']);
  });

  it('lose their minutes where windows are an hour and longer, before anything is checked', () => {
    expect(fitted('HOUR', '9:30-17:59')).toEqual(['9:00-17:00']);
    expect(fitted('3HOUR', '9:30-18:01')).toEqual(['9:00-18:00']);
    expect(fitted('HOUR', '9:10-9:50')).toEqual(['0.end']);
  });

  it('are the whole day for days', () => {
    expect(fitted('DAY', '0:00-24:00')).toEqual(['0:00-24:00']);
    expect(fitted('DAY', '0:00-12:00')).toEqual(['0.end.hour']);
    expect(fitted('DAY', '12:00-24:00')).toEqual(['0.start.hour']);
  });

  it('wrap past midnight, and are not empty', () => {
    expect(fitted('HOUR', '22:00-6:00')).toEqual(['22:00-6:00']);
    expect(fitted('HOUR', '22:00-0:00')).toEqual(['22:00-0:00']);
    expect(fitted('HOUR', '9:00-9:00')).toEqual(['0.end']);
  });

  it('may touch each other and leave gaps, and never overlap', () => {
    expect(fitted('HOUR', '9:00-17:00', '17:00-22:00', '23:00-9:00')).toHaveLength(3);
    expect(fitted('HOUR', '9:00-17:00', '16:00-22:00')).toEqual(['1.start']);
    expect(fitted('HOUR', '22:00-6:00', '5:00-9:00')).toEqual(['1.start']);
    expect(fitted('HOUR', '5:00-9:00', '22:00-6:00')).toEqual(['1.start']);
    expect(fitted('HOUR', '22:00-6:00', '23:00-24:00')).toEqual(['1.start']);
    expect(fitted('HOUR', '22:00-6:00', '6:00-22:00')).toHaveLength(2);
    expect(fitted('MINUTE', '9:00-9:30', '9:29-9:45')).toEqual(['1.start']);
    expect(fitted('MINUTE', '9:00-9:30', '9:30-9:45')).toHaveLength(2);
  });
});

describe('a time bucket of a request (11.5)', () => {
  const UNPRICED: CommitmentTimeBucketBody = {
    start: { hour: 9 },
    end: { hour: 17 },
    commitment_type: 'amount',
    commitment_value: '4',
    overage_factor: 1.5,
  };
  const refusedIn = (body: CommitmentTimeBucketBody): readonly string[] => {
    const reader = new MemberReader();
    readTimeBuckets(reader, 'b', [body]);
    return Object.keys(reader.refusal()?.details ?? {});
  };
  const refused = (change: Partial<CommitmentTimeBucketBody>): readonly string[] =>
    refusedIn({ ...UNPRICED, price_id: 'price_x', ...change });

  it('has a value above 0 and a factor of 1 or more', () => {
    expect(refused({})).toEqual([]);
    expect(refused({ commitment_value: '0' })).toEqual(['b.0.commitment_value']);
    expect(refused({ commitment_value: '0.000000000000000001' })).toEqual([]);
    expect(refused({ overage_factor: 1 })).toEqual([]);
    expect(refused({ overage_factor: 0.9999 })).toEqual(['b.0.overage_factor']);
  });

  it('takes 24 as 24:00 and as an end only', () => {
    expect(refused({ end: { hour: 24 } })).toEqual([]);
    expect(refused({ end: { hour: 24, minute: 30 } })).toEqual(['b.0.end.minute']);
    expect(refused({ start: { hour: 24 } })).toEqual(['b.0.start.hour']);
    expect(refused({ start: { hour: 23, minute: 59 } })).toEqual([]);
  });

  it('has one price, named or its own', () => {
    const price = { currency: 'usd', amount: '1' };
    expect(refused({ price })).toEqual(['b.0.price_id']);
    expect(refusedIn({ ...UNPRICED, price })).toEqual([]);
    expect(refusedIn(UNPRICED)).toEqual(['b.0.price_id']);
    expect(refusedIn({ ...UNPRICED, price: { ...price, start_date: 'x' } })).toEqual([
      'b.0.price.start_date',
    ]);
  });
});
