import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, ZERO, decimalOf, plain } from '../../../../contract/number/decimal.js';
import { HOUR_MS } from '../../../../contract/instant.js';
import type { LineCommitment } from '../../commitment/commitment.js';
import type { EntitlementSource } from '../../entitlement/entitlement.js';
import { minorDigitsOf } from '../../money/minor-digits.js';
import { formatMoney, sumOfMoney, type Money } from '../../money/money.js';
import type { LineItem } from '../line-item.js';
import type {
  CouponAssociation,
  PrepaidWallet,
  TaxAssociation,
} from '../../adjustments/adjustments.js';
import { buildInvoice } from './build-invoice.js';
import { payInvoice } from './pay-invoice.js';
import { encodeValue } from '../snapshot/encode-value.js';
import { encodeSnapshot, withOtherWallets } from '../snapshot/invoice-snapshot.js';
import type { InvoiceInputs, InvoiceResult } from '../invoice.js';
import type { LineUsage } from '../../usage/line-usage.js';
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
  usd,
} from '../../../testing/invoice-samples.js';

const ALWAYS = { startMs: 0, endMs: Infinity };
const entitled = (usageLimit: string | null): EntitlementSource => ({
  ...TEN_FREE,
  usageLimit: usageLimit === null ? null : decimalOf(usageLimit),
});
const percentOff = (id: string, percent: string, lineItemId: string | null): CouponAssociation => ({
  id,
  lineItemId,
  validity: ALWAYS,
  applicationCount: 0,
  coupon: {
    id: `coupon_${id}`,
    cadence: 'forever',
    durationInPeriods: null,
    type: 'percentage',
    percentageOff: decimalOf(percent),
  },
});
const tax = (id: string, percent: string): TaxAssociation => ({
  id,
  level: 'customer',
  entityId: 'customer',
  rate: { id: `rate_${id}`, isActive: true, type: 'percentage', percentage: decimalOf(percent) },
  priority: 0,
  currency: null,
  validity: ALWAYS,
  isAutoApplied: false,
});
const wallet = (balance: string, allowed: 'ALL' | 'USAGE'): PrepaidWallet => ({
  id: `wallet_${balance}`,
  balance: decimalOf(balance),
  allowedPriceTypes: [allowed],
  createdAtMs: 0,
});
const usages = (entries: Readonly<Record<string, string>>): ReadonlyMap<string, LineUsage> =>
  new Map(Object.entries(entries).map(([id, usage]) => [id, usageOf(usage)]));
const at = (amount: string): Pick<LineItem, 'price'> => ({
  price: { ...USAGE_PRICE, amount: decimalOf(amount) },
});

describe('totals in the order of the pipeline (13.2)', () => {
  const fixed = fixedLine('base', { price: { ...FIXED_PRICE, amount: decimalOf('50') } });
  const inputs: InvoiceInputs = {
    ...JANUARY,
    lineItems: [usageLine('calls', at('1.00')), fixed],
    usage: usages({ calls: '100' }),
    coupons: [percentOff('c', '10', null)],
    taxes: [tax('t', '20')],
    wallets: [wallet('40', 'USAGE')],
  };

  it('usage 100, fixed 50, 10 % off, 20 % tax, prepaid 40: total 122', () => {
    const { lines, totals, taxes, prepaidDebits } = buildInvoice(inputs);
    const byId = new Map(lines.map((line) => [line.lineItem?.id, line]));
    const usage = byId.get('calls');
    const discounts = [usage, byId.get('base')].map((line) => line?.invoiceLevelDiscount);
    expect(discounts).toEqual([usd('10'), usd('5')]);
    expect(usage?.prepaidCreditsApplied).toEqual(usd('40'));
    expect(taxes[0]?.taxableAmount).toEqual(usd('135'));
    expect(prepaidDebits.map(({ amount }) => formatMoney(amount))).toEqual(['40.00']);
    const shown = Object.entries(totals).map(([name, value]) => `${name} ${formatMoney(value)}`);
    expect(shown).toEqual([
      'subtotal 150.00',
      'totalDiscount 15.00',
      'totalPrepaidCreditsApplied 40.00',
      'totalTax 27.00',
      'adjustmentAmount 0.00',
      'amountPaid 0.00',
      'total 122.00',
      'amountDue 122.00',
      'amountRemaining 122.00',
      'overpaidAmount 0.00',
    ]);
  });

  it('tax is on the amount after discounts and before prepaid credits (34.16)', () => {
    const without = buildInvoice({ ...inputs, wallets: [] }).totals;
    expect([without.totalTax, without.total].map(formatMoney)).toEqual(['27.00', '162.00']);
  });

  it('a line that is hidden keeps its share of nothing', () => {
    const lineItems = [...inputs.lineItems, usageLine('idle')];
    const usage = usages({ calls: '100', idle: '0' });
    const shown = buildInvoice({ ...inputs, lineItems, usage, hideZeroCharges: true });
    expect(shown.lines).toHaveLength(2);
    expect(formatMoney(shown.totals.total)).toBe('122.00');
  });
});

