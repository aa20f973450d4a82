import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Decimal, sumOf } from '../../../contract/number/decimal.js';
import { creditableOf, type CreditedLine } from './creditable.js';

const linesOf = (...pairs: readonly (readonly [net: string, taken: string])[]) =>
  pairs.map(([net, taken]) => ({ net: new Decimal(net), taken: new Decimal(taken) }));
const mostOf = (tax: string, lines: readonly CreditedLine[], index: number) =>
  creditableOf({ tax: new Decimal(tax), currency: 'usd' }, lines, lines[index] as CreditedLine);

describe('what notes may take of a line', () => {
  test.for([
    ['its share of the taxes is rounded up', ['0', '0'], '82', '82'],
    ['the last line has what is left', ['82', '0'], '82', '81.99'],
    ['also when the other has not its odd cent', ['81.99', '0'], '82', '82'],
    ['less than its cost is left of it', ['0', '50'], '82', '32'],
  ] as const)('%s', ([, [first, second], cost, most]) => {
    const lines = linesOf(['68.33', first], ['68.33', second]);
    const found = mostOf('27.33', lines, 1);
    expect([found.cost.toFixed(), found.most.toFixed()]).toEqual([cost, most]);
  });

  test('an exact share has no odd cent, and a line without a price nothing', () => {
    const lines = linesOf(['9', '0'], ['0', '0'], ['-5', '0']);
    expect(mostOf('0.90', lines, 0).most.toFixed()).toBe('9.9');
    expect(mostOf('0.90', lines, 1).most.toFixed()).toBe('0');
    expect(mostOf('0.90', lines, 2).most.toFixed()).toBe('0');
    expect(mostOf('0', linesOf(['0', '0']), 0).most.toFixed()).toBe('0');
  });

  test.for([
    ['jpy', 1],
    ['usd', 100],
    ['kwd', 1000],
  ] as const)('notes of any order add up to the invoice in %s', ([currency, units]) => {
    const amount = fc.integer({ min: 0, max: 10_000 });
    fc.assert(
      fc.property(
        fc.array(amount, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 0, max: 5_000 }),
        fc.infiniteStream(amount),
        (nets, taxUnits, wanted) => {
          const money = (value: number) => new Decimal(value).dividedBy(units);
          const total = nets.reduce((sum, net) => sum + net, 0);
          const tax = total === 0 ? money(0) : money(taxUnits);
          let lines: readonly CreditedLine[] = nets.map((net) => ({
            net: money(net),
            taken: money(0),
          }));
          const take = (index: number, most: Decimal): void => {
            const before = lines[index] as CreditedLine;
            const allowed = creditableOf({ tax, currency }, lines, before).most;
            const taken = before.taken.plus(Decimal.min(allowed, most));
            lines = lines.map((line, place) => (place === index ? { ...line, taken } : line));
          };
          for (let round = 0; round < 10; round += 1) {
            const [place, size] = [...wanted.take(2)] as [number, number];
            take(place % lines.length, money(size));
          }
          lines.forEach((_, index) => take(index, money(1_000_000)));
          lines.forEach((_, index) => take(index, money(1_000_000)));
          const taken = sumOf(lines.map((line) => line.taken));
          expect(taken.toFixed()).toBe(money(total).plus(tax).toFixed());
        },
      ),
    );
  });
});
