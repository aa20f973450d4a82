import { HOUR_MS } from '../../../../contract/instant.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, ZERO, decimalOf, plain } from '../../../../contract/number/decimal.js';
import { formatMoney, sumOfMoney } from '../../money/money.js';
import type { Price } from '../../price/price.js';
import { buildInvoice } from './build-invoice.js';
import type { InvoiceInputs } from '../invoice.js';
import type { LineUsage } from '../../usage/line-usage.js';
import {
  METER,
  FIXED_PRICE,
  JANUARY,
  USAGE_PRICE,
  day,
  fixedLine,
  usageLine,
  usageOf,
  subscriptionOf,
  usd,
} from '../../../testing/invoice-samples.js';

const usages = (entries: Readonly<Record<string, LineUsage>>): ReadonlyMap<string, LineUsage> =>
  new Map(Object.entries(entries));
/** `item quantity amount` of every line. */
const billed = (change: Partial<InvoiceInputs>): string[] =>
  buildInvoice({ ...JANUARY, ...change }).lines.map(
    (line) => `${line.lineItem?.id ?? '-'} ${plain(line.quantity)} ${formatMoney(line.amount)}`,
  );
const subtotal = (change: Partial<InvoiceInputs>): string =>
  formatMoney(buildInvoice({ ...JANUARY, ...change }).totals.subtotal);

describe('lines', () => {
  it('bills 1234 calls at 0.0025 as 3.09 (8.1)', () => {
    const lineItems = [usageLine('calls')];
    expect(billed({ lineItems, usage: usages({ calls: usageOf('1234') }) })).toEqual([
      'calls 1234 3.09',
    ]);
  });

  it('holds two periods on one renewal: usage of January, base fee of February (34.15)', () => {
    const lineItems = [usageLine('calls'), fixedLine('seats', { quantity: decimalOf('3') })];
    const change = { lineItems, usage: usages({ calls: usageOf('1000') }) };
    expect(billed(change)).toEqual(['calls 1000 2.50', 'seats 3 300.00']);
    expect(subtotal(change)).toBe('302.50');
  });

  it('keeps lines with amount 0, and hides them only on request', () => {
    const change = { lineItems: [usageLine('calls')], usage: usages({ calls: usageOf('0', 0) }) };
    expect(billed(change)).toEqual(['calls 0 0.00']);
    expect(billed({ ...change, hideZeroCharges: true })).toEqual([]);
  });

  it('hiding changes no sum', () => {
    const lineItems = [usageLine('a'), usageLine('b')];
    const usage = usages({ a: usageOf('1'), b: usageOf('1000') });
    const change = { lineItems, usage };
    expect(billed({ ...change, hideZeroCharges: true })).toEqual(['b 1000 2.50']);
    expect(subtotal({ ...change, hideZeroCharges: true })).toBe(subtotal(change));
  });

  it('prices a FIXED line by every model (8.4)', () => {
    const price: Price = {
      ...FIXED_PRICE,
      billingModel: 'PACKAGE',
      amount: decimalOf('5'),
      transformQuantity: { divideBy: 10, round: 'up' },
    };
    const lineItems = [fixedLine('seats', { price, quantity: decimalOf('21') })];
    expect(billed({ lineItems })).toEqual(['seats 21 15.00']);
  });

  it('shows the amount in the price unit: 3.09 usd at rate 0.01 is 309.00 (8.6)', () => {
    const figures = { priceUnitId: 'pu', priceUnit: 'tok', amount: decimalOf('0.25'), tiers: null };
    const price: Price = {
      ...USAGE_PRICE,
      priceUnitFigures: { ...figures, conversionRate: decimalOf('0.01') },
    };
    const lineItems = [usageLine('calls', { price })];
    const invoice = buildInvoice({
      ...JANUARY,
      lineItems,
      usage: usages({ calls: usageOf('1234') }),
    });
    const unitAmount = invoice.lines[0]?.priceUnitAmount ?? ZERO;
    expect(unitAmount.toFixed(2)).toBe('309.00');
  });

  it('never takes a missing reading for an amount of 0', () => {
    expect(() => buildInvoice({ ...JANUARY, lineItems: [usageLine('calls')] })).toThrow('calls');
  });
});

