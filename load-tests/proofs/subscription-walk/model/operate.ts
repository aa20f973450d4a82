import {
  add,
  compare,
  divide,
  isNegative,
  multiply,
  negate,
  zero,
} from '../../usage-oracle/fraction.js';
import { smaller, subtract, sum } from '../../pricing-oracle/exact.js';
import {
  coveringPieces,
  creditOf,
  fullCharge,
  giveBack,
  isChargedAhead,
  notePiece,
  restCharge,
  rounded,
  type Settled,
} from './charges.js';
import { endAtOnce, type Ending } from './change-plan.js';
import { runningOf, type Cadence, type Item, type Life } from './life.js';
import { computeDrafts, invoiceNow } from './invoices.js';

/** Cancels at once (24). */
export function cancelNow(life: Life, ending: Ending): void {
  if (life.status === 'draft') {
    life.status = 'cancelled';
    life.end = life.start;
    return;
  }
  const { credits } = endAtOnce(life, ending);
  for (const credit of credits) giveBack(life, credit);
  life.payer.roundings += credits.length;
}

/** Notes a cancellation that is to come (24.4). */
export function cancelLater(life: Life, date: number | null): void {
  const row = runningOf(life);
  life.schedule = {
    ...{ type: 'cancellation', end: life.end, rowEnd: row.end, isScheduledDate: date !== null },
  };
  const end = row.end;
  life.end = date ?? end;
  row.end = Math.min(end, life.end);
  computeDrafts(life);
  // What a finalized invoice has charged in advance stays in full.
  const finalized = life.invoices.filter(({ finalizeAt }) => finalizeAt === null);
  for (const item of life.items) {
    const isCharged = isChargedAhead({ ...life, invoices: finalized }, item, row);
    if (isCharged && item.end === null && row.end < end) item.paidTo = { row, end };
  }
}

/** Cancels what is to come, and restores what was before. */
export function undo(life: Life): void {
  const { schedule } = life;
  life.schedule = null;
  if (schedule?.type !== 'cancellation') return;
  life.end = schedule.end;
  runningOf(life).end = schedule.rowEnd;
  for (const item of life.items) item.paidTo = null;
  computeDrafts(life);
}

/** A new line of the subscription's own (27). */
export function addItem(
  life: Life,
  at: number,
  made: { id: string; amount: string; cadence: Cadence },
) {
  life.items.push({
    ...{ ...made, order: [at, made.id], lineage: made.id, quantity: '1' },
    ...{ start: at, end: null, paidTo: null, settled: null },
  });
  computeDrafts(life);
}

export function endItem(life: Life, item: Item, at: number): void {
  item.end = at;
  computeDrafts(life);
}

/** Ends an item and begins its successor; a charge in advance that was made is settled. */
function succeed(life: Life, item: Item, change: Succession): Item {
  const { at, id, isSettled } = change;
  item.end = at;
  const next: Item = {
    ...{ ...item, ...change.terms, id, order: [at, id], start: at, end: null, paidTo: null },
    settled: isSettled ? runningOf(life) : null,
  };
  life.items.push(next);
  computeDrafts(life);
  return next;
}

export type Succession = {
  readonly at: number;
  readonly id: string;
  readonly terms: { readonly amount?: string; readonly quantity?: string };
  readonly isSettled: boolean;
};

type Changed = Omit<Succession, 'isSettled'>;

const isCharged = (life: Life, item: Item, at: number): boolean =>
  item.cadence === 'ADVANCE' && coveringPieces(life, item.lineage, at).length > 0;

function chargeNow(life: Life, settled: Settled): void {
  const { at, net: amount } = settled;
  const row = runningOf(life);
  notePiece(life, settled);
  life.payer.roundings += 1;
  if (isNegative(amount)) {
    giveBack(life, negate(amount));
    return;
  }
  if (compare(amount, zero) === 0) return;
  const invoice = invoiceNow(life, { reason: 'PRORATION', start: at, end: row.end, lines: [] });
  invoice.setOff = negate(amount);
}

/** Gives an item another quantity (27). */
export function changeQuantity(life: Life, item: Item, change: Changed): void {
  const { at } = change;
  const isSettled = isCharged(life, item, at);
  const before = fullCharge(item);
  const after = fullCharge({ ...item, ...change.terms });
  let amount = restCharge(life, subtract(after, before), at);
  if (isSettled && isNegative(amount)) {
    const lines = life.invoices.flatMap((one) => one.lines);
    const own = lines.filter(
      (line) => line.item.lineage === item.lineage && line.row === runningOf(life),
    );
    const [net, gross] = [sum(own.map((line) => line.net)), sum(own.map((line) => line.amount))];
    if (gross.numerator !== 0n) amount = multiply(amount, divide(net, gross));
    const most = sum(coveringPieces(life, item.lineage, at).map((piece) => piece.net));
    amount = negate(smaller(rounded(negate(amount)), most));
  }
  succeed(life, item, { ...change, isSettled });
  if (isSettled) chargeNow(life, { lineage: item.lineage, at, net: rounded(amount) });
}

/** Gives an item another price (27). */
export function replaceItem(life: Life, item: Item, change: Changed): void {
  const { at } = change;
  const isSettled = isCharged(life, item, at);
  const credit = isSettled ? creditOf(life, item.lineage, at) : zero;
  const charge = rounded(restCharge(life, fullCharge({ ...item, ...change.terms }), at));
  succeed(life, item, { ...change, isSettled });
  if (isSettled) chargeNow(life, { lineage: item.lineage, at, net: add(charge, negate(credit)) });
}
