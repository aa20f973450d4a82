import { compare, isNegative, negate, zero, type Fraction } from '../../usage-oracle/fraction.js';
import { sum } from '../../pricing-oracle/exact.js';
import {
  coveringPieces,
  fullCharge,
  giveBack,
  isChargedAhead,
  isChargedToEnd,
  leftOf,
  notePiece,
  piecesOf,
  settledRest,
  type Settled,
} from './charges.js';
import { endAtOnce, type Ending } from './change-plan.js';
import { NEVER, runningOf, type Cadence, type Item, type Life } from './life.js';
import { computeDrafts, invoiceNow } from './invoices.js';
import { endTrial } from './live.js';
import { uncutEnd } from './rows.js';

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
export function cancelLater(life: Life, date: number | null, isProrated: boolean): void {
  const row = runningOf(life);
  life.schedule = { type: 'cancellation', end: life.end, isProrated };
  const end = row.end;
  life.end = date ?? end;
  row.end = Math.min(end, life.end);
  computeDrafts(life);
  // What a finalized invoice has charged in advance stays in full.
  const finalized = life.invoices.filter(({ finalizeAt }) => finalizeAt === null);
  for (const item of life.items) {
    const isCharged = isChargedAhead({ ...life, invoices: finalized }, item, row);
    const paid = Math.min(item.end ?? NEVER, end);
    if (isCharged && paid > row.end) item.paidTo = { row, end: paid };
  }
}

/** Items in advance that go on beyond an end that does not come. */
function reopenedItems({ items }: Life, cut: number): readonly Item[] {
  return items.filter(
    ({ cadence, start, end }) => cadence === 'ADVANCE' && start < cut && (end ?? NEVER) > cut,
  );
}

/** One invoice for what is charged of several items inside of a period. */
function chargeTogether(life: Life, at: number, amounts: readonly Fraction[]): void {
  life.payer.roundings += amounts.length;
  const gross = sum(amounts);
  if (compare(gross, zero) === 0) return;
  const { end } = runningOf(life);
  const invoice = invoiceNow(life, { reason: 'PRORATION', start: at, end, lines: [] });
  invoice.setOff = negate(gross);
}

/**
 * Settles the time after an end that does not come: what was charged only up to it, or beyond it by
 * what has changed meanwhile (24.4).
 */
function settleReopened(life: Life, cut: number): void {
  const row = runningOf(life);
  const open = reopenedItems(life, cut).filter((item) => {
    const reaching = piecesOf(life, item.lineage).some(
      (piece) => piece.row === row && leftOf(piece, cut - 1) > 0,
    );
    return reaching && !isChargedToEnd(life, item);
  });
  const nets = open.map((item) => settledRest(life, item, cut));
  for (const [index, item] of open.entries()) {
    const net = nets[index] ?? zero;
    notePiece(life, { item, at: cut, net });
    if (!isNegative(net)) continue;
    giveBack(life, negate(net));
    life.payer.roundings += 1;
  }
  chargeTogether(
    life,
    cut,
    nets.filter((net) => !isNegative(net)),
  );
}

/** Cancels what is to come, and restores what was before. */
export function undo(life: Life): void {
  const { schedule, end: cut } = life;
  life.schedule = null;
  if (schedule?.type !== 'cancellation') return;
  const row = runningOf(life);
  life.end = schedule.end;
  row.end = Math.min(uncutEnd(life, row), life.end ?? NEVER);
  for (const item of life.items) {
    item.paidTo = null;
    item.tail = null;
  }
  if (cut !== null && row.end > cut && row.start < cut) settleReopened(life, cut);
  computeDrafts(life);
}

/** Moves the end of a trial; one that ends now is followed by the first period at once (22.4). */
export function moveTrial(life: Life, at: number, isNow: boolean): void {
  runningOf(life).end = at;
  life.trialEnd = at;
  if (isNow) endTrial(life);
}

/** A new line of the subscription's own (27). */
export function addItem(
  life: Life,
  at: number,
  made: { id: string; amount: string; cadence: Cadence },
) {
  life.items.push({
    ...made,
    order: [at, made.id],
    lineage: made.id,
    quantity: '1',
    start: at,
    end: null,
    paidTo: null,
    tail: null,
    settled: null,
    isAdded: true,
    addonId: null,
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
  const { paidTo } = item;
  const row = runningOf(life);
  item.end = at;
  item.paidTo = null;
  if (paidTo !== null) item.tail = { row: paidTo.row, start: row.end, end: paidTo.end };
  const next: Item = {
    ...item,
    ...change.terms,
    id,
    order: [at, id],
    start: at,
    end: null,
    paidTo: null,
    tail: null,
    isAdded: true,
    settled: isSettled ? row : null,
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

/** Settles an amount that was rounded: an invoice for more, credits of a wallet for less. */
function chargeNow(life: Life, settled: Settled): void {
  const { at, net } = settled;
  const row = runningOf(life);
  notePiece(life, settled);
  life.payer.roundings += 1;
  if (isNegative(net)) {
    giveBack(life, negate(net));
    return;
  }
  if (compare(net, zero) === 0) return;
  const invoice = invoiceNow(life, { reason: 'PRORATION', start: at, end: row.end, lines: [] });
  invoice.setOff = negate(net);
}

/** Gives an item another price or quantity (27). */
export function replaceItem(life: Life, item: Item, change: Changed): void {
  const { at } = change;
  const isSettled = isCharged(life, item, at);
  const changed = { ...item, ...change.terms };
  const isSame = compare(fullCharge(changed), fullCharge(item)) === 0;
  const net = isSame && isChargedToEnd(life, item) ? zero : settledRest(life, changed, at);
  const next = succeed(life, item, { ...change, isSettled });
  if (isSettled) chargeNow(life, { item: next, at, net });
}
