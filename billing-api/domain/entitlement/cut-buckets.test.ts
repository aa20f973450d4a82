import { describe, expect, it } from 'vitest';
import { ZERO, decimalOf } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import { buildInvoice } from '../invoice/pricing/build-invoice.js';
import type { LineSelectionInputs } from '../invoice/invoice.js';
import type { LineUsage, UsageRequirement } from '../usage/line-usage.js';
import { requiredUsage } from '../invoice/required-usage.js';
import { selectLines } from '../invoice/select-lines.js';
import {
  JANUARY,
  METER,
  TEN_FREE,
  USAGE_PRICE,
  day,
  usageLine,
} from '../../testing/invoice-samples.js';
import type { WindowSize } from '../calendar/usage-windows.js';
import type { EntitlementSource } from './entitlement.js';

const TEN_A_DAY: EntitlementSource = { ...TEN_FREE, usageResetPeriod: 'DAILY' };

type Event = { readonly atMs: number; readonly text: string; readonly value: string };

function usageOf(plan: UsageRequirement, events: readonly Event[]): LineUsage {
  const inside = ({ startMs, endMs }: Interval): readonly Event[] =>
    events.filter(({ atMs }) => startMs <= atMs && atMs < endMs);
  const sumOf = (of: readonly Event[]) =>
    of.reduce((sum, { value }) => sum.plus(decimalOf(value)), ZERO);
  const groupsOf = (of: readonly Event[]) =>
    [...new Set(of.map(({ text }) => text))].map((text) => {
      const own = of.filter((event) => event.text === text);
      return { text, usage: sumOf(own), eventCount: own.length };
    });
  return {
    usage: sumOf(inside(plan.window)),
    eventCount: events.length,
    buckets: (plan.buckets ?? [])
      .map((bucket) => ({ ...bucket, groups: groupsOf(inside(bucket)) }))
      .filter(({ groups }) => groups.length > 0),
    intervals: plan.intervals.map((interval) => ({ interval, usage: sumOf(inside(interval)) })),
    bySource: [],
    byGrouping: [],
  };
}

function lineOf(bucketSize: WindowSize, events: readonly Event[]) {
  const price = { ...USAGE_PRICE, amount: decimalOf('1') };
  const meter = { ...METER, aggregationType: 'SUM', bucketSize, groupBy: 'region' } as const;
  const plan: LineSelectionInputs = {
    ...JANUARY,
    lineItems: [usageLine('calls', { price, meter })],
    entitlements: [TEN_A_DAY],
  };
  const usage = new Map(
    requiredUsage(selectLines(plan)).map((each) => [each.lineItemId, usageOf(each, events)]),
  );
  const [line] = buildInvoice({ ...JANUARY, ...plan, usage }).lines;
  const windows = line?.trace.windows ?? [];
  return {
    amount: line?.amount.value.toFixed(),
    covered: line?.adjustedEntitlementQuantity?.toFixed(),
    windows: windows.map(({ startMs, endMs, group, quantity }) => [
      (endMs - startMs) / 86_400_000,
      startMs === day('2026-01-05') ? 'from Monday' : 'later',
      group,
      quantity.toFixed(),
    ]),
  };
}

describe('buckets that reach into the next reset window (10.2)', () => {
  const dayValues = (...values: readonly string[]): readonly Event[] =>
    values.map((value, index) => ({ atMs: day(`2026-01-0${index + 5}`), text: 'eu', value }));

  it.each(['HOUR', 'DAY', 'WEEK', 'MONTH'] as const)(
    'ten a day over 12, 8 and 15 bill 2 + 0 + 5 = 7, in buckets of a %s, too',
    (size) => {
      const { amount, covered } = lineOf(size, dayValues('12', '8', '15'));
      expect([amount, covered]).toEqual(['7', '28']);
    },
  );

  it('are priced as one bucket, each group by itself', () => {
    const events = [
      ...dayValues('12', '8', '15'),
      { atMs: day('2026-01-05') + 1, text: 'us', value: '3' },
      { atMs: day('2026-01-07') + 1, text: 'us', value: '4' },
    ];
    expect(lineOf('WEEK', events).windows).toEqual([
      [7, 'from Monday', 'eu', '7'],
      [7, 'from Monday', 'us', '7'],
    ]);
  });

  it('are found whole where all events lie behind the last cut', () => {
    const wednesday = { atMs: day('2026-01-07'), text: 'eu', value: '12' };
    expect(lineOf('WEEK', [wednesday]).windows).toEqual([[7, 'from Monday', 'eu', '2']]);
  });
});
