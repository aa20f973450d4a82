import { describe, expect, it } from 'vitest';
import { decimalOf, plain, ZERO, type Decimal } from '../../../../contract/number/decimal.js';
import { readRules, sectionOf } from '../../../../load-tests/harness/pages.js';
import {
  JANUARY,
  TEN_FREE,
  USAGE_PRICE,
  day,
  subscriptionOf,
  usageLine,
  usageOf,
} from '../../../testing/invoice-samples.js';
import type { CouponAssociation } from '../../adjustments/adjustments.js';
import { formatMoney } from '../../money/money.js';
import type { Price } from '../../price/price.js';
import type { ChargedLine, InvoiceInputs, InvoiceLine, InvoiceResult } from '../invoice.js';
import { buildInvoice } from './build-invoice.js';

const unit = (amount: string): Price => ({ ...USAGE_PRICE, amount: decimalOf(amount) });

const tiered = (tierMode: Price['tierMode']): Price => ({
  ...USAGE_PRICE,
  billingModel: 'TIERED',
  tierMode,
  tiers: [
    { upTo: 100, unitAmount: decimalOf('1'), flatAmount: ZERO },
    { upTo: null, unitAmount: decimalOf('0.5'), flatAmount: ZERO },
  ],
});

const coupon = (
  terms:
    | { readonly type: 'percentage'; readonly percentageOff: Decimal }
    | { readonly type: 'fixed'; readonly amountOff: Decimal },
): CouponAssociation => ({
  id: 'association',
  lineItemId: null,
  validity: { startMs: 0, endMs: Infinity },
  applicationCount: 0,
  coupon: { id: 'coupon', cadence: 'forever', durationInPeriods: null, ...terms },
});

const withPrice = (price: Price): Partial<InvoiceInputs> => ({
  lineItems: [usageLine('calls', { price })],
});

/** What the rows of the table of docs/domain.md 13.8 say of the terms. */
const TERMS: Readonly<Record<string, Partial<InvoiceInputs>>> = {
  '0.25 a unit': withPrice(unit('0.25')),
  'tiers of 1.00 to 100 and 0.50 beyond': withPrice(tiered('SLAB')),
  'all at 1.00 to 100, all at 0.50 beyond': withPrice(tiered('VOLUME')),
  '1.00 a unit, 100 free': {
    ...withPrice(unit('1')),
    entitlements: [{ ...TEN_FREE, usageLimit: decimalOf('100') }],
  },
  '1.00 a unit, commitment of the line 100, factor 1.5, true-up': {
    lineItems: [
      usageLine('calls', {
        price: unit('1'),
        commitment: {
          terms: {
            type: 'amount',
            value: decimalOf('100'),
            overageFactor: decimalOf('1.5'),
            isTrueUpEnabled: true,
          },
          isWindowed: false,
          duration: null,
          timeBuckets: [],
        },
      }),
    ],
  },
  '1.00 a unit, at most 20.00': withPrice({ ...unit('1'), maxAmount: decimalOf('20') }),
  '1.00 a unit, coupon of 10 %': {
    ...withPrice(unit('1')),
    coupons: [coupon({ type: 'percentage', percentageOff: decimalOf('10') })],
  },
  '1.00 a unit, coupon of 25.00': {
    ...withPrice(unit('1')),
    coupons: [coupon({ type: 'fixed', amountOff: decimalOf('25') })],
  },
};

/** The rows below the header of the table of 13.8. */
function rowsOfPage(): readonly (readonly string[])[] {
  const lines = sectionOf(readRules(), '13.8')
    .split('\n')
    .filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) => line.slice(2, -2).split(' | '));
}

const inputsOf = (terms: Partial<InvoiceInputs>, quantity: string): InvoiceInputs => ({
  ...JANUARY,
  ...terms,
  usage: new Map([['calls', usageOf(quantity)]]),
});

const netOf = (line: InvoiceLine) =>
  line.amount.minus(line.lineItemDiscount).minus(line.invoiceLevelDiscount).value;

/** What an invoice charged for its own lines, as it is read from its rows. */
function chargedOf({ lines }: InvoiceResult, invoiceId: string): readonly ChargedLine[] {
  return lines.map((line) => ({
    invoiceId,
    displayName: line.displayName,
    kind: line.kind,
    lineItemId: line.lineItem?.id ?? null,
    childId: null,
    startMs: line.period.startMs,
    quantity: line.quantity,
    amount: netOf(line),
    committed: ZERO,
  }));
}

