import { describe, expect, it } from 'vitest';
import { decimalOf, plain } from '../../../contract/number/decimal.js';
import type { LineCommitment, SubscriptionCommitment } from '../commitment/commitment.js';
import { formatMoney, type Money } from '../money/money.js';
import type { LineItem } from './line-item.js';
import { buildInvoice } from './pricing/build-invoice.js';
import type { InvoiceInputs, InvoiceLine, PriorCommitment } from './invoice.js';
import {
  FIXED_PRICE,
  JANUARY,
  METER,
  MONTHLY,
  TEN_FREE,
  USAGE_PRICE,
  day,
  fixedLine,
  usageLine,
  usageOf,
  subscriptionOf,
  usd,
} from '../../testing/invoice-samples.js';

/** A usage line at 1.00 per unit, unless another amount is given. */
const used = (id: string, amount = '1.00', change: Partial<LineItem> = {}): LineItem =>
  usageLine(id, { price: { ...USAGE_PRICE, amount: decimalOf(amount) }, ...change });
const usages = (entries: Readonly<Record<string, string>>): InvoiceInputs['usage'] =>
  new Map(Object.entries(entries).map(([id, usage]) => [id, usageOf(usage)]));
const money = (line: InvoiceLine): string => formatMoney(line.amount);
const lines = (change: Partial<InvoiceInputs>): string[] =>
  buildInvoice({ ...JANUARY, ...change }).lines.map(
    (line) =>
      `${line.lineItem?.id ?? line.displayName} ${line.kind} ${plain(line.quantity)} ${money(line)}`,
  );

function committed(
  amount: string,
  overageFactor: string,
  change: Partial<SubscriptionCommitment> = {},
): InvoiceInputs['subscription'] {
  const commitment: SubscriptionCommitment = {
    amount: decimalOf(amount),
    overageFactor: decimalOf(overageFactor),
    isTrueUpEnabled: false,
    duration: null,
    planId: 'plan_1',
    planDisplayName: 'Pro',
    ...change,
  };
  return { ...MONTHLY, commitment };
}
const TRUE_UP = { isTrueUpEnabled: true };
const figures = (...parts: (Money | undefined)[]): string =>
  parts.map((part) => part && formatMoney(part)).join(' + ');
/** `amount = utilized + overage + true-up` of the only line. */
function lineOf(change: Partial<InvoiceInputs>): string {
  const [only] = buildInvoice({ ...JANUARY, ...change }).lines;
  const info = only?.commitmentInfo;
  return `${only && money(only)} = ${figures(info?.utilized, info?.overage, info?.trueUp)}`;
}

