import { describe, expect, it } from 'vitest';
import { decimalOf, plain } from '../../../contract/number/decimal.js';
import { formatInstant, parseInstant } from '../../../contract/instant.js';
import { subscriptionOf, type OpenedSubscription } from '../../testing/invoice-samples.js';
import { currentUsageWindow, usagePercent } from './current-usage.js';
import type { UsageResetPeriod } from './entitlement.js';

const at = (text: string): number => {
  const instant = parseInstant(text);
  if (instant === null) throw new TypeError(`not an instant: ${text}`);
  return instant;
};

const METER = { aggregationType: 'COUNT', resetUsage: 'BILLING_PERIOD', bucketSize: null } as const;

type Meter = Parameters<typeof currentUsageWindow>[0]['meter'];

/** `start end reset`, or none. */
function windowAt(
  now: string,
  resetPeriod: UsageResetPeriod | null,
  { meter = METER, ...change }: Partial<OpenedSubscription> & { meter?: Meter } = {},
): string {
  const current = { ledger: subscriptionOf(change), resetPeriod, meter };
  const window = currentUsageWindow(current, at(now));
  if (window === null) return 'none';
  const { range, resetsAtMs } = window;
  const shown = [range.startMs, range.endMs, resetsAtMs].map((instant) =>
    instant === null ? 'never' : formatInstant(instant).slice(0, 16),
  );
  return shown.join(' ');
}

describe('the usage that is held against a limit now (10.3)', () => {
  it('is that of the billing period, without a reset period', () => {
    expect(windowAt('2026-01-10T00:00:00Z', null)).toBe(
      '2026-01-01T00:00 2026-02-01T00:00 2026-02-01T00:00',
    );
  });

  it('DAILY: that of the local date', () => {
    const berlin = { timezone: 'Europe/Berlin' };
    expect(windowAt('2026-01-10T23:30:00Z', 'DAILY', berlin)).toBe(
      '2026-01-10T23:00 2026-01-11T23:00 2026-01-11T23:00',
    );
  });

  it('a longer window is counted up to the end of the billing period', () => {
    expect(windowAt('2026-02-10T00:00:00Z', 'ANNUAL')).toBe(
      '2026-01-01T00:00 2026-03-01T00:00 2027-01-01T00:00',
    );
  });

  it('NEVER: all of the subscription, and no reset', () => {
    expect(windowAt('2026-02-10T00:00:00Z', 'NEVER')).toBe(
      '2026-01-01T00:00 2026-03-01T00:00 never',
    );
    const history = { ...METER, resetUsage: 'NEVER' } as const;
    expect(windowAt('2026-02-10T00:00:00Z', 'DAILY', { meter: history })).toBe(
      '2026-01-01T00:00 2026-03-01T00:00 never',
    );
  });

  it('a trial is a window of its own', () => {
    const trial = { trialEndMs: at('2026-01-15T00:00:00Z') };
    for (const reset of [null, 'DAILY', 'ANNUAL', 'NEVER'] as const) {
      expect([reset, windowAt('2026-01-10T00:00:00Z', reset, trial)]).toEqual([
        reset,
        '2026-01-01T00:00 2026-01-15T00:00 2026-01-15T00:00',
      ]);
    }
    expect(windowAt('2026-01-15T00:00:00Z', 'NEVER', trial)).toMatch(/^2026-01-15T00:00/);
  });

  it('nothing resets at the end of the subscription, and nothing counts outside of it', () => {
    const ended = { endMs: at('2026-01-20T00:00:00Z') };
    expect(windowAt('2026-01-19T23:59:59Z', null, ended)).toBe(
      '2026-01-01T00:00 2026-01-20T00:00 never',
    );
    expect(windowAt('2026-01-20T00:00:00Z', null, ended)).toBe('none');
    expect(windowAt('2025-12-31T23:59:59Z', null, ended)).toBe('none');
  });

  it('the value of a MAX bucket belongs to the window in which it begins', () => {
    const startMs = at('2026-01-01T10:30:00Z');
    const hours = { ...METER, aggregationType: 'MAX', bucketSize: 'HOUR' } as const;
    const change = { startMs, billingAnchorMs: startMs, billingCycle: 'anniversary' } as const;
    expect(windowAt('2026-01-10T00:00:00Z', 'WEEKLY', { ...change, meter: hours })).toMatch(
      /^2026-01-08T11:00 2026-01-15T10:30/,
    );
    expect(windowAt('2026-01-10T00:00:00Z', 'WEEKLY', change)).toMatch(/^2026-01-08T10:30/);
  });
});

describe('the share of a limit that is used (10.3)', () => {
  it('has two digits, rounded half-up, and goes beyond 100', () => {
    const cases = [
      ['1', '3', '33.33'],
      ['2', '3', '66.67'],
      ['1', '800', '0.13'],
      ['300', '200', '150'],
      ['-5', '200', '0'],
      ['0', '0', '0'],
      ['0.1', '0', '100'],
    ] as const;
    for (const [usage, limit, percent] of cases) {
      const shown = plain(usagePercent(decimalOf(usage), decimalOf(limit)));
      expect([usage, limit, shown]).toEqual([usage, limit, percent]);
    }
  });
});
