import { describe, expect, it } from 'vitest';
import { Decimal, plain, ZERO } from '../../../contract/number/decimal.js';
import { refundableOf, shareOfCredits, splitRefund, undoneRefund } from './refundable.js';

const sumsOf = (due: string, paid: string, others: Record<string, string> = {}) => ({
  amountDue: new Decimal(due),
  amountPaid: new Decimal(paid),
  prepaid: new Decimal(others['prepaid'] ?? 0),
  refunded: new Decimal(others['refunded'] ?? 0),
  credited: new Decimal(others['credited'] ?? 0),
});

describe('money that goes back of a payment', () => {
  it.for([
    ['all was paid for the invoice', '100', sumsOf('100', '100'), '0 100 0'],
    ['30 were paid too much', '30', sumsOf('122', '152'), '30 0 0'],
    ['more goes back than was too much', '50', sumsOf('122', '152'), '30 20 0'],
    [
      'unused time was credited',
      '100',
      sumsOf('100', '100', { credited: '51.61' }),
      '0 48.39 51.61',
    ],
    [
      'a wallet paid a part of what was credited',
      '60',
      sumsOf('60', '60', { prepaid: '40', credited: '51.61' }),
      '0 48.39 11.61',
    ],
    ['notes have given back a part', '122', sumsOf('122', '122', { refunded: '50' }), '0 72 50'],
    [
      'the unused time of an unpaid invoice was credited',
      '300',
      sumsOf('1200', '300', { credited: '1150.68' }),
      '0 0 300',
    ],
    ['the invoice was adjusted while it was charged', '122', sumsOf('72', '122'), '50 72 0'],
    [
      'too much was paid, and all was given back',
      '1',
      sumsOf('10', '12', { refunded: '12' }),
      '0 0 1',
    ],
  ] as const)('%s', ([, amount, sums, shares]) => {
    const { overpaid, ofInvoice, ofCustomer } = splitRefund(new Decimal(amount), sums);
    expect([overpaid, ofInvoice, ofCustomer].map(plain).join(' ')).toBe(shares);
  });

  it('is never more than an invoice has', () => {
    const { overpaid, ofInvoice } = refundableOf(sumsOf('100', '0', { credited: '10' }));
    expect([plain(overpaid), plain(ofInvoice)]).toEqual(['0', '0']);
  });
});

describe('money that comes in after a refund', () => {
  it.for([
    ['22', '22', '20', '0'],
    ['30', '22', '20', '8'],
    ['50', '22', '20', '20'],
    ['122', '0', '122', '122'],
  ] as const)(
    'of %s with %s left to pay and %s refunded undoes %s',
    ([amount, remaining, refunded, undone]) => {
      const sums = {
        remaining: new Decimal(remaining),
        refundedByPayments: new Decimal(refunded),
      };
      expect(plain(undoneRefund(new Decimal(amount), sums))).toBe(undone);
    },
  );
});

describe('sold credits', () => {
  it('go back with their price, and the last part takes what is left', () => {
    let left = new Decimal(100);
    for (const [amount, of] of [
      ['1', '3'],
      ['1', '2'],
      ['1', '1'],
    ] as const) {
      left = left.minus(shareOfCredits(left, { amount: new Decimal(amount), of: new Decimal(of) }));
    }
    expect(left.equals(ZERO)).toBe(true);
    const third = shareOfCredits(new Decimal(100), { amount: new Decimal(1), of: new Decimal(3) });
    expect(plain(third)).toBe('33.333333333333');
  });
});
