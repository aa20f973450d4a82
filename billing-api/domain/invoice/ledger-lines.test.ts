import { describe, expect, it } from 'vitest';
import { formatInstant, type Interval } from '../../../contract/instant.js';
import {
  FIXED_PRICE,
  JANUARY,
  METER,
  MONTHLY,
  TEN_FREE,
  day,
  fixedLine,
  subscriptionOf,
  usageLine,
} from '../../testing/invoice-samples.js';
import type { EntitlementSource } from '../entitlement/entitlement.js';
import { appendRow, endLedger, recordPause, splitLastRow } from '../periods/ledger-rows.js';
import type { PeriodLedger } from '../periods/period-ledger.js';
import { usageSince } from './invoice-scope.js';
import type { LineSelectionInputs, ReferencePoint } from './invoice.js';
import { requiredUsage } from './required-usage.js';
import { selectLines } from './select-lines.js';

const shown = ({ startMs, endMs }: Interval): string =>
  [startMs, endMs].map((ms) => formatInstant(ms).slice(5, 13).replace('T', ' ')).join(' - ');
const termsOf = (ledger: PeriodLedger) => ({ ...MONTHLY, ...ledger });
const PAUSE: Interval = { startMs: day('2026-01-05'), endMs: day('2026-01-15') };

/** A fee in advance, one in arrear, and usage. */
const LINES = [
  fixedLine('advance'),
  fixedLine('arrear', { price: { ...FIXED_PRICE, invoiceCadence: 'ARREAR' } }),
  usageLine('calls'),
];

/** Item, dates and share of the lines on the invoice of a row. */
function selected(
  ledger: PeriodLedger,
  row: number,
  referencePoint: ReferencePoint = 'period_end',
): string[] {
  const { startMs = 0, endMs = 0 } = ledger.periods[row] ?? {};
  const period = { startMs, endMs };
  const sinceMs = usageSince(ledger, period);
  const since = sinceMs === null ? {} : { usageSinceMs: sinceMs };
  const inputs = { ...JANUARY, subscription: termsOf(ledger), lineItems: LINES, referencePoint };
  return selectLines({ ...inputs, ...since, period }).map((line) => {
    const { lineItem, period, proration } = line;
    const [covered, full] = [proration?.coveredMs ?? 0, proration?.fullMs ?? 0];
    const share = proration === null ? '' : ` ${covered / 86_400_000}/${full / 86_400_000}`;
    return `${lineItem.id} ${shown(period)}${share}`;
  });
}

describe('lines of rows that a threshold invoice split (13.3)', () => {
  const split = splitLastRow(MONTHLY, day('2026-01-20'));

  it('the threshold invoice bills usage alone, up to its instant', () => {
    expect(selected(split, 0, 'threshold')).toEqual(['calls 01-01 00 - 01-20 00']);
  });

  it('the invoice after it bills the usage of the period, and fees as if nothing had been split', () => {
    expect(selected(split, 1)).toEqual([
      'advance 02-01 00 - 03-01 00 28/28',
      'arrear 01-01 00 - 02-01 00 31/31',
      'calls 01-01 00 - 02-01 00',
    ]);
  });

  it('a pause before it lowers the fee of the whole period once', () => {
    const paused = splitLastRow(recordPause(MONTHLY, PAUSE), day('2026-01-20'));
    expect(selected(paused, 1)[1]).toBe('arrear 01-01 00 - 02-11 00 31/31');
  });
});

describe('lines of a trial and of a cancellation (13.3)', () => {
  const trial = subscriptionOf({ trialEndMs: day('2026-01-20') });

  it('a trial is not charged in advance; the period that follows it is', () => {
    expect(selected(trial, 0, 'period_start')).toEqual([]);
    expect(selected(appendRow(trial), 1, 'period_start')).toEqual([
      'advance 01-20 00 - 02-20 00 31/31',
    ]);
  });

  it('a ONETIME fee is not on the invoice that opens a trial', () => {
    const price = { ...FIXED_PRICE, billingCadence: 'ONETIME', billingPeriod: 'ONETIME' } as const;
    const lineItems = [fixedLine('once', { price })];
    const period = { startMs: day('2026-01-01'), endMs: day('2026-01-20') };
    const inputs = { ...JANUARY, subscription: trial, lineItems, period };
    expect(selectLines({ ...inputs, referencePoint: 'period_start' })).toEqual([]);
    expect(selectLines(inputs)).toHaveLength(1);
  });

  it('a trial that is cancelled stays a trial and bills nothing', () => {
    const cancelled = endLedger(trial, day('2026-01-10'));
    expect(cancelled.periods[0].kind).toBe('trial');
    expect(selected(cancelled, 0)).toEqual([]);
  });

  it('a cancelled subscription is charged nothing in advance', () => {
    const cancelled = endLedger(appendRow(MONTHLY), day('2026-02-15'));
    expect(selected(cancelled, 1)).toEqual([
      'arrear 02-01 00 - 02-15 00 14/28',
      'calls 02-01 00 - 02-15 00',
    ]);
  });
});

describe('usage that is read for the rows of a ledger', () => {
  const required = (change: Partial<LineSelectionInputs>) =>
    requiredUsage(selectLines({ ...JANUARY, ...change }));

  it('MONTH buckets begin on the day of the anchor that a pause moved (7.8)', () => {
    const subscription = termsOf(appendRow(recordPause(MONTHLY, PAUSE)));
    const meter = { ...METER, bucketSize: 'MONTH' as const };
    const period = { startMs: day('2026-02-11'), endMs: day('2026-03-11') };
    const [line] = required({ subscription, period, lineItems: [usageLine('calls', { meter })] });
    expect(line?.buckets?.map(shown)).toEqual(['02-11 00 - 03-11 00']);
  });

  const atTen = day('2026-01-01') + 10 * 3_600_000;
  const subscription = subscriptionOf({ startMs: atTen, billingAnchorMs: atTen });
  const period = { startMs: atTen, endMs: day('2026-02-01') + 10 * 3_600_000 };
  const beforeOf = (usageResetPeriod: EntitlementSource['usageResetPeriod']): string[] => {
    const meter = { ...METER, aggregationType: 'MAX' as const, bucketSize: 'DAY' as const };
    const lineItems = [usageLine('calls', { meter, startMs: day('2026-01-10') })];
    const entitlements = [{ ...TEN_FREE, usageResetPeriod }];
    const [line] = required({ subscription, period, lineItems, entitlements });
    return line?.intervals.map(shown) ?? [];
  };

  it('a MAX bucket counts in the reset window in which it begins (10.2)', () => {
    expect(beforeOf('WEEKLY')).toEqual(['01-09 00 - 01-10 00']);
  });

  it('a MAX bucket that the start of a period cuts begins with the period (10.2)', () => {
    expect(beforeOf(null)).toEqual(['01-01 10 - 01-10 00']);
  });
});
