import { describe, expect, it } from 'vitest';
import { HOUR_MS, formatInstant, parseInstant } from '../../../contract/instant.js';
import { MONTHLY, subscriptionOf, type OpenedSubscription } from '../../testing/invoice-samples.js';
import { appendRow, recordPause, splitLastRow } from '../periods/ledger-rows.js';
import type { UsageResetPeriod } from './entitlement.js';
import { resetWindowsIn } from './reset-windows.js';

function at(text: string): number {
  const instant = parseInstant(text);
  if (instant === null) throw new TypeError(`not an instant: ${text}`);
  return instant;
}

const shown = (instant: number): string => formatInstant(instant).replace(':00.000Z', 'Z');
const windows = (
  interval: readonly [string, string],
  resetPeriod: UsageResetPeriod | null,
  change: Partial<OpenedSubscription> = {},
): string[] => {
  const [startMs, endMs] = [at(interval[0]), at(interval[1])];
  return resetWindowsIn({ startMs, endMs }, resetPeriod, subscriptionOf(change)).map(
    (window) =>
      `${shown(window.startMs)} ${window.endMs === Infinity ? 'open' : shown(window.endMs)}`,
  );
};
const JANUARY = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'] as const;

describe('reset windows (10.2)', () => {
  it('absent or equal to the billing period: the billing period', () => {
    const period = ['2026-01-01T00:00Z 2026-02-01T00:00Z'];
    expect(windows(JANUARY, null)).toEqual(period);
    expect(windows(JANUARY, 'MONTHLY')).toEqual(period);
    const half: [string, string] = ['2026-01-10T00:00:00Z', '2026-01-20T00:00:00Z'];
    expect(windows(half, 'MONTHLY')).toEqual(period);
  });

  it('a length counts with its count: QUARTERLY equals MONTHLY x 3', () => {
    const quarter = { billingPeriodCount: 3, startMs: at('2026-02-10T00:00:00Z') };
    expect(windows(['2026-02-10T00:00:00Z', '2026-04-01T00:00:00Z'], 'QUARTERLY', quarter)).toEqual(
      ['2026-02-10T00:00Z 2026-04-01T00:00Z'],
    );
  });

  it('a first period that is short is a window of its own', () => {
    const startMs = at('2026-01-20T00:00:00Z');
    const interval: [string, string] = ['2026-01-20T00:00:00Z', '2026-02-01T00:00:00Z'];
    expect(windows(interval, null, { startMs })).toEqual(['2026-01-20T00:00Z 2026-02-01T00:00Z']);
  });

  it('DAILY: local dates, one of 23 hours where the clock goes forward', () => {
    const berlin = { timezone: 'Europe/Berlin' };
    const interval: [string, string] = ['2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z'];
    expect(windows(interval, 'DAILY', berlin)).toEqual([
      '2026-03-27T23:00Z 2026-03-28T23:00Z',
      '2026-03-28T23:00Z 2026-03-29T22:00Z',
      '2026-03-29T22:00Z 2026-03-30T22:00Z',
    ]);
  });

  it('WEEKLY: seven days from the billing anchor, at its time of day', () => {
    const billingAnchorMs = at('2026-01-01T10:00:00Z');
    const interval: [string, string] = ['2026-01-05T00:00:00Z', '2026-01-09T00:00:00Z'];
    expect(windows(interval, 'WEEKLY', { billingAnchorMs })).toEqual([
      '2026-01-01T10:00Z 2026-01-08T10:00Z',
      '2026-01-08T10:00Z 2026-01-15T10:00Z',
    ]);
  });

  it('longer than the billing period: from the anchor, clamped to short months', () => {
    const anchored = { billingAnchorMs: at('2025-11-30T00:00:00Z') };
    expect(windows(JANUARY, 'QUARTERLY', anchored)).toEqual([
      '2026-01-01T00:00Z 2026-02-28T00:00Z',
    ]);
    expect(windows(JANUARY, 'ANNUAL', anchored)).toEqual(['2026-01-01T00:00Z 2026-11-30T00:00Z']);
  });

  it('shorter than the billing period: several', () => {
    const annual = { billingPeriod: 'ANNUAL' as const, startMs: at('2026-01-01T00:00:00Z') };
    const interval: [string, string] = ['2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'];
    expect(windows(interval, 'MONTHLY', annual)).toHaveLength(12);
    expect(windows(interval, 'HALF_YEARLY', annual)).toEqual([
      '2026-01-01T00:00Z 2026-07-01T00:00Z',
      '2026-07-01T00:00Z 2027-01-01T00:00Z',
    ]);
  });

  it('NEVER: one window for the life of the subscription', () => {
    expect(windows(JANUARY, 'NEVER', { startMs: at('2024-05-01T00:00:00Z') })).toEqual([
      '2024-05-01T00:00Z open',
    ]);
  });

  it('a threshold invoice does not renew an allowance', () => {
    const split = splitLastRow(MONTHLY, at('2026-01-20T00:00:00Z'));
    const rest = { startMs: at('2026-01-20T00:00:00Z'), endMs: at('2026-02-01T00:00:00Z') };
    const month = { startMs: at('2026-01-01T00:00:00Z'), endMs: rest.endMs };
    expect(resetWindowsIn(rest, null, split)).toMatchObject([month]);
    expect(resetWindowsIn(rest, 'MONTHLY', split)).toMatchObject([month]);
  });

  it('windows of several billing periods go on where a pause moves the anchor', () => {
    const pause = { startMs: at('2026-01-05T00:00:00Z'), endMs: at('2026-01-15T00:00:00Z') };
    const paused = appendRow(recordPause(MONTHLY, pause));
    const second = { startMs: at('2026-02-11T00:00:00Z'), endMs: at('2026-03-11T00:00:00Z') };
    expect(resetWindowsIn(second, 'QUARTERLY', paused)).toMatchObject([
      { startMs: at('2026-01-01T00:00:00Z'), endMs: at('2026-04-11T00:00:00Z') },
    ]);
  });

  it('a window that only touches the interval is none of its windows', () => {
    const startMs = at('2026-01-02T00:00:00Z');
    const interval = { startMs, endMs: startMs + 24 * HOUR_MS };
    expect(resetWindowsIn(interval, 'DAILY', MONTHLY)).toEqual([interval]);
  });
});
