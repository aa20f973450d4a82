import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, decimalOf, plain } from '../../../contract/number/decimal.js';
import { AssertionFailed } from '../../../runtime/failure.js';
import type { CouponAssociation, CouponTerms } from './adjustments.js';
import { applyCoupons, type CouponResult } from './apply-coupons.js';
import { buildInvoice } from '../invoice/pricing/build-invoice.js';
import type { InvoiceLine } from '../invoice/invoice.js';
import { atLeastZero, formatMoney, sumOfMoney } from '../money/money.js';
import { FIXED_PRICE, JANUARY, day, fixedLine, usd } from '../../testing/invoice-samples.js';

/** Lines of these amounts; `item` numbers them from 0. */
function linesOf(...amounts: string[]): readonly InvoiceLine[] {
  const lineItems = amounts.map((_, index) => fixedLine(`item_${index}`, { price: FIXED_PRICE }));
  const { lines } = buildInvoice({ ...JANUARY, lineItems });
  return lines.map((line, index) => ({ ...line, amount: usd(amounts[index] ?? '0') }));
}

const fixed = (amountOff: string): CouponTerms => ({
  id: 'coupon',
  cadence: 'forever',
  durationInPeriods: null,
  type: 'fixed',
  amountOff: decimalOf(amountOff),
});
const percentage = (percentageOff: string): CouponTerms => ({
  id: 'coupon',
  cadence: 'forever',
  durationInPeriods: null,
  type: 'percentage',
  percentageOff: decimalOf(percentageOff),
});
const coupon = (
  id: string,
  terms: CouponTerms,
  change: Partial<CouponAssociation> = {},
): CouponAssociation => ({
  id,
  coupon: terms,
  lineItemId: null,
  validity: { startMs: day('2026-01-01'), endMs: Infinity },
  applicationCount: 0,
  ...change,
});
const apply = (
  lines: readonly InvoiceLine[],
  ...coupons: CouponAssociation[]
): CouponResult<InvoiceLine> =>
  applyCoupons(lines, { coupons, period: JANUARY.period, currency: 'usd' });
const ofLine = { lineItemId: 'item_0' };
/** `discount of line coupons / discount of invoice coupons` of every line. */
const discounts = (lines: readonly InvoiceLine[], ...coupons: CouponAssociation[]): string[] =>
  apply(lines, ...coupons).lines.map(
    ({ lineItemDiscount, invoiceLevelDiscount }) =>
      `${formatMoney(lineItemDiscount)} / ${formatMoney(invoiceLevelDiscount)}`,
  );

describe('line coupons (14.6)', () => {
  it('line 80 with 10 % and fixed 5: 8 + 5 = 13', () => {
    const coupons = [coupon('a', percentage('10'), ofLine), coupon('b', fixed('5'), ofLine)];
    expect(discounts(linesOf('80'), ...coupons)).toEqual(['13.00 / 0.00']);
    expect(discounts(linesOf('80'), ...coupons.reverse())).toEqual(['13.00 / 0.00']);
  });

  it('line 80 with 60 % and 60 %: 48 + 32 = 80 (34.17)', () => {
    const coupons = [coupon('a', percentage('60'), ofLine), coupon('b', percentage('60'), ofLine)];
    expect(discounts(linesOf('80'), ...coupons)).toEqual(['80.00 / 0.00']);
    const amounts = apply(linesOf('80'), ...coupons).applications.map(({ discountedAmount }) =>
      formatMoney(discountedAmount),
    );
    expect(amounts).toEqual(['48.00', '32.00']);
  });

  it('are of the line item, of all its lines in proportion', () => {
    const lines = linesOf('30', '10', '60');
    const twice = lines.map((line, index) =>
      index === 2 ? { ...line, lineItem: lines[0]?.lineItem ?? null } : line,
    );
    expect(discounts(twice, coupon('a', fixed('9'), ofLine))).toEqual([
      '3.00 / 0.00',
      '0.00 / 0.00',
      '6.00 / 0.00',
    ]);
  });

  it('are rounded once over all lines of the item', () => {
    const lines = linesOf('0.05', '0.05').map((line) => ({
      ...line,
      lineItem: fixedLine('item_0'),
    }));
    // 10 % of 0.10 is 0.01; line by line it would be 0.01 twice.
    expect(discounts(lines, coupon('a', percentage('10'), ofLine))).toEqual([
      '0.01 / 0.00',
      '0.00 / 0.00',
    ]);
  });
});

