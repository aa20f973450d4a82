import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimalOf, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { roundToMinorDigits } from '../money/money.js';
import { unusedAmount } from './unused-charge.js';

const START = Date.parse('2026-01-01T00:00:00Z');
const END = Date.parse('2026-02-01T00:00:00Z');

type Change = { readonly atMs: number; readonly price: Decimal };

const money = (value: Decimal): Decimal => roundToMinorDigits(value, 'usd');

/** What the rest of the period costs from an instant on (docs/domain.md 13.4). */
const chargeFrom = ({ atMs, price }: Change): Decimal =>
  money(price.times(END - atMs).dividedBy(END - START));

/** What a chain of changes charges less what it credits, all in one period. */
function netOf(changes: readonly Change[]): Decimal {
  const parts = changes.map((change, index) => {
    const charged = chargeFrom(change);
    const next = changes[index + 1];
    if (next === undefined) return charged;
    const period = { startMs: change.atMs, endMs: END };
    return charged.minus(money(unusedAmount([{ period, net: charged }], [], next.atMs)));
  });
  return sumOf(parts);
}

/** What the time on each plan costs. */
function usedCost(changes: readonly Change[]): Decimal {
  const parts = changes.map(({ atMs, price }, index) => {
    const until = changes[index + 1]?.atMs ?? END;
    return price.times(until - atMs).dividedBy(END - START);
  });
  return sumOf(parts);
}

const price = fc
  .integer({ min: 0, max: 1_000_000 })
  .map((cents) => decimalOf(`${cents}`).dividedBy(100));
const chain = fc
  .tuple(price, fc.array(fc.record({ atMs: fc.integer({ min: START, max: END - 1 }), price })))
  .map(([first, others]): readonly Change[] => [
    { atMs: START, price: first },
    ...[...others].sort((left, right) => left.atMs - right.atMs),
  ]);

describe('changes of plan in one period', () => {
  test('charge, less what they credit, what the time on each plan costs', () => {
    fc.assert(
      fc.property(chain, (changes) => {
        const difference = netOf(changes).minus(usedCost(changes)).abs();
        // Every charge and every credit is rounded once, by at most half a cent.
        const roundings = 2 * changes.length;
        expect(difference.lessThanOrEqualTo(decimalOf('0.005').times(roundings))).toBe(true);
      }),
    );
  });

  test('there and back at one instant cost nothing', () => {
    fc.assert(
      fc.property(price, price, fc.integer({ min: START, max: END - 1 }), (own, other, atMs) => {
        const stay = netOf([{ atMs: START, price: own }]);
        const back = netOf([
          { atMs: START, price: own },
          { atMs, price: other },
          { atMs, price: own },
        ]);
        expect(back.minus(stay).toFixed()).toBe(ZERO.toFixed());
      }),
    );
  });

  test('by way of a third plan at one instant cost what the direct one costs', () => {
    fc.assert(
      fc.property(price, price, price, fc.integer({ min: START, max: END - 1 }), (...drawn) => {
        const [from, by, to, atMs] = drawn;
        const first = { atMs: START, price: from };
        const direct = netOf([first, { atMs, price: to }]);
        const around = netOf([first, { atMs, price: by }, { atMs, price: to }]);
        expect(around.toFixed()).toBe(direct.toFixed());
      }),
    );
  });
});
