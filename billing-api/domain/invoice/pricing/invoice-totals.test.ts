import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '../../../../contract/number/decimal.js';
import { invoiceTotals } from './invoice-totals.js';
import type { TotalsInputs } from './invoice-totals.js';
import { Money, formatMoney } from '../../money/money.js';
import { usd } from '../../../testing/invoice-samples.js';

const NOTHING: TotalsInputs = {
  subtotal: usd('0'),
  totalDiscount: usd('0'),
  totalPrepaidCreditsApplied: usd('0'),
  totalTax: usd('0'),
  adjustmentAmount: usd('0'),
  amountPaid: usd('0'),
};
const figures = (change: Partial<Record<keyof TotalsInputs, string>>): Record<string, string> => {
  const given = Object.entries(change).map(([name, text]) => [name, usd(text)]);
  const totals = invoiceTotals({ ...NOTHING, ...Object.fromEntries(given) });
  return Object.fromEntries(
    Object.entries(totals).map(([name, value]) => [name, formatMoney(value)]),
  );
};

describe('invoiceTotals (13.2)', () => {
  it('150 − 15 − 40 + 27 is 122', () => {
    expect(
      figures({
        subtotal: '150',
        totalDiscount: '15',
        totalPrepaidCreditsApplied: '40',
        totalTax: '27',
      }),
    ).toMatchObject({ subtotal: '150.00', total: '122.00', amountDue: '122.00' });
  });

  it('never has a negative total', () => {
    expect(figures({ subtotal: '10', totalDiscount: '15' })['total']).toBe('0.00');
  });

  it('lowers what is due by the adjustment, and what remains by the payment', () => {
    expect(figures({ subtotal: '100', adjustmentAmount: '30', amountPaid: '50' })).toMatchObject({
      total: '100.00',
      amountDue: '70.00',
      amountRemaining: '20.00',
      overpaidAmount: '0.00',
    });
  });

  it('shows what was paid too much', () => {
    expect(figures({ subtotal: '100', amountPaid: '120' })).toMatchObject({
      amountRemaining: '0.00',
      overpaidAmount: '20.00',
    });
  });

  it('never loses a cent between due, paid, remaining and overpaid', () => {
    const money = fc
      .integer({ min: 0, max: 10_000_000 })
      .map((units) => new Money<string>(new Decimal(units).div(100), 'usd'));
    fc.assert(
      fc.property(money, money, money, (subtotal, adjustmentAmount, amountPaid) => {
        const totals = invoiceTotals({ ...NOTHING, subtotal, adjustmentAmount, amountPaid });
        const { amountDue, amountRemaining, overpaidAmount } = totals;
        const balance = amountRemaining.minus(overpaidAmount);
        fc.pre(!amountDue.value.isNegative());
        expect(balance).toEqual(amountDue.minus(amountPaid));
      }),
    );
  });
});
