import {
  add,
  compare,
  divide,
  fraction,
  multiply,
  negate,
  zero,
  type Fraction,
} from '../../usage-oracle/fraction.js';
import { exact, greater, smaller, subtract, sum } from '../../pricing-oracle/exact.js';
import { splitAmount } from '../../pricing-oracle/largest-remainder.js';
import { roundMoney } from '../../pricing-oracle/money.js';
import {
  NEVER,
  overlap,
  runningOf,
  unpausedOf,
  type Item,
  type Life,
  type Line,
  type ModelInvoice,
  type Piece,
  type Row,
} from './life.js';
import type { Range } from '../../usage-oracle/windows.js';

export const CURRENCY = 'usd';

const round = (value: Fraction): Fraction => roundMoney(CURRENCY, value);
const share = (part: number, whole: number): Fraction => fraction(BigInt(part), BigInt(whole));

/** What a full period of an item costs. */
export function fullCharge({ amount, quantity }: Pick<Item, 'amount' | 'quantity'>): Fraction {
  return multiply(exact(amount), exact(quantity));
}

/** Where an item exists in a row, for its charges. */
function coverOf(item: Item, row: Row): { start: number; end: number } | null {
  const { paidTo } = item;
  const isPaidOn = paidTo?.row === row;
  const end = isPaidOn ? paidTo.end : (item.end ?? NEVER);
  const rowEnd = isPaidOn ? paidTo.end : row.end;
  return overlap({ start: item.start, end }, { start: row.start, end: rowEnd });
}

function costOfTime(item: Item, row: Row, time: Range | null): Fraction {
  if (time === null) return zero;
  const unpaused = unpausedOf(time, row.pauses);
  return multiply(fullCharge(item), share(unpaused, row.full.end - row.full.start));
}

/** What the time of an item in a row costs, before it is rounded (13.4). */
export function costOf(item: Item, row: Row): Fraction {
  return costOfTime(item, row, coverOf(item, row));
}

/** The same with the time that stays charged after an end. */
export function costWithTail(item: Item, row: Row): Fraction {
  const { tail } = item;
  return add(costOf(item, row), tail?.row === row ? costOfTime(item, row, tail) : zero);
}

function lineOf(item: Item, row: Row): Line | null {
  const cover = coverOf(item, row);
  if (cover === null || row.isTrial) return null;
  const amount = round(costOf(item, row));
  const unpaused = unpausedOf(cover, row.pauses);
  return { item, row, ...cover, unpaused, amount, net: amount };
}

/** Coupon of the invoice, split over the lines (14.5, 14.7, 6.5). */
function discounted({ terms }: Life, lines: readonly Line[]): readonly Line[] {
  if (terms.percentOff === null) return lines;
  const base = sum(lines.map(({ amount }) => amount));
  const rate = multiply(exact(terms.percentOff), fraction(1n, 100n));
  const discount = round(multiply(base, rate));
  if (compare(discount, zero) === 0) return lines;
  const exactShares = lines.map(({ amount }) => divide(multiply(discount, amount), base));
  const shares = splitAmount(CURRENCY, discount, exactShares);
  return lines.map((line, index) => ({
    ...line,
    net: subtract(line.amount, shares[index] ?? zero),
  }));
}

const inOrder = (left: Item, right: Item): number =>
  left.order[0] - right.order[0] || (left.order[1] < right.order[1] ? -1 : 1);

function present(lines: readonly (Line | null)[]): readonly Line[] {
  return lines.flatMap((line) => (line === null ? [] : [line]));
}

function isInvoiced(life: Life, item: Item, row: Row): boolean {
  return life.invoices.some(({ lines }) =>
    lines.some((line) => line.item.id === item.id && line.row === row),
  );
}

/** Whether the charge in advance of a row has been made, be it on a draft. */
export function isChargedAhead(life: Life, item: Item, row: Row): boolean {
  if (item.cadence === 'ARREAR') return false;
  return item.settled === row || isInvoiced(life, item, row);
}

/** Charges in advance of one row: the opening invoice, that of a trial's end, or after a pause. */
export function advanceLines(life: Life, row: Row): readonly Line[] {
  const items = life.items.filter(({ cadence }) => cadence === 'ADVANCE').sort(inOrder);
  return discounted(
    life,
    present(items.filter((item) => !isInvoiced(life, item, row)).map((item) => lineOf(item, row))),
  );
}

/** A row that has ended, the one that is charged in advance with it, and the invoice of both. */
type Closing = {
  readonly row: Row;
  readonly next: Row | null;
  readonly own: ModelInvoice | null;
};

/** Lines of the invoice that closes a row (13.3). */
export function cycleLines(life: Life, { row, next, own }: Closing): readonly Line[] {
  const others = { ...life, invoices: life.invoices.filter((one) => one !== own) };
  const of = (item: Item): readonly Line[] => {
    if (item.cadence === 'ARREAR') return present([lineOf(item, row)]);
    // What was added while the row ran; another one that was voided is not charged anew (13.3).
    const isNew = item.isAdded && item.start >= row.start;
    const isLeft = isNew && !isChargedAhead(others, item, row);
    return present([
      isLeft ? lineOf(item, row) : null,
      next === null || next.isHeld || isChargedAhead(others, item, next)
        ? null
        : lineOf(item, next),
    ]);
  };
  return discounted(life, [...life.items].sort(inOrder).flatMap(of));
}

