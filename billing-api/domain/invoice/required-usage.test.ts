import { describe, expect, it } from 'vitest';
import { formatInstant, parseInstant, type Interval } from '../../../contract/instant.js';
import type { EntitlementSource } from '../entitlement/entitlement.js';
import type { LineMeter } from '../usage/line-meter.js';
import type { LineSelectionInputs } from './invoice.js';
import { requiredUsage } from './required-usage.js';
import { selectLines } from './select-lines.js';
import {
  JANUARY,
  METER,
  TEN_FREE,
  day,
  fixedLine,
  usageLine,
  subscriptionOf,
} from '../../testing/invoice-samples.js';

const shown = ({ startMs, endMs }: Interval): string =>
  [startMs, endMs].map((ms) => formatInstant(ms).slice(5, 16).replace('T', ' ')).join(' - ');
const bucketed = (change: Partial<LineMeter>): { readonly meter: LineMeter } => ({
  meter: { ...METER, aggregationType: 'MAX', ...change },
});
const plan = (change: Partial<LineSelectionInputs>) => {
  return requiredUsage(selectLines({ ...JANUARY, ...change }));
};
const intervals = (change: Partial<LineSelectionInputs>): string[] =>
  plan(change).flatMap((line) => line.intervals.map(shown));

describe('requiredUsage', () => {
  it('asks for the usage window of every usage line, and of no other', () => {
    const lineItems = [usageLine('calls', { startMs: day('2026-01-10') }), fixedLine('seats')];
    const [line, ...others] = plan({ lineItems });
    expect(others).toEqual([]);
    expect([line?.lineItemId, line && shown(line.window)]).toEqual([
      'calls',
      '01-10 00:00 - 02-01 00:00',
    ]);
    expect([line?.buckets, line?.intervals]).toEqual([null, []]);
  });

  it('cuts buckets at the edges of the window (7.8)', () => {
    const startMs = parseInstant('2026-01-31T21:30:00Z') ?? 0;
    const lineItems = [usageLine('calls', { startMs, ...bucketed({ bucketSize: 'HOUR' }) })];
    expect(plan({ lineItems })[0]?.buckets?.map(shown)).toEqual([
      '01-31 21:30 - 01-31 22:00',
      '01-31 22:00 - 01-31 23:00',
      '01-31 23:00 - 02-01 00:00',
    ]);
  });

  it('begins MONTH buckets on the day of the billing anchor', () => {
    const subscription = subscriptionOf({ billingAnchorMs: day('2026-01-15') });
    const lineItems = [usageLine('calls', bucketed({ bucketSize: 'MONTH' }))];
    const buckets = plan({ lineItems, subscription })[0]?.buckets?.map(shown);
    expect(buckets).toEqual(['01-01 00:00 - 01-15 00:00', '01-15 00:00 - 02-01 00:00']);
  });
});

describe('usage that an allowance asks for (10.2)', () => {
  const lineItems = [usageLine('calls')];
  const period = { startMs: day('2026-01-10'), endMs: day('2026-01-12') };
  const entitled = (change: Partial<EntitlementSource>): Partial<LineSelectionInputs> => ({
    lineItems,
    period,
    entitlements: [{ ...TEN_FREE, ...change }],
  });

  it('is none where the billing period is read anyway, where it is unlimited or of others', () => {
    expect(intervals({ lineItems, entitlements: [TEN_FREE] })).toEqual([]);
    expect(intervals(entitled({ usageLimit: null, usageResetPeriod: 'DAILY' }))).toEqual([]);
    expect(intervals(entitled({ meterId: 'other', usageResetPeriod: 'DAILY' }))).toEqual([]);
  });

  it('is none for a meter that never resets: its quantity holds all of its history', () => {
    const never = [usageLine('calls', bucketed({ resetUsage: 'NEVER' }))];
    expect(intervals({ ...entitled({ usageResetPeriod: 'ANNUAL' }), lineItems: never })).toEqual(
      [],
    );
  });

  it('is every reset window before the usage window and up to its end', () => {
    expect(intervals(entitled({ usageResetPeriod: 'WEEKLY' }))).toEqual([
      '01-08 00:00 - 01-10 00:00',
      '01-08 00:00 - 01-12 00:00',
    ]);
    expect(intervals(entitled({ usageResetPeriod: 'DAILY' }))).toEqual([
      '01-10 00:00 - 01-11 00:00',
      '01-11 00:00 - 01-12 00:00',
    ]);
    expect(intervals(entitled({ usageResetPeriod: null }))).toEqual([
      '01-01 00:00 - 01-10 00:00',
      '01-01 00:00 - 01-12 00:00',
    ]);
  });

  it('is never from before the subscription or the end of its trial', () => {
    const yearly = { billingAnchorMs: day('2025-07-01') };
    const change = entitled({ usageResetPeriod: 'ANNUAL' });
    const started = subscriptionOf(yearly);
    expect(intervals({ ...change, subscription: started })[0]).toBe('01-01 00:00 - 01-10 00:00');
    const tried = subscriptionOf({ ...yearly, trialEndMs: day('2026-01-08') });
    expect(intervals({ ...change, subscription: tried })[0]).toBe('01-08 00:00 - 01-10 00:00');
  });

  it('is only what lies before the usage window where buckets tell the rest', () => {
    const calls = [usageLine('calls', bucketed({ bucketSize: 'HOUR' }))];
    expect(intervals({ ...entitled({ usageResetPeriod: 'WEEKLY' }), lineItems: calls })).toEqual([
      '01-08 00:00 - 01-10 00:00',
    ]);
  });

  it('is that of the entitlement at the last instant of the usage window', () => {
    const ends = (endMs: number) => entitled({ validity: { startMs: 0, endMs } });
    expect(intervals(ends(period.endMs))).toHaveLength(2);
    expect(intervals(ends(period.endMs - 1))).toHaveLength(0);
  });
});