/** February, which charges what came late of January. */
function february(
  terms: Partial<InvoiceInputs>,
  {
    charged,
    known,
    leastAmount = '0',
    usage = '0',
  }: {
    readonly charged: readonly ChargedLine[];
    readonly known: string;
    readonly leastAmount?: string;
    readonly usage?: string;
  },
): InvoiceResult {
  return buildInvoice({
    ...inputsOf(terms, usage),
    period: { startMs: day('2026-02-01'), endMs: day('2026-03-01') },
    coupons: [],
    late: [
      {
        invoiceId: 'january',
        invoiceNumber: 'INV-1',
        countedBelow: [],
        inputs: inputsOf(terms, known),
        charged,
        leastAmount: decimalOf(leastAmount),
      },
    ],
  });
}

const lateOf = ({ lines }: InvoiceResult): readonly InvoiceLine[] =>
  lines.filter(({ late }) => late !== undefined);

describe('late usage', () => {
  const rows = rowsOfPage();

  it('has every row of docs/domain.md 13.8', () => {
    expect(rows.map(([terms]) => terms)).toEqual(Object.keys(TERMS));
  });

  it.each(rows.map((row) => [row[0], row] as const))('of %s', (name, row) => {
    const [, counted = '', known = '', charged = '', cost, more] = row;
    const terms = TERMS[name ?? ''] ?? {};
    const january = buildInvoice(inputsOf(terms, counted));
    const lines = chargedOf(january, 'january');
    expect(plain(lines.reduce((sum, one) => sum.plus(one.amount), ZERO))).toBe(
      plain(decimalOf(charged)),
    );
    // Enough beside it that a difference below 0 is given back as a whole.
    const usage = '40';
    const [late, ...others] = lateOf(february(terms, { charged: lines, known, usage }));
    expect(others).toEqual([]);
    expect(late === undefined ? null : formatMoney(late.amount)).toBe(more);
    const { cost: told, chargedBefore } = late?.trace.late ?? {};
    expect([told, chargedBefore].map((one) => one && formatMoney(one))).toEqual([cost, charged]);
    expect(late === undefined ? null : plain(late.quantity)).toBe(
      plain(decimalOf(known).minus(decimalOf(counted))),
    );
  });

  const perUnit = TERMS['0.25 a unit'] ?? {};
  const ten = chargedOf(buildInvoice(inputsOf(perUnit, '10')), 'january');

  it.each([
    ['below', '22.51', 0],
    ['at', '22.50', 1],
    ['above', '22.49', 1],
  ])('is charged when the least amount is %s the difference', (_, leastAmount, count) => {
    expect(lateOf(february(perUnit, { charged: ten, known: '100', leastAmount }))).toHaveLength(
      count,
    );
  });

  it('gives back no more than the other lines leave, and keeps what waits', () => {
    const hundred = chargedOf(buildInvoice(inputsOf(perUnit, '100')), 'january');
    const invoice = february(perUnit, { charged: hundred, known: '10', usage: '4' });
    const [late] = lateOf(invoice);
    expect([late?.amount, late?.trace.late?.waiting].map((one) => one && formatMoney(one))).toEqual(
      ['-1.00', '-21.50'],
    );
    expect(formatMoney(invoice.totals.total)).toBe('0.00');
  });

  it('lowers the true-up of the subscription by what it adds', () => {
    const commitment = {
      amount: decimalOf('100'),
      overageFactor: decimalOf('1'),
      isTrueUpEnabled: true,
      isMinimum: true,
      duration: null,
      planId: 'plan_1',
      planDisplayName: 'Pro',
    } as const;
    const terms = { ...withPrice(unit('1')), subscription: subscriptionOf({ commitment }) };
    const charged = chargedOf(buildInvoice(inputsOf(terms, '60')), 'january');
    const invoice = february(terms, { charged, known: '80', usage: '150' });
    expect(lateOf(invoice).map(({ kind, amount }) => [kind, formatMoney(amount)])).toEqual([
      ['charge', '20.00'],
      ['true_up', '-20.00'],
    ]);
  });

  it('is taken off an invoice in the place of another, as far as later ones charged it', () => {
    const late = lateOf(february(perUnit, { charged: ten, known: '100' }));
    const chargedLate = chargedOf({ lines: late } as InvoiceResult, 'january');
    const replacement = buildInvoice({ ...inputsOf(perUnit, '100'), chargedLate });
    expect(replacement.lines.map(({ amount }) => formatMoney(amount))).toEqual(['25.00', '-22.50']);
    expect(formatMoney(replacement.totals.total)).toBe('2.50');
  });
});
