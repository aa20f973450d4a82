import { describe, expect, it } from 'vitest';
import { repeatedCouponEnd } from './coupon-end.js';

const MONTHLY = { billingPeriod: 'MONTHLY', billingPeriodCount: 1, timezone: 'UTC' } as const;

describe('repeatedCouponEnd', () => {
  it.each([
    ['three months', MONTHLY, '2026-01-15T00:00:00Z', 3, '2026-04-15T00:00:00.000Z'],
    ['a short month', MONTHLY, '2026-01-31T00:00:00Z', 1, '2026-02-28T00:00:00.000Z'],
    ['after a short month', MONTHLY, '2026-01-31T00:00:00Z', 2, '2026-03-31T00:00:00.000Z'],
    [
      'two periods of three months',
      { ...MONTHLY, billingPeriodCount: 3 },
      '2026-01-01T00:00:00Z',
      2,
      '2026-07-01T00:00:00.000Z',
    ],
    [
      'local time over a clock change',
      { ...MONTHLY, timezone: 'Europe/Berlin' },
      '2026-03-01T11:00:00Z',
      1,
      '2026-04-01T10:00:00.000Z',
    ],
    ['the last year', MONTHLY, '2299-11-01T00:00:00Z', 1, '2299-12-01T00:00:00.000Z'],
  ])('advances the start by its periods (%s)', (...[, every, start, periods, end]) => {
    const found = repeatedCouponEnd(every, Date.parse(start), periods);
    expect(found === null ? null : new Date(found).toISOString()).toBe(end);
  });

  it('has no end from the year 2300 on, however long the periods are', () => {
    const start = Date.parse('2299-12-01T00:00:00Z');
    expect(repeatedCouponEnd(MONTHLY, start, 1)).toBeNull();
    for (const billingPeriod of ['DAILY', 'WEEKLY', 'ANNUAL'] as const) {
      const longest = { ...MONTHLY, billingPeriod, billingPeriodCount: 1000 };
      expect(repeatedCouponEnd(longest, start, 1000), billingPeriod).toBeNull();
    }
  });
});
