import { describe, expect, test } from 'vitest';
import { calls, fixedItem, flat, invoiceOf, plainMeter, usageItem } from './plain-subscription.js';
import type { CouponAssociation, OnetimeItem, TaxRate, Wallet } from './subscription.js';
import { taxesThatApply } from './taxes.js';

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

describe('which taxes apply (15)', () => {
  const ids = (...taxes: TaxRate[]): string[] => taxesThatApply(taxes).map(({ id }) => id);

  test('those of the invoice and of the most specific level that has any, each rate once', () => {
    const ofCustomer = tax('5', { id: 'customer', rateId: 'customer', level: 'customer' });
    const ofInvoice = tax('5', { id: 'invoice', rateId: 'invoice', level: 'invoice' });
    expect(ids(ofCustomer, tax('20'), tax('20', { id: 'again' }), ofInvoice)).toEqual([
      'tax',
      'invoice',
    ]);
    expect(ids(ofCustomer, tax('20', { isActive: false }))).toEqual([]);
  });

  test('those of a tenant only with auto_apply', () => {
    expect(ids(tax('20', { level: 'tenant' }))).toEqual([]);
    expect(ids(tax('20', { level: 'tenant', isAutoApplied: true }))).toEqual(['tax']);
  });
});

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

  test('a cycle invoice holds arrears of its period and advances of the next', () => {
    const items = [fixedItem('ahead', { cadence: 'ADVANCE' }), fixedItem('behind'), usage];
    const { lines } = invoiceOf({ items });
    expect(lines.map(({ itemId, periodStart }) => [itemId, periodStart.slice(0, 10)])).toEqual([
      ['ahead', '2026-02-01'],
      ['behind', '2026-01-01'],
      ['usage', '2026-01-01'],
    ]);
    const ended = invoiceOf({ items, end: Date.parse('2026-02-01T00:00Z') });
    expect(ended.lines.map(({ itemId }) => itemId)).toEqual(['behind', 'usage']);
  });

  test('a line of a longer period is billed when its own period begins or ends', () => {
    const quarter = { period: 'QUARTERLY', count: 1 } as const;
    const items = [
      fixedItem('ahead', { cadence: 'ADVANCE', length: quarter }),
      fixedItem('behind', { length: quarter }),
    ];
    const idsOf = (rowIndex: number): readonly (string | null)[] =>
      invoiceOf({ items }, { rowIndex }).lines.map(({ itemId }) => itemId);
    expect([idsOf(0), idsOf(1), idsOf(2)]).toEqual([[], [], ['ahead', 'behind']]);
  });

  test('a part of a period that was added waits for the next invoice', () => {
    const start = Date.parse('2026-01-16T00:00Z');
    const items = [fixedItem('added', { cadence: 'ADVANCE', start })];
    expect(invoiceOf({ items }).lines.map(({ amount }) => amount)).toEqual(['51.61', '100.00']);
  });

  test('a line that was charged already is left out', () => {
    const onetime: OnetimeItem = {
      id: 'once',
      type: 'ONETIME',
      createdAt: 0,
      price: flat('7'),
      start: Date.parse('2026-01-05T00:00Z'),
      end: null,
      quantity: '1',
    };
    const items = [onetime, usage];
    const period = { start: Date.UTC(2026, 0, 31), end: Date.UTC(2026, 1) };
    const lines = items.map(({ id }) => ({
      itemId: id,
      ...period,
      inCommitment: '0',
      utilized: '0',
    }));
    const earlier = [{ period, lines, appliedCouponIds: [] }];
    expect(invoiceOf({ items }).lines.map(({ amount }) => amount)).toEqual(['7.00', '0.00']);
    expect(invoiceOf({ items }, { earlier }).lines).toEqual([]);
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

  test('a coupon ends with its dates and its applications', () => {
    const end = Date.parse('2026-01-01T00:00Z');
    expect(withCoupons([coupon('over', percent('10'), { end })]).coupons).toEqual([]);
    const earlier = [{ period: { start: 0, end: 1 }, lines: [], appliedCouponIds: ['once'] }];
    const once = coupon('once', percent('10'), { applicationsMax: 1 });
    expect(withCoupons([once]).coupons).toHaveLength(1);
    expect(invoiceOf({ items: [eighty], coupons: [once] }, { earlier }).coupons).toEqual([]);
  });
});

describe('prepaid wallets (20.7)', () => {
  test('the greatest balance pays first what it may, cut to the smallest unit', () => {
    const items = [fixedItem('fixed', { price: flat('30') }), usage];
    const wallets = [
      wallet('10.019', { id: 'a', allowed: 'FIXED' }),
      wallet('50', { id: 'b', allowed: 'USAGE', conversionRate: '0.5' }),
    ];
    const { lines } = invoiceOf({ items, events: calls(['2026-01-10T00:00Z', '100']), wallets });
    expect(lines.map(({ prepaidCredits }) => prepaidCredits)).toEqual(['10.01', '25.00']);
  });
});
