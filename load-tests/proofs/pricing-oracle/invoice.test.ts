import { describe, expect, test } from 'vitest';
import { calls, fixedItem, flat, invoiceOf, plainMeter, usageItem } from './plain-subscription.js';
import type { CouponAssociation, TaxRate, Wallet } from './subscription.js';

const usage = usageItem('usage', { createdAt: 1 });

function coupon(
  id: string,
  discount: CouponAssociation['discount'],
  changes: Partial<CouponAssociation> = {},
): CouponAssociation {
  return { id, itemId: null, start: 0, end: null, discount, applicationsMax: null, ...changes };
}

const percent = (percentageOff: string) => ({ type: 'percentage', percentageOff }) as const;
const fixed = (amountOff: string) => ({ type: 'fixed', amountOff }) as const;

function wallet(creditBalance: string, changes: Partial<Wallet> = {}): Wallet {
  return {
    id: 'wallet',
    createdAt: 0,
    creditBalance,
    conversionRate: '1',
    allowed: 'USAGE',
    ...changes,
  };
}

function tax(percentage: string, change: Partial<TaxRate> = {}): TaxRate {
  return {
    id: 'tax',
    rateId: 'rate',
    level: 'subscription',
    isAutoApplied: false,
    isActive: true,
    type: 'percentage',
    percentage,
    ...change,
  } as TaxRate;
}

describe('lines and totals (13)', () => {
  test('coupons, taxes and prepaid credits come in their order', () => {
    const { totals, lines } = invoiceOf({
      items: [fixedItem('fixed', { price: flat('50') }), usage],
      events: calls(['2026-01-10T00:00Z', '100']),
      coupons: [coupon('ten', percent('10'))],
      taxes: [tax('20')],
      wallets: [wallet('40')],
    });
    expect(lines.map(({ invoiceDiscount }) => invoiceDiscount)).toEqual(['5.00', '10.00']);
    expect(totals).toEqual({
      subtotal: '150.00',
      totalDiscount: '15.00',
      totalTax: '27.00',
      totalPrepaidCredits: '40.00',
      total: '122.00',
    });
  });

  test('amounts are rounded line by line', () => {
    const price = flat('0.004');
    const items = [fixedItem('a', { price }), fixedItem('b', { price })];
    expect(invoiceOf({ items }).totals.subtotal).toBe('0.00');
  });

  test('buckets are priced one by one', () => {
    const meters = new Map([
      ['meter', { ...plainMeter, type: 'MAX', bucketSize: 'HOUR' } as const],
    ]);
    const events = calls(
      ['2026-01-01T00:10Z', '3'],
      ['2026-01-01T01:10Z', '5'],
      ['2026-01-01T03:10Z', '2'],
      ['2026-01-01T03:20Z', '1'],
    );
    const tiers = [
      { upTo: 4, unitAmount: '1', flatAmount: '0' },
      { upTo: null, unitAmount: '0.5', flatAmount: '0' },
    ];
    const slab = { model: 'TIERED', mode: 'SLAB', tiers, unitRate: null } as const;
    const lineAt = (price: typeof usage.price) => {
      const [line] = invoiceOf({ items: [{ ...usage, price }], meters, events }).lines;
      return [line?.quantity, line?.amount];
    };
    expect(lineAt(flat('0.10'))).toEqual(['10', '1.00']);
    expect(lineAt(slab)).toEqual(['10', '9.50']);
  });

  test('an amount in custom units is the line amount at the rate', () => {
    const price = { ...flat('0.25'), unitRate: '0.01' };
    const events = calls(['2026-01-10T00:00Z', '1234']);
    const [line] = invoiceOf({ items: [{ ...usage, price }], events }).lines;
    expect([line?.amount, line?.priceUnitAmount]).toEqual(['3.09', '309.00']);
  });

  test('two halves of a line that changes hands are scaled by seconds', () => {
    const middle = Date.parse('2026-01-16T00:00Z');
    const items = [fixedItem('old', { end: middle }), fixedItem('new', { start: middle })];
    expect(invoiceOf({ items }).lines.map(({ itemId, amount }) => [itemId, amount])).toEqual([
      ['new', '51.61'],
      ['old', '48.39'],
    ]);
  });

  test('a short first period is charged in full, or by its share with prorations', () => {
    const start = Date.parse('2026-08-15T00:00Z');
    const items = [fixedItem('fixed', { start, cadence: 'ADVANCE' })];
    const given = { start, cycle: 'calendar', items } as const;
    const opening = { reference: 'period_start' } as const;
    expect(invoiceOf(given, opening).totals.total).toBe('100.00');
    const prorated = { ...given, proration: 'create_prorations' } as const;
    expect(invoiceOf(prorated, opening).totals.total).toBe('54.84');
    expect(invoiceOf(prorated).totals.total).toBe('100.00');
  });
});

describe('longer lines (13.3)', () => {
  test('a quarter in advance that begins late is on the invoice of the period before', () => {
    const start = Date.parse('2026-02-01T00:00Z');
    const late = { price: flat('300'), length: { period: 'QUARTERLY', count: 1 }, start } as const;
    const items = [fixedItem('late', { ...late, cadence: 'ADVANCE' })];
    const amountsAt = (rowIndex: number) =>
      invoiceOf({ items }, { rowIndex }).lines.map(({ amount }) => amount);
    expect(amountsAt(0)).toEqual(['196.67']);
    expect(invoiceOf({ items }, { reference: 'period_start' }).lines).toEqual([]);
    expect(amountsAt(2)).toEqual(['300.00']);
  });
});

describe('coupons (14)', () => {
  const eighty = fixedItem('line', { price: flat('80') });
  const withCoupons = (coupons: readonly CouponAssociation[]) =>
    invoiceOf({ items: [eighty], coupons });
  const own = { itemId: 'line' };

  test('line coupons are computed from the full base and take what is left at most', () => {
    const some = withCoupons([coupon('a', percent('10'), own), coupon('b', fixed('5'), own)]);
    expect(some.coupons.map(({ discount }) => discount)).toEqual(['8.00', '5.00']);
    const all = withCoupons([coupon('a', percent('60'), own), coupon('b', percent('60'), own)]);
    expect(all.coupons.map(({ discount }) => discount)).toEqual(['48.00', '32.00']);
    expect(all.totals.total).toBe('0.00');
  });

  test.each([
    [
      ['80', '20'],
      ['8.00', '2.00'],
    ],
    [
      ['10', '10', '10'],
      ['3.34', '3.33', '3.33'],
    ],
  ])('an invoice coupon is divided over lines of %s', (amounts, expected) => {
    const items = amounts.map((amount, index) =>
      fixedItem(`line ${index}`, { createdAt: index, price: flat(amount) }),
    );
    const { lines } = invoiceOf({ items, coupons: [coupon('ten', fixed('10'))] });
    expect(lines.map(({ invoiceDiscount }) => invoiceDiscount)).toEqual(expected);
  });
});
