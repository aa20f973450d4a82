import { maxOf, minOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { CREDIT_DIGITS } from '../wallet/credits.js';

/** The sums of an invoice on which it depends what of its payments can go back. */
export type PaidSums = {
  readonly amountDue: Decimal;
  readonly amountPaid: Decimal;
  /** What wallets paid at its finalization. */
  readonly prepaid: Decimal;
  /** What notes and refunds have given back. */
  readonly refunded: Decimal;
  /** What credits for unused time have given back of its lines. */
  readonly credited: Decimal;
};

/** What of the payments of an invoice can go back. */
export type Refundable = {
  /** Was paid too much: it goes back as if it had never been paid. */
  readonly overpaid: Decimal;
  /** Was paid for the invoice and not given back yet: its price is lowered by it. */
  readonly ofInvoice: Decimal;
};

/** What of the payments of an invoice can still go back (docs/domain.md 17.6). */
export function refundableOf(sums: PaidSums): Refundable {
  const { amountDue, amountPaid, prepaid, refunded, credited } = sums;
  const unreturned = amountPaid.minus(refunded);
  const overpaid = maxOf(ZERO, minOf(amountPaid.minus(amountDue), unreturned));
  const left = unreturned.minus(overpaid);
  return { overpaid, ofInvoice: maxOf(ZERO, minOf(left, left.plus(prepaid).minus(credited))) };
}

/** Money that goes back of a payment, by what it is taken from. */
export type RefundShares = Refundable & {
  /** The customer has it in a wallet already. */
  readonly ofCustomer: Decimal;
};

/** From what money is taken that goes back of a payment: first from what was paid too much. */
export function splitRefund(amount: Decimal, sums: PaidSums): RefundShares {
  const most = refundableOf(sums);
  const overpaid = minOf(amount, most.overpaid);
  const ofInvoice = minOf(amount.minus(overpaid), most.ofInvoice);
  return { overpaid, ofInvoice, ofCustomer: amount.minus(overpaid).minus(ofInvoice) };
}

/**
 * What of the refunds of an invoice is undone by money that comes in after them: what is more than
 * it leaves to be paid (docs/domain.md 17.6). What notes gave back to a wallet stays given back.
 */
export function undoneRefund(
  amount: Decimal,
  { remaining, refundedByPayments }: { readonly remaining: Decimal; refundedByPayments: Decimal },
): Decimal {
  return maxOf(ZERO, minOf(amount.minus(remaining), refundedByPayments));
}

/** The share of credits that goes with so much of their price; all of them with all of it. */
export function shareOfCredits(
  credits: Decimal,
  { amount, of }: { readonly amount: Decimal; readonly of: Decimal },
): Decimal {
  if (amount.isZero()) return ZERO;
  if (amount.greaterThanOrEqualTo(of)) return credits;
  return credits.times(amount).dividedBy(of).toDecimalPlaces(CREDIT_DIGITS);
}
