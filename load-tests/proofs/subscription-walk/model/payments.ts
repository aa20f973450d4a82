import { add, compare, negate, zero, type Fraction } from '../../usage-oracle/fraction.js';
import { greater, smaller, subtract } from '../../pricing-oracle/exact.js';
import { computeDrafts } from './invoices.js';
import type { Bill, BillStatus, Life, ModelInvoice } from './life.js';

/** A final invoice of which nobody has said anything yet (docs/domain.md 5.3). */
export function openBill(due: Fraction): Bill {
  return {
    due,
    paid: zero,
    refunded: zero,
    status: compare(due, zero) <= 0 ? 'SUCCEEDED' : 'PENDING',
  };
}

/** What is left to pay, and what was paid beyond it. */
export function leftOfBill({ due, paid }: Bill): { open: Fraction; over: Fraction } {
  const difference = subtract(due, paid);
  return { open: greater(zero, difference), over: greater(zero, negate(difference)) };
}

/** Money that has come in (17.1). */
export function payAmount(bill: Bill, amount: Fraction): void {
  bill.paid = add(bill.paid, amount);
  const order = compare(bill.paid, bill.due);
  bill.status = order < 0 ? 'PENDING' : order === 0 ? 'SUCCEEDED' : 'OVERPAID';
}

/** From which statuses PUT payment moves to a status alone (5.3). */
const MOVES: Readonly<Record<'SUCCEEDED' | 'FAILED' | 'PENDING', readonly BillStatus[]>> = {
  SUCCEEDED: ['PENDING', 'FAILED', 'SUCCEEDED'],
  FAILED: ['PENDING', 'FAILED'],
  PENDING: ['PENDING', 'FAILED'],
};

export type NotedStatus = keyof typeof MOVES;

export const canNote = (bill: Bill, status: NotedStatus): boolean =>
  MOVES[status].includes(bill.status);

/** The status alone (17.1). */
export function noteStatus(bill: Bill, status: NotedStatus): void {
  if (status === 'SUCCEEDED') bill.paid = greater(bill.paid, bill.due);
  bill.status = status;
}

/** Whether an invoice can be voided here: all that it charges can be charged again (13.5). */
export function isWhole(life: Life, { lines, setOff }: ModelInvoice): boolean {
  if (lines.length === 0 || compare(setOff, zero) !== 0 || life.isCredited) return false;
  return !lines.some(({ row }) => life.pieces.some((piece) => piece.row === row));
}

/**
 * Voids an invoice: it charges nothing any more, and what was paid and not refunded comes back
 * (18).
 */
export function voidInvoice(life: Life, invoice: ModelInvoice, bill: Bill): void {
  life.invoices.splice(life.invoices.indexOf(invoice), 1);
  for (const { item, row } of invoice.lines) {
    // What is charged anew ends where the subscription is to end.
    if (item.paidTo?.row === row) item.paidTo = null;
    if (item.tail?.row === row) item.tail = null;
  }
  const returned = subtract(bill.paid, bill.refunded);
  life.payer.credited = add(life.payer.credited, returned);
  life.payer.refunded = add(life.payer.refunded, returned);
  computeDrafts(life);
}

/** A third of what is due, in whole cents. */
export const partOf = ({ due }: Pick<Bill, 'due'>): Fraction => smaller(due, thirdOf(due));

/** A third of an amount, in whole cents. */
export function thirdOf({ numerator, denominator }: Fraction): Fraction {
  return { numerator: (numerator * 100n) / denominator / 3n, denominator: 100n };
}

/** Money of a payment that went back (17.2). */
export function refundPart(bill: Bill, amount: Fraction): void {
  bill.refunded = add(bill.refunded, amount);
  bill.status = 'PARTIALLY_REFUNDED';
}