describe('commitment of a subscription (11.1)', () => {
  it('C 100, f 1.5, FLAT_FEE 0.30, q 500: 100.00 and 75.00', () => {
    const change = { lineItems: [used('calls', '0.30')], usage: usages({ calls: '500' }) };
    const inputs = { ...JANUARY, ...change, subscription: committed('100', '1.5') };
    expect(lines(inputs)).toEqual([
      'calls charge 333.333333333333 100.00',
      'calls overage 166.666666666667 75.00',
    ]);
    const { lines: made, totals } = buildInvoice(inputs);
    expect(formatMoney(totals.subtotal)).toBe('175.00');
    expect(made.map(({ metadata }) => metadata)).toEqual([
      {},
      { is_overage: true, overage_factor: '1.5' },
    ]);
    expect(made.map(({ commitmentInfo }) => commitmentInfo)).toEqual([null, null]);
  });

  it('C 100 with true-up, u 60: lines 60.00 and 40.00', () => {
    const change = { lineItems: [used('calls')], usage: usages({ calls: '60' }) };
    const subscription = committed('100', '1.5', TRUE_UP);
    expect(lines({ ...change, subscription })).toEqual([
      'calls charge 60 60.00',
      'Pro True Up true_up 1 40.00',
    ]);
    const trueUp = buildInvoice({ ...JANUARY, ...change, subscription }).lines.at(-1);
    expect(trueUp?.metadata).toEqual({
      is_commitment_trueup: true,
      commitment_amount: '100.00',
      commitment_utilized: '60.00',
    });
  });

  it('C 10, f 2, charges 3.335 and 8.005: total 12.68 (34.8)', () => {
    const lineItems = [used('a'), used('b')];
    const change = { lineItems, usage: usages({ a: '3.335', b: '8.005' }) };
    expect(lines({ ...change, subscription: committed('10', '2') })).toEqual([
      'a charge 3.335 3.34',
      'b charge 6.665 6.66',
      'b overage 1.34 2.68',
    ]);
  });

  it('the true-up follows the rounded lines: 0.004 and 0.004 leave all of 1.00', () => {
    const change = { lineItems: [used('a'), used('b')], usage: usages({ a: '0.004', b: '0.004' }) };
    expect(lines({ ...change, subscription: committed('1', '2', TRUE_UP) })).toEqual([
      'a charge 0.004 0.00',
      'b charge 0.004 0.00',
      'Pro True Up true_up 1 1.00',
    ]);
  });

  it('u = C has neither overage nor true-up (34.7)', () => {
    const change = { lineItems: [used('calls')], usage: usages({ calls: '100' }) };
    const subscription = committed('100', '1.5', TRUE_UP);
    expect(lines({ ...change, subscription })).toEqual(['calls charge 100 100.00']);
  });

  it('a factor of exactly 1 switches it off, but not its true-up (34.7)', () => {
    const change = { lineItems: [used('calls')], usage: usages({ calls: '60' }) };
    expect(lines({ ...change, subscription: committed('100', '1') })).toEqual([
      'calls charge 60 60.00',
    ]);
    const subscription = committed('100', '1', { ...TRUE_UP, isMinimum: true });
    expect(lines({ ...change, subscription })).toEqual([
      'calls charge 60 60.00',
      'Pro True Up true_up 1 40.00',
    ]);
    const more = { ...change, usage: usages({ calls: '130' }) };
    expect(lines({ ...more, subscription })).toEqual([
      'calls charge 100 100.00',
      'calls overage 30 30.00',
    ]);
  });

  it('an amount of 0 switches it off', () => {
    const change = { lineItems: [used('calls')], usage: usages({ calls: '60' }) };
    expect(lines({ ...change, subscription: committed('0', '2', TRUE_UP) })).toEqual([
      'calls charge 60 60.00',
    ]);
  });

  it('FIXED lines take no part', () => {
    const change = {
      lineItems: [fixedLine('seats', { price: FIXED_PRICE }), used('calls')],
      usage: usages({ calls: '60' }),
    };
    expect(lines({ ...change, subscription: committed('100', '1.5', TRUE_UP) })).toEqual([
      'calls charge 60 60.00',
      'seats charge 1 100.00',
      'Pro True Up true_up 1 40.00',
    ]);
  });

  it('an opening invoice, which bills no usage, has no true-up', () => {
    const subscription = committed('100', '1.5', TRUE_UP);
    expect(lines({ subscription, referencePoint: 'period_start' })).toEqual([]);
  });

  it('a part of the period has no true-up before its end, and its use counts in the next', () => {
    const subscription = committed('100', '1.5', TRUE_UP);
    const threshold = { startMs: day('2026-01-01'), endMs: day('2026-01-20') };
    const rest = { startMs: day('2026-01-20'), endMs: day('2026-02-01') };
    const change = { lineItems: [used('calls')], usage: usages({ calls: '60' }), subscription };
    expect(lines({ ...change, period: threshold })).toEqual(['calls charge 60 60.00']);
    const priorCommitments = [
      { invoiceId: 'earlier', period: threshold, lineItemId: 'calls', amount: decimalOf('60') },
    ];
    expect(lines({ ...change, period: rest, priorCommitments })).toEqual([
      'calls charge 40 40.00',
      'calls overage 20 30.00',
    ]);
  });

  it('says of every line how it came about', () => {
    const change = { lineItems: [used('calls', '0.30')], usage: usages({ calls: '500' }) };
    const subscription = committed('100', '1.5');
    const made = buildInvoice({ ...JANUARY, ...change, subscription });
    const terms = { level: 'subscription', type: 'amount', amount: '100', overageFactor: '1.5' };
    const common = { ...terms, window: JANUARY.period, isLast: true };
    expect(JSON.parse(JSON.stringify(made.lines.map(({ trace }) => trace.commitment)))).toEqual([
      {
        ...common,
        usedBefore: '0',
        inCommitment: '100',
        overageBase: '0',
        overage: '0',
        trueUp: '0',
        splitOf: '150',
      },
      {
        ...common,
        usedBefore: '100',
        inCommitment: '0',
        overageBase: '50',
        overage: '75',
        trueUp: '0',
        splitOf: '150',
      },
    ]);
    expect(made.lines.map(({ trace }) => trace.rounding.mode)).toEqual([
      'largest_remainder',
      'largest_remainder',
    ]);
  });

  it('parts of a line have its price unit amounts', () => {
    const figures = { priceUnitId: 'pu', priceUnit: 'tok', amount: decimalOf('30'), tiers: null };
    const priceUnitFigures = { ...figures, conversionRate: decimalOf('0.01') };
    const price = { ...USAGE_PRICE, amount: decimalOf('0.30'), priceUnitFigures };
    const change = { lineItems: [usageLine('calls', { price })], usage: usages({ calls: '500' }) };
    const made = buildInvoice({ ...JANUARY, ...change, subscription: committed('100', '1.5') });
    const amounts = made.lines.map(({ priceUnitAmount }) => priceUnitAmount?.toFixed(2));
    expect(amounts).toEqual(['10000.00', '7500.00']);
  });
});