describe('rounding (6.3)', () => {
  it('two lines of 0.004 and 0.004 give 0.00, not 0.01', () => {
    const price: Price = { ...USAGE_PRICE, amount: decimalOf('0.004') };
    const lineItems = [usageLine('a', { price }), usageLine('b', { price })];
    expect(subtotal({ lineItems, usage: usages({ a: usageOf('1'), b: usageOf('1') }) })).toBe(
      '0.00',
    );
  });

  it('rounds a scaled charge once: 0.01 for 7 seats of 0.0025 over 16 of 31 days', () => {
    // 7 × 0.0025 = 0.0175 would be 0.02 by itself, and 0.02 × 16 ÷ 31 = 0.0103….
    const price: Price = { ...FIXED_PRICE, amount: decimalOf('0.0025'), invoiceCadence: 'ARREAR' };
    const item = { price, quantity: decimalOf('7'), startMs: day('2026-01-16') };
    const invoice = buildInvoice({ ...JANUARY, lineItems: [fixedLine('seats', item)] });
    const rounding = invoice.lines[0]?.trace.rounding;
    expect(rounding?.exact.toFixed(6)).toBe('0.009032');
    expect(rounding?.rounded).toEqual(usd('0.01'));
  });
});

describe('partial periods (13.4)', () => {
  const arrear: Price = { ...FIXED_PRICE, invoiceCadence: 'ARREAR' };

  it('two segments of a 100.00 line split on 16 Jan are 48.39 and 51.61', () => {
    const handOver = day('2026-01-16');
    const lineItems = [
      fixedLine('a', { price: arrear, endMs: handOver }),
      fixedLine('b', { price: arrear, startMs: handOver }),
    ];
    expect(billed({ lineItems })).toEqual(['a 1 48.39', 'b 1 51.61']);
    expect(subtotal({ lineItems })).toBe('100.00');
  });

  it('a short first period costs 54.84 with create_prorations and 100.00 without', () => {
    const start = day('2026-08-15');
    const opening = {
      referencePoint: 'period_start' as const,
      period: { startMs: start, endMs: day('2026-09-01') },
      lineItems: [fixedLine('base', { startMs: start })],
    };
    const calendar = subscriptionOf({
      billingCycle: 'calendar' as const,
      startMs: start,
      billingAnchorMs: day('2026-09-01'),
    });
    const prorating = { ...calendar, prorationBehavior: 'create_prorations' as const };
    expect(billed({ ...opening, subscription: prorating })).toEqual(['base 1 54.84']);
    expect(billed({ ...opening, subscription: calendar })).toEqual(['base 1 100.00']);
  });

  it('counts exact milliseconds: half of January is reached on 16 Jan at noon (34.14)', () => {
    const noon = day('2026-01-16') + 12 * 3_600_000;
    const lineItems = [fixedLine('a', { price: arrear, endMs: noon })];
    expect(billed({ lineItems })).toEqual(['a 1 50.00']);
  });

  it('counts the seconds of a month with a clock change', () => {
    const midnight = Date.UTC(2026, 1, 28, 23);
    const subscription = subscriptionOf({
      timezone: 'Europe/Berlin',
      startMs: midnight,
      billingAnchorMs: midnight,
    });
    // From 16 March 00:00 local: 1 378 800 of 2 674 800 seconds (23.6).
    const startMs = Date.UTC(2026, 2, 15, 23);
    const invoice = buildInvoice({
      ...JANUARY,
      subscription,
      period: { startMs: midnight, endMs: Date.UTC(2026, 2, 31, 22) },
      lineItems: [fixedLine('a', { price: arrear, startMs })],
    });
    expect(invoice.lines[0]?.trace.proration).toEqual({
      coveredMs: 1_378_800_000,
      fullMs: 2_674_800_000,
    });
    expect(invoice.lines[0]?.amount).toEqual(usd('51.55'));
  });
});

describe('trace', () => {
  const tiered: Price = {
    ...USAGE_PRICE,
    billingModel: 'TIERED',
    tierMode: 'SLAB',
    tiers: [
      { unitAmount: decimalOf('0.10'), flatAmount: null, upTo: 100 },
      { unitAmount: decimalOf('0.05'), flatAmount: decimalOf('2'), upTo: null },
    ],
    filterValues: { model: ['large'] },
  };

  it('leads from the events to the amount', () => {
    const invoice = buildInvoice({
      ...JANUARY,
      lineItems: [usageLine('calls', { price: tiered })],
      usage: usages({ calls: usageOf('100.5', 42) }),
    });
    expect(JSON.parse(JSON.stringify(invoice.lines[0]?.trace))).toEqual({
      timezone: 'UTC',
      window: JANUARY.period,
      usage: {
        meterId: 'meter_1',
        meterVersion: 1,
        eventName: 'api_call',
        aggregationType: 'COUNT',
        eventValue: { field: null, expression: null, multiplier: null },
        bucketSize: null,
        groupBy: null,
        filters: [{ key: 'region', values: ['eu', 'us'] }],
        filterValues: { model: ['large'] },
        eventCount: 42,
        raw: '100.5',
        billed: '100.5',
        allowance: null,
      },
      pricing: {
        billingModel: 'TIERED',
        tierMode: 'SLAB',
        steps: [
          {
            tier: 1,
            upTo: 100,
            quantity: '100',
            unitAmount: '0.1',
            flatAmount: '0',
            amount: '10',
          },
          {
            tier: 2,
            upTo: null,
            quantity: '0.5',
            unitAmount: '0.05',
            flatAmount: '2',
            amount: '2.025',
          },
        ],
        packages: null,
      },
      windows: null,
      commitment: null,
      proration: null,
      rounding: {
        exact: '12.025',
        rounded: { value: '12.03', currency: 'usd' },
        digits: 2,
        mode: 'half_up_away_from_zero',
      },
      discounts: [],
    });
  });
});