describe('allowance on a line (10.2)', () => {
  const lineOf = (usage: string, limit: string | null, change: Partial<LineItem> = {}) => {
    const lineItems = [usageLine('calls', { ...at('0.10'), ...change })];
    const entitlements = [entitled(limit)];
    return buildInvoice({ ...JANUARY, lineItems, entitlements, usage: usages({ calls: usage }) })
      .lines[0];
  };

  it.each([
    ['500', '200', '500 200 30.00'],
    ['150', '200', '150 150 0.00'],
    ['500', null, '500 500 0.00'],
  ])('of %s used, limit %s: quantity, covered and amount %s', (usage, limit, expected) => {
    const line = lineOf(usage, limit);
    const covered = line?.adjustedEntitlementQuantity;
    expect(
      line && covered && `${plain(line.quantity)} ${plain(covered)} ${formatMoney(line.amount)}`,
    ).toBe(expected);
  });

  it('what remains is priced from zero: tiers start at the first tier (34.4)', () => {
    const tiers = [
      { upTo: 100, unitAmount: decimalOf('0.10'), flatAmount: null },
      { upTo: null, unitAmount: decimalOf('0.01'), flatAmount: null },
    ];
    const price = { ...USAGE_PRICE, billingModel: 'TIERED' as const, tiers };
    const line = lineOf('250', '200', { price });
    expect(line?.amount).toEqual(usd('5.00'));
    expect(line?.trace.pricing?.steps.map(({ tier }) => tier)).toEqual([1]);
  });

  it('without an entitlement nothing is said of it', () => {
    const inputs = { ...JANUARY, lineItems: [usageLine('calls')], usage: usages({ calls: '5' }) };
    expect(buildInvoice(inputs).lines[0]?.adjustedEntitlementQuantity).toBeNull();
  });

  it('lines that differ in filter_values share it in line order', () => {
    const of = (id: string, model: string): LineItem =>
      usageLine(id, {
        price: { ...USAGE_PRICE, amount: decimalOf('1'), filterValues: { model: [model] } },
      });
    const inputs = { ...JANUARY, lineItems: [of('a', 'large'), of('b', 'small')] };
    const usage = usages({ a: '70', b: '50' });
    const { lines } = buildInvoice({ ...inputs, usage, entitlements: [entitled('100')] });
    expect(lines.map(({ amount }) => formatMoney(amount))).toEqual(['0.00', '20.00']);
  });

  it('usage in buckets that its meter does not have is refused, and the other way round', () => {
    const bucketed = usageLine('calls', { meter: { ...METER, bucketSize: 'HOUR' } });
    const usage = usages({ calls: '5' });
    expect(() => buildInvoice({ ...JANUARY, lineItems: [bucketed], usage })).toThrow('buckets');
    const cut = new Map([['calls', { ...usageOf('5'), buckets: [] }]]);
    const lineItems = [usageLine('calls')];
    expect(() => buildInvoice({ ...JANUARY, lineItems, usage: cut })).toThrow('buckets');
  });
});