describe('invoice coupons (14.7)', () => {
  it('lines 80 and 20, fixed 10: 8.00 and 2.00', () => {
    expect(discounts(linesOf('80', '20'), coupon('a', fixed('10')))).toEqual([
      '0.00 / 8.00',
      '0.00 / 2.00',
    ]);
  });

  it('three lines of 10, fixed 10: 3.34, 3.33, 3.33', () => {
    expect(discounts(linesOf('10', '10', '10'), coupon('a', fixed('10')))).toEqual([
      '0.00 / 3.34',
      '0.00 / 3.33',
      '0.00 / 3.33',
    ]);
  });

  it('each is computed from what the earlier ones left, in the order of start, then id', () => {
    const early = { validity: { startMs: day('2025-12-01'), endMs: Infinity } };
    const coupons = [coupon('b', percentage('50')), coupon('z', fixed('20'), early)];
    expect(discounts(linesOf('100'), ...coupons)).toEqual(['0.00 / 60.00']);
    expect(discounts(linesOf('100'), coupon('a', fixed('20')), ...coupons)).toEqual([
      '0.00 / 70.00',
    ]);
  });

  it('come after line coupons, on what those left', () => {
    const coupons = [coupon('a', percentage('50')), coupon('b', fixed('60'), ofLine)];
    expect(discounts(linesOf('100'), ...coupons)).toEqual(['60.00 / 20.00']);
  });
});

describe('discounts (14.5, 14.8)', () => {
  it('never exceed what there is', () => {
    expect(discounts(linesOf('30'), coupon('a', fixed('50')))).toEqual(['0.00 / 30.00']);
    expect(discounts(linesOf('30'), coupon('a', fixed('50'), ofLine))).toEqual(['30.00 / 0.00']);
  });

  it('leave out lines with an amount of 0 or less', () => {
    expect(discounts(linesOf('0', '-20', '40'), coupon('a', percentage('50')))).toEqual([
      '0.00 / 0.00',
      '0.00 / 0.00',
      '0.00 / 20.00',
    ]);
  });

  it('of 0 have no row, and every other one tells before and after', () => {
    const coupons = [coupon('a', percentage('100')), coupon('b', percentage('10'))];
    expect(apply(linesOf('80'), ...coupons).applications).toEqual([
      {
        associationId: 'a',
        couponId: 'coupon',
        lineItemId: null,
        discountType: 'percentage',
        discountPercentage: decimalOf('100'),
        originalPrice: usd('80'),
        discountedAmount: usd('80'),
        finalPrice: usd('0'),
      },
    ]);
  });

  it('tell the base that they were computed from: of a line coupon the full lines', () => {
    const rowsOf = (...coupons: readonly CouponAssociation[]): readonly (readonly string[])[] =>
      apply(linesOf('80'), ...coupons).applications.map((row) =>
        [row.originalPrice, row.discountedAmount, row.finalPrice].map(formatMoney),
      );
    const sixty = percentage('60');
    expect(rowsOf(coupon('a', sixty, ofLine), coupon('b', sixty, ofLine))).toEqual([
      ['80.00', '48.00', '32.00'],
      ['80.00', '32.00', '48.00'],
    ]);
    expect(rowsOf(coupon('a', sixty), coupon('b', sixty))).toEqual([
      ['80.00', '48.00', '32.00'],
      ['32.00', '19.20', '12.80'],
    ]);
  });

  it('are in the trace of their lines, with the base they were computed from', () => {
    const coupons = [coupon('a', percentage('10'), ofLine), coupon('b', fixed('9'))];
    const traces = apply(linesOf('80', '18'), ...coupons).lines.map(({ trace }) => trace.discounts);
    expect(traces).toEqual([
      [
        { couponAssociationId: 'a', base: usd('80'), amount: usd('8') },
        { couponAssociationId: 'b', base: usd('90'), amount: usd('7.2') },
      ],
      [{ couponAssociationId: 'b', base: usd('90'), amount: usd('1.8') }],
    ]);
  });
});

describe('applicability (14.4)', () => {
  const amount = (terms: Partial<CouponTerms>, change: Partial<CouponAssociation>): string =>
    discounts(
      linesOf('100'),
      coupon('a', { ...fixed('10'), ...terms } as CouponTerms, change),
    )[0] ?? '';
  const [yes, no] = ['0.00 / 10.00', '0.00 / 0.00'];

  it.each([
    ['2026-01-31', '2027-01-01', yes],
    ['2025-01-01', '2026-01-02', yes],
    ['2026-02-01', '2027-01-01', no],
    ['2025-01-01', '2026-01-01', no],
  ])('dates %s to %s against January: %s', (start, end, expected) => {
    expect(amount({}, { validity: { startMs: day(start), endMs: day(end) } })).toBe(expected);
  });

  it.each([
    ['once', null, 0, yes],
    ['once', null, 1, no],
    ['repeated', 3, 2, yes],
    ['repeated', 3, 3, no],
    ['forever', null, 99, yes],
  ] as const)(
    '%s, %s periods, applied %i times: %s',
    (...[cadence, durationInPeriods, ...rest]) => {
      const [applicationCount, expected] = rest;
      expect(amount({ cadence, durationInPeriods }, { applicationCount })).toBe(expected);
    },
  );
});