describe('laws', () => {
  const quantities = fc
    .bigInt({ min: 0n, max: 10n ** 18n })
    .map((digits) => new Decimal(digits.toString()).dividedBy('1e6'));
  const items = fc.array(fc.tuple(quantities, quantities, fc.boolean()), { maxLength: 8 });
  const inputsOf = (parts: readonly [Decimal, Decimal, boolean][]): InvoiceInputs => ({
    ...JANUARY,
    lineItems: parts.map(([amount, quantity, isUsage], index) => {
      const price = { ...(isUsage ? USAGE_PRICE : FIXED_PRICE), amount };
      return isUsage
        ? usageLine(`item_${index}`, { price })
        : fixedLine(`item_${index}`, { price, quantity });
    }),
    usage: new Map(
      parts.map(([, quantity], index) => [
        `item_${index}`,
        {
          usage: quantity,
          eventCount: 2,
          buckets: null,
          intervals: [],
          bySource: [
            { source: 'web', usage: quantity.dividedBy(4), eventCount: 1 },
            { source: 'app', usage: quantity.times(3).dividedBy(4), eventCount: 1 },
          ],
          byGrouping: [],
        },
      ]),
    ),
  });

  it('the lines add up to the subtotal, to the last cent', () => {
    fc.assert(
      fc.property(items, (parts) => {
        const { lines, totals } = buildInvoice(inputsOf(parts));
        const amounts = lines.map(({ amount }) => amount);
        const sum = sumOfMoney(amounts, 'usd');
        expect(totals.subtotal).toEqual(sum);
        expect(totals.amountDue).toEqual(sum);
        expect(lines).toHaveLength(parts.length);
      }),
    );
  });

  it('the same inputs give the same bytes, in any order', () => {
    fc.assert(
      fc.property(items, (parts) => {
        const inputs = inputsOf(parts);
        const turned: InvoiceInputs = {
          ...inputs,
          lineItems: [...inputs.lineItems].reverse(),
          usage: new Map(
            [...inputs.usage]
              .reverse()
              .map(([id, usage]) => [id, { ...usage, bySource: [...usage.bySource].reverse() }]),
          ),
        };
        expect(JSON.stringify(buildInvoice(turned))).toBe(JSON.stringify(buildInvoice(inputs)));
      }),
    );
  });

  it('the costs by source add up to the amount of their line', () => {
    fc.assert(
      fc.property(items, (parts) => {
        for (const line of buildInvoice(inputsOf(parts)).lines) {
          const { usageAnalytics: rows, amount } = line;
          if (rows.length === 0) continue;
          const costs = rows.map(({ cost }) => cost);
          expect(sumOfMoney(costs, 'usd')).toEqual(amount);
        }
      }),
    );
  });
});

describe('buckets (8.5)', () => {
  const tiers = [
    { upTo: 10, unitAmount: decimalOf('1.00'), flatAmount: null },
    { upTo: null, unitAmount: decimalOf('0.10'), flatAmount: null },
  ];
  const price = {
    ...USAGE_PRICE,
    billingModel: 'TIERED' as const,
    tierMode: 'SLAB' as const,
    tiers,
  };
  const hours = [0, 1].map((hour) => ({
    startMs: day('2026-01-01') + hour * HOUR_MS,
    endMs: day('2026-01-01') + (hour + 1) * HOUR_MS,
    groups: [{ text: '', usage: decimalOf('15'), eventCount: 15 }],
  }));

  it.each([
    ['one by one', {}, '21.00'],
    ['together', { isPricedOverPeriod: true }, '12.00'],
  ])('are priced %s: tiers begin anew, or run over the period', (_, pricing, amount) => {
    const meter = { ...METER, bucketSize: 'HOUR' as const, ...pricing };
    const { lines } = buildInvoice({
      ...JANUARY,
      lineItems: [usageLine('calls', { meter, price })],
      usage: new Map([['calls', { ...usageOf('30'), buckets: hours }]]),
    });
    expect(lines.map((line) => formatMoney(line.amount))).toEqual([amount]);
  });
});
