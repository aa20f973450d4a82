import { expect } from 'vitest';
import { test } from '../../testing/billing-test.js';
import { makePricedPlan, numbersAt } from '../../testing/priced-plan.js';

/**
 * Worked cases of other billing systems about tiers, by the ids under which they were collected:
 * what a day with each quantity costs. Where ours differ, docs/domain.md 34.32 says which and why.
 */

type Tier = { readonly up_to: number | null; readonly unit_amount: string; flat_amount?: string };
type Tiered = readonly [
  title: string,
  mode: 'SLAB' | 'VOLUME',
  tiers: readonly Tier[],
  costs: Readonly<Record<string, string>>,
  currency?: string,
];

const tier = (up_to: number | null, unit_amount: string, flat_amount?: string): Tier => ({
  up_to,
  unit_amount,
  ...(flat_amount === undefined ? {} : { flat_amount }),
});

/** A tier for each block: `count` blocks of `size` units beyond `from`, at a flat amount of 1. */
const blocks = (count: number, size: number, from = 0): readonly Tier[] =>
  Array.from({ length: count }, (_, index) => tier(from + (index + 1) * size, '0', '1'));

const VOLUME_WITH_FEES = [
  tier(10_000, '0.0010', '10'),
  tier(50_000, '0.0008', '10'),
  tier(100_000, '0.0006', '10'),
  tier(null, '0.0004', '10'),
];
const FEES_THEN_UNITS = (third: string, last: string) => [
  tier(5, '0', '100'),
  tier(10, '0', '50'),
  tier(15, third),
  tier(null, last),
];
const THREE = [tier(1_000, '0.10'), tier(10_000, '0.05'), tier(null, '0.01')];

const CASES: readonly Tiered[] = [
  [
    'KB-21: blocks of 100, then of 1000, each a tier with a flat amount',
    'SLAB',
    [...blocks(10, 100), ...blocks(89, 1_000, 1_000), tier(null, '0.001')],
    { '5325': '15.00', '100': '1.00', '101': '2.00', '1000': '10.00', '1001': '11.00' },
  ],
  [
    'KB-22: volume counts units and not started blocks (34.32): 50.50 for 101,001 and not 51',
    'VOLUME',
    [tier(1_000, '0.01'), tier(101_000, '0.001'), tier(null, '0.0005')],
    { '1000': '10.00', '101000': '101.00', '101001': '50.50', '300000': '150.00' },
  ],
  [
    'LG-33: volume with a flat fee',
    'VOLUME',
    VOLUME_WITH_FEES,
    { '65000': '49.00', '10000': '20.00', '10001': '18.00', '100000': '70.00', '100001': '50.00' },
  ],
  ['LD-02: volume with a fixed fee per tier', 'VOLUME', VOLUME_WITH_FEES, { '65000': '49.00' }],
  ['LD-02: the same in yen', 'VOLUME', VOLUME_WITH_FEES, { '65000': '49', '10001': '18' }, 'jpy'],
  [
    'OM-01: graduated with flat and unit tiers',
    'SLAB',
    FEES_THEN_UNITS('5', '1'),
    { '22': '182.00', '15': '175.00', '16': '176.00' },
  ],
  [
    'OM-05: totals at the edges of tiers; no usage costs nothing (34.1), where others bill the first fee',
    'SLAB',
    FEES_THEN_UNITS('10', '5'),
    {
      '0': '0.00',
      '3': '100.00',
      '5': '100.00',
      '5.001': '150.00',
      '7': '150.00',
      '10': '150.00',
      '10.001': '150.01',
      '12': '170.00',
      '15': '200.00',
      '22': '235.00',
    },
  ],
  [
    'OD-04: 15,000 units, graduated',
    'SLAB',
    THREE,
    { '15000': '600.00', '1000': '100.00', '1001': '100.05', '10000': '550.00', '10001': '550.01' },
  ],
  [
    'OD-04: 15,000 units, volume',
    'VOLUME',
    THREE,
    { '15000': '150.00', '1000': '100.00', '1001': '50.05', '10000': '500.00', '10001': '100.01' },
  ],
  ['OD-04: with three digits', 'SLAB', THREE, { '15000': '600.000', '1001': '100.050' }, 'kwd'],
];

test.for(CASES)('%s', async (row, { api, database, clickhouse }) => {
  const [, mode, tiers, costs, currency = 'usd'] = row;
  const meter = { type: 'SUM', field: 'n' } as const;
  const price = { currency, billing_model: 'TIERED', tier_mode: mode, tiers };
  const plan = await makePricedPlan(api, { database, clickhouse }, { meter, price });
  const quantities = Object.keys(costs);
  const dayOf = (index: number) => String(index + 1).padStart(2, '0');
  await plan.count(
    numbersAt(
      ...quantities.map((quantity, index) => [`${dayOf(index)}T12:00:00.000`, quantity] as const),
    ),
  );
  const subscription = await plan.subscribe({ currency });
  const found: Record<string, string> = {};
  for (const [index, quantity] of quantities.entries()) {
    const invoice = await api.make('/v1/invoices/preview', {
      subscription_id: subscription,
      period_start: `2026-10-${dayOf(index)}T00:00:00Z`,
      period_end: `2026-10-${dayOf(index + 1)}T00:00:00Z`,
    });
    expect(invoice.line_items[0].quantity).toBe(quantity);
    found[quantity] = invoice.total;
  }
  expect(found).toEqual(costs);
});