describe('longer duration (11.2)', () => {
  const prior = (amount: string, date = '2025-12-01'): readonly PriorCommitment[] => [
    {
      invoiceId: 'earlier',
      period: { startMs: day(date), endMs: day('2026-01-01') },
      lineItemId: 'calls',
      amount: decimalOf(amount),
    },
  ];
  const yearFrom = (start: string, change: Partial<SubscriptionCommitment> = {}) => ({
    ...subscriptionOf({ startMs: day(start), billingAnchorMs: day(start) }),
    commitment: committed('1200', '1.2', { duration: 'ANNUAL', ...change }).commitment,
  });
  const calls = (usage: string): Partial<InvoiceInputs> => ({
    lineItems: [used('calls', '1.00', { startMs: day('2024-01-01') })],
    usage: usages({ calls: usage }),
  });

  it('C 1200 per year, f 1.2, prior 1150, current 100: 50 + 60', () => {
    const change = { ...calls('100'), priorCommitments: prior('1150') };
    expect(lines({ ...change, subscription: yearFrom('2025-06-01') })).toEqual([
      'calls charge 50 50.00',
      'calls overage 50 60.00',
    ]);
  });

  it('in year two prior starts at 0 (34.9)', () => {
    const change = { ...calls('100'), priorCommitments: prior('1150') };
    expect(lines({ ...change, subscription: yearFrom('2025-01-01') })).toEqual([
      'calls charge 100 100.00',
    ]);
  });

  it('month one with u 60 and true-up on: charge 60, no true-up (34.9)', () => {
    const subscription = yearFrom('2026-01-01', TRUE_UP);
    expect(lines({ ...calls('60'), subscription })).toEqual(['calls charge 60 60.00']);
  });

  it('the last month trues up what is missing of the year', () => {
    const subscription = yearFrom('2025-02-01', TRUE_UP);
    const change = { ...calls('60'), priorCommitments: prior('500') };
    expect(lines({ ...change, subscription })).toEqual([
      'calls charge 60 60.00',
      'Pro True Up true_up 1 640.00',
    ]);
  });

  it('an end of the subscription makes its running period the last, with the full true-up', () => {
    const subscription = { ...yearFrom('2026-01-01', TRUE_UP), endMs: day('2026-01-20') };
    expect(lines({ ...calls('60'), subscription })).toEqual([
      'calls charge 60 60.00',
      'Pro True Up true_up 1 1140.00',
    ]);
  });
});

