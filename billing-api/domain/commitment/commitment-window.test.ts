import { describe, expect, it } from 'vitest';
import { formatInstant } from '../../../contract/instant.js';
import {
  MONTHLY,
  day,
  subscriptionOf,
  type OpenedSubscription,
} from '../../testing/invoice-samples.js';
import type { BillingPeriod } from '../calendar/billing-grid.js';
import { commitmentWindowAt, isLastOf } from './commitment-window.js';

const window = (
  date: string,
  duration: BillingPeriod | null,
  change: Partial<OpenedSubscription> = {},
): string => {
  const terms = subscriptionOf(change);
  const span = { duration, every: terms, steps: 1 };
  const { startMs, endMs } = commitmentWindowAt(terms, day(date), span);
  return [startMs, endMs].map((ms) => formatInstant(ms).slice(0, 10)).join(' ');
};

describe('commitment window (11.2)', () => {
  it.each<[BillingPeriod | null]>([[null], ['MONTHLY']])(
    'a duration of %s is the billing period',
    (duration) => {
      expect(window('2026-03-10', duration)).toBe('2026-03-01 2026-04-01');
    },
  );

  it('lengths are compared with counts: QUARTERLY is MONTHLY x 3', () => {
    const change = { billingPeriodCount: 3, billingAnchorMs: day('2026-02-15') };
    expect(window('2026-01-10', 'QUARTERLY', change)).toBe('2026-01-01 2026-02-15');
    expect(window('2026-01-10', 'HALF_YEARLY', change)).toBe('2026-01-01 2026-07-01');
  });

  it('a longer one is counted from the start, not from the anchor', () => {
    const change = { startMs: day('2025-01-10'), billingAnchorMs: day('2025-01-15') };
    expect(window('2026-01-05', 'ANNUAL', change)).toBe('2025-01-10 2026-01-10');
    expect(window('2026-01-15', 'ANNUAL', change)).toBe('2026-01-10 2027-01-10');
  });

  it('is that of the start of the billing period, wherever in it a line begins', () => {
    const change = { startMs: day('2025-01-10'), billingAnchorMs: day('2025-01-15') };
    expect(window('2026-01-14', 'ANNUAL', change)).toBe('2025-01-10 2026-01-10');
  });

  it('begins after a trial at its end', () => {
    const change = { trialEndMs: day('2026-01-15'), billingAnchorMs: day('2026-01-15') };
    expect(window('2026-02-01', 'QUARTERLY', change)).toBe('2026-01-15 2026-04-15');
  });

  it('is clamped to short months and comes back after them (12.3)', () => {
    const change = { startMs: day('2026-01-31'), billingAnchorMs: day('2026-01-31') };
    expect(window('2026-05-01', 'QUARTERLY', change)).toBe('2026-04-30 2026-07-31');
  });
});

describe('last period of a window (11.2)', () => {
  const year = { startMs: day('2025-01-10'), endMs: day('2026-01-10') };
  const period = (start: string, end: string) => ({ startMs: day(start), endMs: day(end) });

  it.each([
    ['2025-11-15', '2025-12-15', false],
    ['2025-12-10', '2026-01-10', true],
    ['2025-12-15', '2026-01-15', true],
  ])('%s to %s: %s', (start, end, expected) => {
    expect(isLastOf(year, period(start, end), MONTHLY)).toBe(expected);
  });

  it('an end of the subscription makes the running period the last one', () => {
    const ending = subscriptionOf({ endMs: day('2025-06-20') });
    expect(isLastOf(year, period('2025-06-15', '2025-06-20'), ending)).toBe(true);
    expect(isLastOf(year, period('2025-05-15', '2025-06-15'), ending)).toBe(false);
  });
});
