import { describe, expect, it } from 'vitest';
import { ONE } from '../../../contract/number/decimal.js';
import { USAGE_PRICE } from '../../testing/invoice-samples.js';
import { bucketsByMinute, slotMinuteOf } from './time-bucket.js';

const bucket = (id: string, startMinute: number, endMinute: number) => ({
  id,
  startMinute,
  endMinute,
  terms: { type: 'amount' as const, value: ONE, overageFactor: ONE, isTrueUpEnabled: false },
  price: USAGE_PRICE,
});
const minute = (hour: number, minuteOfHour = 0): number => hour * 60 + minuteOfHour;

describe('time buckets (11.5)', () => {
  const day = bucket('day', minute(9, 30), minute(17));
  const night = bucket('night', minute(22), minute(6));
  const bucketAt = (hour: number, minuteOfHour = 0): string | null =>
    bucketsByMinute([day, night])[minute(hour, minuteOfHour)]?.id ?? null;

  it('are half-open to the minute', () => {
    expect([bucketAt(9, 29), bucketAt(9, 30)]).toEqual([null, 'day']);
    expect([bucketAt(16, 59), bucketAt(17)]).toEqual(['day', null]);
  });

  it('wrap past midnight: 22:00 to 06:00 (34.11)', () => {
    expect([bucketAt(21, 59), bucketAt(22), bucketAt(23, 59)]).toEqual([null, 'night', 'night']);
    expect([bucketAt(0), bucketAt(5, 59), bucketAt(6)]).toEqual(['night', 'night', null]);
  });

  it('may end at 24:00, and may cover the whole day', () => {
    const late = bucketsByMinute([bucket('late', minute(20), minute(24))]);
    expect([late[0], late[minute(23, 59)]?.id]).toEqual([null, 'late']);
    const all = bucketsByMinute([bucket('all', 0, minute(24))]);
    expect(all.every((one) => one?.id === 'all')).toBe(true);
  });

  it('every minute has a place', () => {
    expect(bucketsByMinute([])).toEqual(Array(1440).fill(null));
  });
});

describe('slot of a local time (11.5)', () => {
  it.each([
    [minute(10, 47), 'MINUTE', minute(10, 47)],
    [minute(10, 47), '15MIN', minute(10, 45)],
    [minute(10, 30), 'HOUR', minute(10)],
    [minute(10), '3HOUR', minute(9)],
    [minute(1), '12HOUR', 0],
    [minute(1), 'DAY', 0],
  ] as const)('minute %i of the day is in the %s slot that starts at %i', (at, size, start) => {
    expect(slotMinuteOf(at, size)).toBe(start);
  });
});