describe('commitment of a line (11.3)', () => {
  const line = (
    value: string,
    change: Partial<LineCommitment['terms']> = {},
    duration: LineCommitment['duration'] = null,
  ): LineCommitment => ({
    terms: {
      type: 'amount',
      value: decimalOf(value),
      overageFactor: decimalOf('1.2'),
      isTrueUpEnabled: true,
      ...change,
    },
    isWindowed: false,
    duration,
    timeBuckets: [],
  });
  const charge = (
    usage: string,
    commitment: LineCommitment,
    change: Partial<InvoiceInputs> = {},
  ): string => {
    const lineItems = [used('calls', '1.00', { commitment })];
    return lineOf({ lineItems, usage: usages({ calls: usage }), ...change });
  };

  it.each([
    ['650', true, '680.00 = 500.00 + 180.00 + 0.00'],
    ['300', true, '500.00 = 300.00 + 0.00 + 200.00'],
    ['300', false, '300.00 = 300.00 + 0.00 + 0.00'],
    ['500', true, '500.00 = 500.00 + 0.00 + 0.00'],
  ])('C 500, f 1.2, u %s, true-up %s: %s', (usage, isTrueUpEnabled, expected) => {
    expect(charge(usage, line('500', { isTrueUpEnabled }))).toBe(expected);
  });

  it('quantity 10000 at 0.02, usage 15000, f 1.5: 200 + 150 = 350', () => {
    const commitment = line('10000', { type: 'quantity', overageFactor: decimalOf('1.5') });
    const lineItems = [used('calls', '0.02', { commitment })];
    expect(charge('15000', commitment, { lineItems })).toBe('350.00 = 200.00 + 150.00 + 0.00');
    const made = buildInvoice({ ...JANUARY, lineItems, usage: usages({ calls: '15000' }) });
    expect(made.lines[0]?.commitmentInfo).toEqual({
      type: 'quantity',
      amount: decimalOf('200'),
      quantity: decimalOf('10000'),
      overageFactor: decimalOf('1.5'),
      isTrueUpEnabled: true,
      duration: null,
      isWindowed: false,
      utilized: usd('200'),
      overage: usd('150'),
      trueUp: usd('0'),
    });
  });

  it('the parts are a split of the rounded amount, ties to the earlier one', () => {
    const commitment = line('3.335', { overageFactor: decimalOf('1') });
    // 3.335 and 0.005: 3.34 in all.
    expect(charge('3.34', commitment)).toBe('3.34 = 3.34 + 0.00 + 0.00');
  });

  it('comes after the allowance (11)', () => {
    const entitlements = [{ ...TEN_FREE, usageLimit: decimalOf('400') }];
    expect(charge('650', line('500'), { entitlements })).toBe('500.00 = 250.00 + 0.00 + 250.00');
  });

  it('a longer duration leaves what earlier invoices used, and trues up in its last period', () => {
    const from = (date: string) =>
      subscriptionOf({ startMs: day(date), billingAnchorMs: day(date) });
    const period = { startMs: day('2025-12-01'), endMs: day('2026-01-01') };
    const prior = (amount: string) => ({
      priorCommitments: [
        { invoiceId: 'earlier', period, lineItemId: 'calls', amount: decimalOf(amount) },
        { invoiceId: 'earlier', period, lineItemId: 'other', amount: decimalOf('999') },
      ],
    });
    const yearly = line('1200', {}, 'ANNUAL');
    const begun = { subscription: from('2025-06-01') };
    expect(charge('100', yearly, { ...begun, ...prior('1150') })).toBe(
      '110.00 = 50.00 + 60.00 + 0.00',
    );
    expect(charge('100', yearly, { ...begun, ...prior('500') })).toBe(
      '100.00 = 100.00 + 0.00 + 0.00',
    );
    const last = { subscription: from('2025-02-01') };
    expect(charge('100', yearly, { ...last, ...prior('500') })).toBe(
      '700.00 = 100.00 + 0.00 + 600.00',
    );
  });

  it('windowed: figures are summed over the windows, and the line is rounded once', () => {
    const meter = { ...METER, bucketSize: 'DAY' as const };
    const commitment = { ...line('10'), isWindowed: true };
    const price = { ...USAGE_PRICE, amount: decimalOf('0.001') };
    const startMs = day('2026-01-30');
    const buckets = ['2026-01-30', '2026-01-31'].map((date) => ({
      startMs: day(date),
      endMs: day(date) + 86_400_000,
      groups: [{ text: '', usage: decimalOf('4'), eventCount: 1 }],
    }));
    const lineItems = [usageLine('calls', { meter, commitment, price, startMs })];
    const usage = new Map([['calls', { ...usageOf('8'), buckets }]]);
    const [only] = buildInvoice({ ...JANUARY, lineItems, usage }).lines;
    // 0.008 used of 20: a split of the amount, not three roundings.
    expect(lineOf({ lineItems, usage })).toBe('20.00 = 0.01 + 0.00 + 19.99');
    expect(only?.commitmentInfo).toMatchObject({ type: 'amount', isWindowed: true });
    expect(only?.commitmentInfo?.amount?.toFixed()).toBe('10');
    expect(only?.trace.windows).toHaveLength(2);
    expect(only?.trace.pricing).toBeNull();
  });
});
