import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, ZERO, decimalOf, plain } from '../../../contract/number/decimal.js';
import type { PrepaidWallet } from './adjustments.js';
import { applyPrepaidCredits } from './apply-prepaid-credits.js';
import { buildInvoice } from '../invoice/pricing/build-invoice.js';
import type { InvoiceLine } from '../invoice/invoice.js';
import { atLeastZero, formatMoney, sumOfMoney } from '../money/money.js';
import { JANUARY, fixedLine, usageLine, usageOf, usd } from '../../testing/invoice-samples.js';

/** A usage line or a fixed one, with an amount and a discount. */
type Sample = readonly [type: 'USAGE' | 'FIXED', amount: string, discount?: string];

function linesOf(...samples: readonly Sample[]): readonly InvoiceLine[] {
  const lineItems = samples.map(([type], index) =>
    type === 'USAGE' ? usageLine(`${index}`) : fixedLine(`${index}`),
  );
  const usage = new Map(lineItems.map(({ id }) => [id, usageOf('0')]));
  return buildInvoice({ ...JANUARY, lineItems, usage }).lines.map((line, index) => ({
    ...line,
    amount: usd(samples[index]?.[1] ?? '0'),
    invoiceLevelDiscount: usd(samples[index]?.[2] ?? '0'),
  }));
}

const wallet = (
  id: string,
  balance: string,
  change: Partial<PrepaidWallet> = {},
): PrepaidWallet => ({
  id,
  balance: decimalOf(balance),
  allowedPriceTypes: ['ALL'],
  createdAtMs: 0,
  ...change,
});
const USAGE_ONLY = { allowedPriceTypes: ['USAGE'] as const };

function pay(lines: readonly InvoiceLine[], ...wallets: PrepaidWallet[]) {
  const limit = lines.reduce(
    (sum, line) => sum.plus(line.amount).minus(line.invoiceLevelDiscount),
    usd('0'),
  );
  return applyPrepaidCredits(lines, { wallets, limit });
}
const applied = (lines: readonly InvoiceLine[], ...wallets: PrepaidWallet[]): string[] =>
  pay(lines, ...wallets).lines.map(({ prepaidCreditsApplied }) =>
    formatMoney(prepaidCreditsApplied),
  );
const debits = (lines: readonly InvoiceLine[], ...wallets: PrepaidWallet[]): string[] =>
  pay(lines, ...wallets).debits.map(({ walletId, amount }) => `${walletId} ${formatMoney(amount)}`);

describe('prepaid credits (20.7)', () => {
  it('min(40, 100 − 10) on usage: 40 (13.2)', () => {
    const lines = linesOf(['USAGE', '100', '10'], ['FIXED', '50', '5']);
    expect(applied(lines, wallet('w', '40', USAGE_ONLY))).toEqual(['40.00', '0.00']);
    expect(applied(lines, wallet('w', '400', USAGE_ONLY))).toEqual(['90.00', '0.00']);
  });

  it('pay usage lines first, then the others in order', () => {
    const lines = linesOf(['FIXED', '50'], ['USAGE', '30'], ['FIXED', '20']);
    expect(applied(lines, wallet('w', '90'))).toEqual(['50.00', '30.00', '10.00']);
  });

  it('pay lines of the allowed types only', () => {
    const lines = linesOf(['FIXED', '50'], ['USAGE', '30']);
    const fixedOnly = { allowedPriceTypes: ['FIXED'] as const };
    expect(applied(lines, wallet('w', '90', fixedOnly))).toEqual(['50.00', '0.00']);
  });

  it('come from the greatest balance first, then from the oldest wallet', () => {
    const lines = linesOf(['USAGE', '30']);
    expect(debits(lines, wallet('a', '20'), wallet('b', '25'))).toEqual(['b 25.00', 'a 5.00']);
    const old = { createdAtMs: -1 };
    expect(debits(lines, wallet('a', '20'), wallet('b', '20', old))).toEqual([
      'b 20.00',
      'a 10.00',
    ]);
  });

  it('are whole minor units: what a wallet can pay is rounded down', () => {
    expect(debits(linesOf(['USAGE', '30']), wallet('a', '10.019'))).toEqual(['a 10.01']);
  });

  it('come from no empty or overdrawn wallet', () => {
    expect(debits(linesOf(['USAGE', '30']), wallet('a', '0'), wallet('b', '-5'))).toEqual([]);
  });

  it('pay no line of 0 or less, and in all no more than the invoice comes to', () => {
    const lines = linesOf(['USAGE', '100'], ['FIXED', '-30']);
    expect(applied(lines, wallet('w', '500'))).toEqual(['70.00', '0.00']);
  });
});

describe('laws', () => {
  const money = fc
    .integer({ min: -2000, max: 20_000 })
    .map((of) => plain(new Decimal(of).dividedBy(100)));
  const samples = fc.array(fc.tuple(fc.constantFrom('USAGE' as const, 'FIXED' as const), money), {
    maxLength: 5,
  });
  const wallets = fc.array(
    fc.tuple(money, fc.constantFrom('ALL' as const, 'USAGE' as const, 'FIXED' as const)),
    { maxLength: 3 },
  );

  it('lines take what the wallets pay, never more than they need or have', () => {
    fc.assert(
      fc.property(samples, wallets, (of, from) => {
        const lines = linesOf(...of);
        const payers = from.map(([balance, type], index) =>
          wallet(`${index}`, balance, { allowedPriceTypes: [type] }),
        );
        const result = pay(lines, ...payers);
        const taken = result.lines.map(({ prepaidCreditsApplied }) => prepaidCreditsApplied);
        const paid = result.debits.map(({ amount }) => amount);
        expect(sumOfMoney(taken, 'usd')).toEqual(sumOfMoney(paid, 'usd'));
        for (const line of result.lines) {
          const need = atLeastZero(line.amount);
          expect(line.prepaidCreditsApplied.comparedTo(need)).toBeLessThanOrEqual(0);
        }
        for (const { walletId, amount } of result.debits) {
          const payer = payers.find(({ id }) => id === walletId);
          expect(amount.value.lessThanOrEqualTo(payer?.balance ?? ZERO)).toBe(true);
        }
      }),
    );
  });
});