/** Pieces of a lineage: lines of finalized invoices, and what was settled inside of a period. */
export function piecesOf(life: Life, lineage: string): readonly Piece[] {
  const lines = life.invoices
    .filter(({ finalizeAt }) => finalizeAt === null)
    .flatMap((invoice) => invoice.lines)
    .filter(({ item }) => item.lineage === lineage && item.cadence === 'ADVANCE')
    .map(({ start, unpaused, row, net, item: { id: itemId } }) => {
      return { lineage, itemId, start, unpaused, row, net };
    });
  return [...lines, ...life.pieces.filter((piece) => piece.lineage === lineage)];
}

/** Unused time of a piece at an instant. */
export function leftOf({ start, unpaused, row }: Piece, at: number): number {
  if (at <= start) return unpaused;
  return Math.max(0, unpaused - unpausedOf({ start, end: at }, row.pauses));
}

/** Pieces that reach beyond an instant. */
export function coveringPieces(life: Life, lineage: string, at: number): readonly Piece[] {
  return piecesOf(life, lineage).filter((piece) => leftOf(piece, at) > 0);
}

/** What is paid for the rest of the running period of a lineage (27), exact. */
export function paidForRest(life: Life, lineage: string, at: number): Fraction {
  const { end } = runningOf(life);
  const parts = coveringPieces(life, lineage, at).map((piece) =>
    multiply(piece.net, share(leftOf(piece, at) - leftOf(piece, end), piece.unpaused)),
  );
  return greater(zero, sum(parts));
}

/** The credit of what is unused of a lineage at an instant (23.1). */
export function creditOf(life: Life, lineage: string, at: number): Fraction {
  const covering = coveringPieces(life, lineage, at);
  const unused = covering.map((piece) =>
    multiply(piece.net, share(leftOf(piece, at), piece.unpaused)),
  );
  const all = sum(covering.map(({ net }) => net));
  return greater(zero, smaller(round(sum(unused)), all));
}

export type Settled = {
  readonly item: Item;
  readonly at: number;
  readonly net: Fraction;
};

/** Notes what was settled for the rest of the running period. */
export function notePiece(life: Life, { item, at, net }: Settled): void {
  const row = runningOf(life);
  if (row.end <= at) return;
  const { lineage, id: itemId } = item;
  life.pieces.push({ lineage, itemId, start: at, unpaused: row.end - at, row, net });
}

/** The charge of an amount for the rest of the running period (23.2), exact. */
export function restCharge(life: Life, full: Fraction, at: number): Fraction {
  const row = runningOf(life);
  return multiply(full, share(row.end - at, row.full.end - row.full.start));
}

/** What the coupon of a subscription takes off the charge of the rest of a period (23.2). */
export function discountOf({ terms }: Life, amount: Fraction): Fraction {
  if (terms.percentOff === null) return zero;
  return multiply(amount, multiply(exact(terms.percentOff), fraction(1n, 100n)));
}

/** Gives an amount to the wallet of who pays. */
export function giveBack(life: Life, amount: Fraction): void {
  life.payer.credited = add(life.payer.credited, amount);
  if (compare(amount, zero) !== 0) life.isCredited = true;
}

export const rounded = round;

const HALF_CENT = fraction(1n, 200n);

/** A difference of charges: half a cent counts as charged (23.8). */
export function roundedDifference(value: Fraction): Fraction {
  const cents = round(value);
  const isHalfBelow = compare(subtract(value, cents), HALF_CENT) === 0;
  return isHalfBelow ? add(cents, fraction(1n, 100n)) : cents;
}

/** What terms owe for the rest of a period, less what is paid for it, rounded once (23.8). */
export function settledRest(
  life: Life,
  item: Pick<Item, 'amount' | 'quantity' | 'lineage'>,
  at: number,
): Fraction {
  const full = restCharge(life, fullCharge(item), at);
  const due = subtract(full, discountOf(life, full));
  const most = sum(coveringPieces(life, item.lineage, at).map(({ net }) => net));
  const paid = smaller(paidForRest(life, item.lineage, at), greater(zero, most));
  return roundedDifference(subtract(due, paid));
}

/** Whether an item itself is charged until its running period ends. */
export function isChargedToEnd(life: Life, item: Item): boolean {
  const row = runningOf(life);
  const last = Math.min(item.end ?? NEVER, row.end) - 1;
  return piecesOf(life, item.lineage).some(
    (piece) => piece.itemId === item.id && piece.row === row && leftOf(piece, last) > 0,
  );
}
export const less = (left: Fraction, right: Fraction): Fraction => add(left, negate(right));