describe('laws of the whole pipeline', () => {
  const micros = fc.integer({ min: 0, max: 50_000_000 });
  const figure = micros.map((of) => plain(new Decimal(of).dividedBy(10_000)));
  const lineKinds = fc.constantFrom('fixed', 'usage', 'committed', 'windowed');
  const drawn = fc.record({
    currency: fc.constantFrom('usd', 'jpy', 'bhd'),
    items: fc.array(fc.record({ kind: lineKinds, amount: figure, usage: figure, at: fc.nat(2) }), {
      maxLength: 6,
    }),
    limit: fc.option(figure),
    commitment: fc.option(fc.record({ amount: fc.nat(5000), isTrueUpEnabled: fc.boolean() })),
    coupons: fc.array(fc.tuple(fc.integer({ min: 1, max: 100 }), fc.option(fc.nat(5))), {
      maxLength: 3,
    }),
    taxes: fc.array(fc.nat(30), { maxLength: 2 }),
    wallets: fc.array(figure, { maxLength: 2 }),
  });
  type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

  const commitmentOf = (isWindowed: boolean): LineCommitment => ({
    terms: {
      type: 'amount',
      value: decimalOf(isWindowed ? '0.37' : '250'),
      overageFactor: decimalOf('1.3'),
      isTrueUpEnabled: true,
    },
    isWindowed,
    duration: null,
    timeBuckets: [],
  });
  const startMs = day('2026-01-31') + 60_000;

  /** A windowed line covers the last day; its usage is in three hours of it, given backwards. */
  function itemOf({ kind, amount, at: created }: Drawn['items'][number], id: string): LineItem {
    const createdAtMs = created;
    const price = { ...USAGE_PRICE, amount: decimalOf(amount) };
    switch (kind) {
      case 'fixed':
        return fixedLine(id, { createdAtMs, price: { ...FIXED_PRICE, amount: decimalOf(amount) } });
      case 'usage':
        return usageLine(id, { createdAtMs, price });
      case 'committed':
        return usageLine(id, { createdAtMs, price, commitment: commitmentOf(false) });
      case 'windowed': {
        const meter = { ...METER, id: 'hourly', bucketSize: 'HOUR' as const };
        return usageLine(id, {
          createdAtMs,
          price,
          meter,
          startMs,
          commitment: commitmentOf(true),
        });
      }
    }
  }

  function usageOfItem({ kind, usage }: Drawn['items'][number]): LineUsage {
    if (kind !== 'windowed') return usageOf(usage);
    const third = decimalOf(usage).dividedBy(4);
    const hours = [20, 7, 3].map((hour) => day('2026-01-31') + hour * HOUR_MS);
    const buckets = hours.map((start) => ({
      startMs: start,
      endMs: start + HOUR_MS,
      groups: ['b', 'a'].map((text) => ({ text, usage: third, eventCount: 1 })),
    }));
    return { ...usageOf(plain(third.times(6))), buckets };
  }

  function inputsOf(of: Drawn): InvoiceInputs {
    const hasLineCommitment = of.items.some(
      ({ kind }) => kind === 'committed' || kind === 'windowed',
    );
    const commitment =
      of.commitment === null || hasLineCommitment
        ? null
        : {
            amount: new Decimal(of.commitment.amount),
            overageFactor: decimalOf('1.5'),
            isTrueUpEnabled: of.commitment.isTrueUpEnabled,
            duration: null,
            planId: 'plan_1',
            planDisplayName: 'Pro',
          };
    return {
      ...JANUARY,
      subscription: { ...MONTHLY, currency: of.currency, commitment },
      lineItems: of.items.map((item, index) => itemOf(item, `item_${index}`)),
      entitlements: of.limit === null ? [] : [entitled(of.limit)],
      usage: new Map(of.items.map((item, index) => [`item_${index}`, usageOfItem(item)])),
      coupons: of.coupons.map(([percent, item], index) =>
        percentOff(`c${index}`, String(percent), item === null ? null : `item_${item}`),
      ),
      taxes: of.taxes.map((percent, index) => tax(`t${index}`, String(percent))),
      wallets: of.wallets.map((balance, index) => ({ ...wallet(balance, 'ALL'), id: `w${index}` })),
    };
  }

  const check = (holds: (result: InvoiceResult, inputs: InvoiceInputs) => void): void => {
    fc.assert(
      fc.property(drawn, (of) => {
        const inputs = inputsOf(of);
        holds(buildInvoice(inputs), inputs);
      }),
      { numRuns: 150 },
    );
  };

  it('lines add up to every total, in whole minor units (RND-1, RND-4)', () => {
    check(({ lines, totals, taxes, couponApplications, prepaidDebits, currency }) => {
      const sum = (amounts: readonly Money[]): Money => sumOfMoney(amounts, currency);
      expect(sum(lines.map(({ amount }) => amount))).toEqual(totals.subtotal);
      const discounts = lines.flatMap((line) => [line.lineItemDiscount, line.invoiceLevelDiscount]);
      expect(sum(discounts)).toEqual(totals.totalDiscount);
      const applied = couponApplications.map(({ discountedAmount }) => discountedAmount);
      expect(sum(applied)).toEqual(totals.totalDiscount);
      const credits = lines.map(({ prepaidCreditsApplied }) => prepaidCreditsApplied);
      expect(sum(credits)).toEqual(totals.totalPrepaidCreditsApplied);
      expect(sum(prepaidDebits.map(({ amount }) => amount))).toEqual(sum(credits));
      expect(sum(taxes.map(({ taxAmount }) => taxAmount))).toEqual(totals.totalTax);
      const figures = [...lines.map(({ amount }) => amount), ...discounts, ...credits];
      for (const value of [...figures, ...Object.values(totals)]) {
        expect(value.value.decimalPlaces()).toBeLessThanOrEqual(minorDigitsOf(currency));
        expect(value.isZero() || value.isAboveZero()).toBe(true);
      }
    });
  });

  it('a committed line is utilized + overage + true-up', () => {
    check(({ lines }) => {
      for (const { commitmentInfo: info, amount } of lines) {
        if (info === null) continue;
        expect(info.utilized.plus(info.overage).plus(info.trueUp)).toEqual(amount);
      }
    });
  });

  it('a true-up fills the commitment of the subscription exactly', () => {
    check(({ lines }, { subscription }) => {
      const trueUp = lines.find(({ kind }) => kind === 'true_up');
      if (trueUp === undefined) return;
      const within = lines.filter((line) => line.trace.commitment !== null);
      const committed = subscription.commitment?.amount ?? ZERO;
      const amounts = within.map(({ amount }) => amount);
      expect(sumOfMoney(amounts, subscription.currency).value).toEqual(committed);
    });
  });

  it('the order in which anything is given changes nothing: the same bytes', () => {
    const turned = <T>(items: readonly T[]): T[] => [...items].reverse();
    check((result, inputs) => {
      const usage = [...inputs.usage].map(([id, of]): [string, LineUsage] => {
        const buckets = of.buckets?.map((one) => ({ ...one, groups: turned(one.groups) }));
        return [id, { ...of, buckets: buckets === undefined ? null : turned(buckets) }];
      });
      const again = buildInvoice({
        ...inputs,
        lineItems: turned(inputs.lineItems),
        coupons: turned(inputs.coupons),
        taxes: turned(inputs.taxes),
        wallets: turned(inputs.wallets),
        usage: new Map(turned(usage)),
      });
      expect(JSON.stringify(again)).toBe(JSON.stringify(result));
    });
  });

  it('wallets that pay afterwards pay what they would have paid at once: the same bytes', () => {
    check((result, inputs) => {
      const unpaid = buildInvoice({ ...inputs, wallets: [] });
      const paid = payInvoice(unpaid, inputs.wallets);
      expect(JSON.stringify(encodeValue(paid))).toBe(JSON.stringify(encodeValue(result)));
      const snapshot = { rulesVersion: 1, timeZoneData: '2026a', watermark: null };
      const text = encodeSnapshot({ ...snapshot, inputs: { ...inputs, wallets: [] } });
      expect(withOtherWallets(text, inputs.wallets)).toBe(encodeSnapshot({ ...snapshot, inputs }));
    });
  });

  it('more usage never costs less at a price per unit', () => {
    check((result, inputs) => {
      // Where lines are rounded one by one up to the commitment and together from there on, a total
      // may fall by cents; before rounding it does not (see the walk of the commitment).
      if (inputs.subscription.commitment !== null) return;
      const usage = new Map(
        [...inputs.usage].map(([id, of]) => [
          id,
          of.buckets === null ? { ...of, usage: of.usage.plus(7) } : of,
        ]),
      );
      const more = buildInvoice({ ...inputs, usage }).totals.subtotal;
      expect(more.comparedTo(result.totals.subtotal)).toBeGreaterThanOrEqual(0);
    });
  });
});
