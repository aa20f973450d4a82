import { maxOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';

/** The sums of an invoice that payments change (docs/domain.md 13.2). */
export type DueAmounts = {
  readonly amountDue: Decimal;
  readonly amountPaid: Decimal;
};

/** How an invoice stands after money has come or gone. */
export type PaymentState = {
  readonly amountPaid: Decimal;
  readonly amountRemaining: Decimal;
  readonly overpaidAmount: Decimal;
  /** What the sums say by themselves (docs/domain.md 17.1). */
  readonly status: 'PENDING' | 'SUCCEEDED' | 'OVERPAID';
};

/** The sums of an invoice and the payment status that follows from them (docs/domain.md 17.1). */
export function paymentState({ amountDue, amountPaid }: DueAmounts): PaymentState {
  const difference = amountPaid.comparedTo(amountDue);
  return {
    amountPaid,
    amountRemaining: maxOf(ZERO, amountDue.minus(amountPaid)),
    overpaidAmount: maxOf(ZERO, amountPaid.minus(amountDue)),
    status: difference < 0 ? 'PENDING' : difference === 0 ? 'SUCCEEDED' : 'OVERPAID',
  };
}

/** The status of an invoice of which money was given back (docs/domain.md 19.3). */
export function refundedStatus(
  amountPaid: Decimal,
  refunded: Decimal,
): 'PARTIALLY_REFUNDED' | 'REFUNDED' {
  return refunded.greaterThanOrEqualTo(amountPaid) ? 'REFUNDED' : 'PARTIALLY_REFUNDED';
}
