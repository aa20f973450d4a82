import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalOfCount, plain, sumOf } from '../../../contract/number/decimal.js';
import { providerLines, type LinesToSend } from './provider-lines.js';

const amount = (cents: number) => decimalOfCount(cents).dividedBy(100);

function invoiceOf(cents: readonly number[], beside: readonly number[]) {
  const [discount = 0, credits = 0, tax = 0, paid = 0] = beside;
  const lines = cents.map((one, index) => ({ description: `Line ${index}`, amount: amount(one) }));
  const sum = cents.reduce((left, right) => left + right, 0) - discount - credits + tax;
  return {
    lines,
    totalDiscount: amount(discount),
    creditsApplied: amount(credits),
    totalTax: amount(tax),
    total: amount(Math.max(0, sum)),
    paidAlready: amount(paid),
  } satisfies LinesToSend;
}

const texts = (invoice: LinesToSend, max: number) =>
  providerLines(invoice, max).map(({ description, amount: of }) => `${description} ${plain(of)}`);

describe('the lines of an invoice for a provider', () => {
  it('are its own, and one each for discounts, credits, tax and payments', () => {
    const invoice = invoiceOf([10_000, 5_000], [1_500, 4_000, 2_700]);
    expect(texts(invoice, 250)).toEqual([
      'Line 0 100',
      'Line 1 50',
      'Discounts -15',
      'Prepaid credits -40',
      'Tax 27',
    ]);
    expect(texts(invoiceOf([100], [0, 0, 0]), 250)).toEqual(['Line 0 1']);
    const paid = invoiceOf([12_200], [0, 0, 0, 4_000]);
    expect(texts(paid, 250)).toEqual(['Line 0 122', 'Paid already -40']);
  });

  it('say in one line what is not given back of a negative sum', () => {
    expect(texts(invoiceOf([1_000, -3_000], [0, 0, 0]), 250)).toEqual([
      'Line 0 10',
      'Line 1 -30',
      'Not given back 20',
    ]);
  });

  it('have one with the sum of those that are too many', () => {
    const many = invoiceOf(
      Array.from({ length: 251 }, () => 1),
      [0, 0, 5],
    );
    const sent = texts(many, 250);
    expect(sent).toHaveLength(250);
    expect(sent.slice(-3)).toEqual(['Line 247 0.01', '3 further lines 0.03', 'Tax 0.05']);
  });

  it('add up to the total, and are never more than the provider takes', () => {
    const cents = fc.array(fc.integer({ min: -5_000, max: 100_000 }), { maxLength: 40 });
    const beside = fc.tuple(fc.nat(9_999), fc.nat(9_999), fc.nat(9_999), fc.nat(9_999));
    fc.assert(
      fc.property(cents, beside, fc.integer({ min: 7, max: 30 }), (lines, others, max) => {
        const invoice = invoiceOf(lines, others);
        const sent = providerLines(invoice, max);
        expect(sent.length).toBeLessThanOrEqual(max);
        expect(plain(sumOf(sent.map(({ amount: of }) => of)))).toBe(
          plain(invoice.total.minus(invoice.paidAlready)),
        );
      }),
    );
  });
});