describe('a repeated coupon without its number of periods', () => {
  it('fails, in place of giving no discount', () => {
    const terms: CouponTerms = { ...fixed('5'), cadence: 'repeated', durationInPeriods: null };
    expect(() => apply(linesOf('80'), coupon('a', terms))).toThrow(AssertionFailed);
  });
});

describe('laws', () => {
  const cents = fc.integer({ min: -500, max: 100_000 }).map((of) => new Decimal(of).dividedBy(100));
  const terms = fc.oneof(
    fc.integer({ min: 1, max: 50_000 }).map((of) => fixed(plain(new Decimal(of).dividedBy(100)))),
    fc
      .integer({ min: 1, max: 100_000 })
      .map((of) => percentage(plain(new Decimal(of).dividedBy(1000)))),
  );
  const drawn = fc.record({
    amounts: fc.array(cents, { maxLength: 6 }),
    coupons: fc.array(fc.tuple(terms, fc.option(fc.nat(5))), { maxLength: 5 }),
  });
  const made = ({
    amounts,
    coupons,
  }: {
    amounts: Decimal[];
    coupons: [CouponTerms, number | null][];
  }) => ({
    lines: linesOf(...amounts.map(plain)),
    coupons: coupons.map(([of, index], at) =>
      coupon(`c${at}`, of, { lineItemId: index === null ? null : `item_${index}` }),
    ),
  });

  it('discounts of lines are those of the applications, and no line falls below 0', () => {
    fc.assert(
      fc.property(drawn, (inputs) => {
        const { lines, coupons } = made(inputs);
        const result = apply(lines, ...coupons);
        const taken = result.lines.map((line) =>
          line.lineItemDiscount.plus(line.invoiceLevelDiscount),
        );
        const applied = result.applications.map(({ discountedAmount }) => discountedAmount);
        expect(sumOfMoney(taken, 'usd')).toEqual(sumOfMoney(applied, 'usd'));
        for (const [index, of] of taken.entries()) {
          expect(of.isZero() || of.isAboveZero()).toBe(true);
          const amount = atLeastZero(lines[index]?.amount ?? usd('0'));
          expect(of.comparedTo(amount)).toBeLessThanOrEqual(0);
        }
      }),
    );
  });

  it('the order in which coupons are given changes nothing', () => {
    fc.assert(
      fc.property(drawn, (inputs) => {
        const { lines, coupons } = made(inputs);
        const turned = apply(lines, ...[...coupons].reverse());
        expect(JSON.stringify(turned)).toBe(JSON.stringify(apply(lines, ...coupons)));
      }),
    );
  });
});

describe('fixed discounts that are scaled (25.3)', () => {
  /** A line of this exact amount, which is a share of a full charge. */
  const scaled = (amount: string, coveredMs: number | null): InvoiceLine => {
    const [line] = linesOf(amount) as [InvoiceLine];
    const rounding = { ...line.trace.rounding, exact: decimalOf(amount) };
    const proration = coveredMs === null ? null : { coveredMs, fullMs: 2 };
    return { ...line, trace: { ...line.trace, rounding, proration } };
  };
  const discountOf = (isScaled: boolean, ...lines: readonly InvoiceLine[]): string => {
    const coupons = [coupon('a', fixed('90'))];
    const context = { coupons, period: JANUARY.period, currency: 'usd', isScaled };
    const [application] = applyCoupons(lines, context).applications;
    return application === undefined ? 'none' : formatMoney(application.discountedAmount);
  };

  it.each([
    ['half of full charges: half of 90', [scaled('150', 1), scaled('100', 1)], '45.00'],
    ['full charges: all of it', [scaled('150', null), scaled('100', 2)], '90.00'],
    ['150 of 300 beside 100 of 100: 250 of 400', [scaled('150', 1), scaled('100', null)], '56.25'],
    ['at most what the lines cost', [scaled('30', 1)], '30.00'],
  ] as const)('%s', (_, lines, discount) => {
    expect(discountOf(true, ...lines)).toBe(discount);
  });

  it('are not scaled on any other invoice', () => {
    expect(discountOf(false, scaled('150', 1), scaled('100', 1))).toBe('90.00');
  });
});
