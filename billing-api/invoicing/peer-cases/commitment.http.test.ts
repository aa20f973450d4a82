import { expect } from 'vitest';
import { test } from '../../testing/billing-test.js';
import { makePricedPlan, numbersAt } from '../../testing/priced-plan.js';

/**
 * Worked cases of other billing systems about commitments of each hour, by the ids under which they
 * were collected. An hour without usage takes part where a true-up can charge it (docs/domain.md
 * 11.5), which these cases leave out of their totals: each names the time that it speaks of.
 */

type Hours = readonly [from: number, to: number];
type Committed = {
  /** Of the line: its price, and what is committed outside of the times of day. */
  readonly price: string;
  readonly line?: object;
  readonly buckets: readonly (readonly [hours: Hours, price: string, commitment: object])[];
  /** Units by hour. */
  readonly usage: Readonly<Record<number, string>>;
  /** The charge of each hour that takes part, in order; `of` the whole day when absent. */
  readonly charges: Readonly<Record<string, string>>;
  /** Amount, utilized, overage and true-up of the line, by the hours of which the period is. */
  readonly lines: readonly (readonly [of: Hours, ...figures: [string, string, string, string]])[];
};

const amount = (commitment_value: string, overage_factor: number, true_up_enabled = false) => ({
  commitment_type: 'amount',
  commitment_value,
  overage_factor,
  true_up_enabled,
});
const everyHour = (from: number, to: number, charge: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from({ length: to - from }, (_, index) => [
      String(from + index).padStart(2, '0'),
      charge,
    ]),
  ) as Record<string, string>;

const LINE_OF_TEN = {
  commitment_type: 'amount',
  commitment_amount: '10',
  commitment_overage_factor: 2,
};
const MORNING: Hours = [9, 12];
const USED_AT_TEN = { usage: { 10: '1' }, price: '1' };

const CASES: Readonly<Record<string, Committed>> = {
  'FP-10: a commitment of the line and one of a time of day': {
    price: '1',
    line: { ...LINE_OF_TEN, commitment_true_up_enabled: true },
    buckets: [[MORNING, '2', amount('5', 2)]],
    usage: { 9: '10', 10: '1', 18: '3' },
    charges: { ...everyHour(0, 9, '10'), '09': '35', '10': '2', ...everyHour(12, 24, '10') },
    lines: [
      // 35 + 2 + 10 are the 47 of the case: 10 utilized, 30 overage, 7 true-up.
      [[9, 12], '37.00', '7.00', '30.00', '0.00'],
      [[18, 19], '10.00', '3.00', '0.00', '7.00'],
      [[0, 24], '247.00', '10.00', '30.00', '207.00'],
    ],
  },
  'FP-11: a quantity in a time of day, the price of the line outside': {
    price: '3',
    buckets: [[MORNING, '1', { ...amount('4', 2), commitment_type: 'quantity' }]],
    usage: { 9: '10', 14: '5' },
    charges: { '09': '16', '14': '15' },
    lines: [[[0, 24], '31.00', '19.00', '12.00', '0.00']],
  },
  'FP-12: the price of a time of day replaces that of the line': {
    price: '1',
    buckets: [[[9, 11], '5', amount('50', 1)]],
    usage: { 0: '30', 9: '60', 10: '40' },
    charges: { '00': '30', '09': '300', '10': '200' },
    lines: [[[0, 24], '530.00', '130.00', '400.00', '0.00']],
  },
  'FP-14: with a true-up of the time of day its empty hours are filled': {
    ...USED_AT_TEN,
    buckets: [[MORNING, '1', amount('5', 2, true)]],
    charges: everyHour(9, 12, '5'),
    lines: [[[0, 24], '15.00', '1.00', '0.00', '14.00']],
  },
  'FP-14: with true-ups of the line and of the time of day all 24 are': {
    ...USED_AT_TEN,
    line: { ...LINE_OF_TEN, commitment_true_up_enabled: true },
    buckets: [[MORNING, '1', amount('5', 2, true)]],
    charges: { ...everyHour(0, 9, '10'), ...everyHour(9, 12, '5'), ...everyHour(12, 24, '10') },
    lines: [[[0, 24], '225.00', '1.00', '0.00', '224.00']],
  },
  'FP-14: without a true-up only the hour that was used takes part': {
    ...USED_AT_TEN,
    buckets: [[MORNING, '1', amount('5', 2)]],
    charges: { '10': '1' },
    lines: [[[0, 24], '1.00', '1.00', '0.00', '0.00']],
  },
  'FD-02: the peak and the night': {
    price: '0.10',
    buckets: [
      [[8, 20], '0.10', amount('500', 1.5)],
      [[23, 24], '0.04', amount('100', 1, true)],
    ],
    usage: { 9: '6000', 14: '5000', 23: '1000' },
    charges: { '09': '650', '14': '500', '23': '100' },
    lines: [
      [[0, 24], '1250.00', '1040.00', '150.00', '60.00'],
      [[23, 24], '100.00', '40.00', '0.00', '60.00'],
    ],
  },
};

const hourOf = (hour: number): string =>
  hour === 24 ? '2026-10-06T00:00:00Z' : `2026-10-05T${String(hour).padStart(2, '0')}:00:00Z`;

test.for(Object.entries(CASES))('%s', async ([, row], { api, database, clickhouse, clock }) => {
  const { price, line, buckets, usage, charges, lines } = row;
  clock.set('2026-11-02T00:00:00Z');
  const meter = { type: 'SUM', field: 'n', bucketSize: 'HOUR' } as const;
  const terms = { meter, price: { amount: price } };
  const plan = await makePricedPlan(api, { database, clickhouse }, terms);
  await plan.count(
    numbersAt(
      ...Object.entries(usage).map(
        ([hour, units]) => [`05T${hour.padStart(2, '0')}:30:00.000`, units] as const,
      ),
    ),
  );
  const id = await plan.subscribe({
    line_item_commitments: {
      [plan.priceId]: {
        commitment_windowed: true,
        ...line,
        commitment_time_buckets: buckets.map(([[from, to], own, commitment]) => ({
          start: { hour: from },
          end: { hour: to },
          ...commitment,
          price: { currency: 'usd', amount: own },
        })),
      },
    },
  });
  const lineOf = async ([from, to]: Hours) => {
    const period = { period_start: hourOf(from), period_end: hourOf(to) };
    const body = { subscription_id: id, ...period, explain: true };
    return (await api.make('/v1/invoices/preview', body)).line_items[0];
  };
  const { items } = (await lineOf([0, 24])).explanation.windows;
  const charged = items.map((one: { start: string; charge: string }) => [
    one.start.slice(11, 13),
    one.charge,
  ]);
  expect(charged).toEqual(
    Object.entries(charges).sort(([left], [right]) => (left < right ? -1 : 1)),
  );
  for (const [of, ...figures] of lines) {
    const { amount: total, commitment_info: info } = await lineOf(of);
    expect([
      total,
      info.computed_commitment_utilized_amount,
      info.computed_overage_amount,
      info.computed_true_up_amount,
    ]).toEqual(figures);
  }
});
