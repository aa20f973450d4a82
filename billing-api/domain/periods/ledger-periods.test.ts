import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyBilling, anyInstant } from '../../testing/arbitrary-periods.js';
import { DAY_MS, HOUR_MS, formatInstant, parseInstant } from '../../../contract/instant.js';
import {
  MONTHLY,
  day,
  subscriptionOf,
  type OpenedSubscription,
} from '../../testing/invoice-samples.js';
import { resolveBillingAnchor } from '../calendar/billing-boundaries.js';
import { currentPeriod, periodAt, periodFrom } from './ledger-periods.js';
import type { PeriodLedger } from './period-ledger.js';

function at(text: string): number {
  const instant = parseInstant(text);
  if (instant === null) throw new TypeError(`not an instant: ${text}`);
  return instant;
}

const shown = (instant: number): string => formatInstant(instant).replace(':00.000Z', 'Z');
const dates = (instants: readonly number[]): string[] =>
  instants.map((ms) => shown(ms).slice(0, 10));

describe('periods (12.4, 12.8)', () => {
  const spanOf = (terms: PeriodLedger, instant: string): string[] | null => {
    const period = periodAt(terms, at(instant));
    return period === null ? null : [shown(period.startMs), shown(period.endMs)];
  };

  it.each<[Partial<OpenedSubscription>, string, string, string]>([
    [{ billingPeriod: 'ANNUAL' }, '2025-01-10', '2025-06-15', '2025-06-15'],
    [{ billingPeriodCount: 3 }, '2025-01-10', '2025-02-15', '2025-02-15'],
    [{}, '2025-01-10', '2025-06-15', '2025-01-15'],
    [{}, '2025-01-10', '2025-01-10', '2025-02-10'],
    [{ billingPeriod: 'QUARTERLY' }, '2025-01-10', '2027-01-31', '2025-01-31'],
  ])('the first ends at the first boundary after the start: %o %s', (...row) => {
    const [change, start, anchor, end] = row;
    const startMs = day(start);
    const terms = subscriptionOf({ ...change, startMs, billingAnchorMs: day(anchor) });
    expect(terms.periods[0]).toMatchObject({ startMs, endMs: day(end) });
  });

  it('a calendar start on 1 Jan 00:00 ends its first period on 1 Feb (34.13)', () => {
    const startMs = day('2026-01-01');
    const anchor = { billingCycle: 'calendar', billingPeriod: 'MONTHLY', timezone: 'UTC' } as const;
    const billingAnchorMs = resolveBillingAnchor({ ...anchor, startMs, billingAnchorMs: null });
    const terms: PeriodLedger = subscriptionOf({ billingCycle: 'calendar', billingAnchorMs });
    expect(terms.periods[0]).toMatchObject({ startMs, endMs: day('2026-02-01') });
  });

  it('are half-open: a boundary belongs to the later period', () => {
    expect(spanOf(MONTHLY, '2026-01-31T23:59:59.999Z')).toEqual([
      '2026-01-01T00:00Z',
      '2026-02-01T00:00Z',
    ]);
    expect(spanOf(MONTHLY, '2026-02-01T00:00:00Z')).toEqual([
      '2026-02-01T00:00Z',
      '2026-03-01T00:00Z',
    ]);
  });

  it('exist neither before the start nor from the end on', () => {
    const terms = subscriptionOf({ endMs: day('2026-03-10') });
    expect(spanOf(terms, '2025-12-31T23:59:59.999Z')).toBeNull();
    expect(spanOf(terms, '2026-03-10T00:00:00Z')).toBeNull();
    expect(spanOf(terms, '2026-03-09T23:59:59.999Z')).toEqual([
      '2026-03-01T00:00Z',
      '2026-03-10T00:00Z',
    ]);
  });

  it('end with the end date also when it is inside the first one', () => {
    const terms = subscriptionOf({ endMs: day('2026-01-20') });
    expect(terms.periods[0]).toMatchObject({
      startMs: day('2026-01-01'),
      endMs: day('2026-01-20'),
    });
    expect(periodFrom(terms, terms.periods[0].endMs)).toBeNull();
  });

  it('a ONETIME subscription has exactly one', () => {
    const terms: PeriodLedger = subscriptionOf({ billingCadence: 'ONETIME' });
    expect(spanOf(terms, '2026-01-15T00:00:00Z')).not.toBeNull();
    expect(spanOf(terms, '2026-02-01T00:00:00Z')).toBeNull();
    expect(periodFrom(terms, terms.periods[0].endMs)).toBeNull();
    expect(currentPeriod(terms, day('2027-01-01'))).toEqual(terms.periods[0]);
  });

  it('follow one another; no period begins inside another', () => {
    expect(periodFrom(MONTHLY, day('2026-02-01'))).toMatchObject({
      startMs: day('2026-02-01'),
      endMs: day('2026-03-01'),
    });
    expect(periodFrom(MONTHLY, day('2026-01-15'))).toBeNull();
  });

  it('the current one is the first before the start and the last after the end', () => {
    const terms = subscriptionOf({ endMs: day('2026-03-10') });
    const starts = ['2025-06-01', '2026-02-15', '2027-01-01'].map(
      (date) => currentPeriod(terms, day(date)).startMs,
    );
    expect(dates(starts)).toEqual(['2026-01-01', '2026-02-01', '2026-03-01']);
  });
});

describe('laws', () => {
  const terms = anyBilling.map((members): PeriodLedger => subscriptionOf(members));

  it('every instant is in exactly one period, and periods meet without a gap', () => {
    fc.assert(
      fc.property(terms, anyInstant, (subscription, instant) => {
        fc.pre(instant >= subscription.periods[0].startMs);
        const period = periodAt(subscription, instant);
        expect(period).not.toBeNull();
        if (period === null) return;
        expect(period.startMs <= instant && instant < period.endMs).toBe(true);
        expect(periodAt(subscription, period.endMs)?.startMs).toBe(period.endMs);
        if (period.index > 0) {
          expect(periodAt(subscription, period.startMs - 1)?.endMs).toBe(period.startMs);
        }
      }),
    );
  });

  it('no period is longer than one step of the calendar', () => {
    const longestDays = { DAILY: 1, WEEKLY: 7, MONTHLY: 31, QUARTERLY: 92, HALF_YEARLY: 184 };
    fc.assert(
      fc.property(terms, (subscription) => {
        const { startMs, endMs } = subscription.periods[0];
        const days = { ...longestDays, ANNUAL: 366 }[subscription.billingPeriod];
        const longestMs = days * subscription.billingPeriodCount * DAY_MS + 2 * HOUR_MS;
        expect(endMs - startMs).toBeLessThanOrEqual(longestMs);
        expect(endMs).toBeGreaterThan(startMs);
      }),
    );
  });
});
