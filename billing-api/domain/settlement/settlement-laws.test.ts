import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimalOf, ONE, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { roundToMinorDigits } from '../money/money.js';
import { settle } from './settle.js';
import type { AdvanceCharge } from './unused-charge.js';

const START = Date.parse('2026-01-01T00:00:00Z');
const END = Date.parse('2026-02-01T00:00:00Z');
/** Where shares are halves, so that some amounts lie between two cents. */
const HALF = (START + END) / 2;

/** From an instant on a full period costs so much; 0 where the line ends. */
type Change = { readonly atMs: number; readonly full: Decimal };

/** A period that was charged in advance, with what changed in it, and what that has settled. */
type Life = {
  readonly charges: readonly AdvanceCharge[];
  readonly settled: readonly Decimal[];
  readonly left: Decimal;
};

function begin(full: Decimal, left: Decimal): Life {
  const net = roundToMinorDigits(full.times(left), 'usd');
  return { charges: [{ period: { startMs: START, endMs: END }, net }], settled: [], left };
}

function change({ charges, settled, left }: Life, { atMs, full }: Change): Life {
  const rest = { startMs: atMs, endMs: END };
  const proration = { coveredMs: END - atMs, fullMs: END - START };
  const { amount } = settle({ rest, proration, full, left }, { charges, pauses: [] }, 'usd');
  return {
    charges: [...charges, { period: rest, net: amount }],
    settled: [...settled, amount],
    left,
  };
}

const cents = fc
  .integer({ min: 0, max: 1_000_000 })
  .map((number) => decimalOf(`${number}`).dividedBy(100));
const instant = fc.oneof(fc.integer({ min: START, max: END - 1 }), fc.constant(HALF));
const left = fc.constantFrom(ONE, decimalOf('0.9'), decimalOf('0.5'));
const changes = fc
  .array(fc.record({ atMs: instant, full: cents }), { maxLength: 6 })
  .map((drawn) => drawn.toSorted((one, other) => one.atMs - other.atMs));
const lived = fc
  .tuple(cents, left, changes)
  .map(([full, share, drawn]) => drawn.reduce(change, begin(full, share)));
const lastOf = ({ charges }: Life): number => charges.at(-1)?.period.startMs ?? START;

describe('what is settled inside a period', () => {
  test('is nothing when it is settled twice', () => {
    fc.assert(
      fc.property(lived, cents, instant, (life, full, drawnMs) => {
        const atMs = Math.max(drawnMs, lastOf(life));
        const twice = change(change(life, { atMs, full }), { atMs, full });
        expect(twice.settled.at(-1)?.toFixed()).toBe(ZERO.toFixed());
      }),
    );
  });

  test('costs nothing there and back, nor by way of other terms', () => {
    fc.assert(
      fc.property(cents, cents, cents, left, instant, (...[own, by, to, share, atMs]) => {
        const first = begin(own, share);
        const back = [by, own].reduce((life, full) => change(life, { atMs, full }), first);
        expect(sumOf(back.settled).toFixed()).toBe(ZERO.toFixed());
        const direct = change(first, { atMs, full: to });
        const around = [by, to].reduce((life, full) => change(life, { atMs, full }), first);
        expect(sumOf(around.settled).toFixed()).toBe(sumOf(direct.settled).toFixed());
      }),
    );
  });

  test('makes what was charged less what was given back the cost of the time', () => {
    fc.assert(
      fc.property(cents, left, changes, (full, share, drawn) => {
        const life = drawn.reduce(change, begin(full, share));
        const terms = [{ atMs: START, full }, ...drawn];
        const cost = terms.map((one, index) => {
          const untilMs = terms[index + 1]?.atMs ?? END;
          return one.full
            .times(share)
            .times(untilMs - one.atMs)
            .dividedBy(END - START);
        });
        const charged = sumOf(life.charges.map(({ net }) => net));
        // The charge and each difference is rounded once, by at most half a cent.
        const slack = decimalOf('0.005').times(life.charges.length);
        const off = charged.minus(sumOf(cost)).abs();
        expect(off.toDecimalPlaces(20).lessThanOrEqualTo(slack)).toBe(true);
      }),
    );
  });
});
