import { plain, type Decimal } from '../../../contract/number/decimal.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { PAYMENTS, type PaymentRow } from '../../declarations/money/payment.resource.js';
import { priceAccount } from '../../domain/ledger/postings.js';
import { PAYMENT } from '../../domain/lifecycle/money-lifecycle.js';
import { splitRefund, type PaidSums, type RefundShares } from '../../domain/payment/refundable.js';
import { moveRecord } from '../../records/move-record.js';
import { invalid, type Refusal, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { findPurchases, settlePurchase } from './complete-purchase.js';
import { takeFromCustomer } from './credit-customer.js';
import { toldOfPayment } from './follow-payment.js';
import { giveBack } from './give-back.js';
import type { HeldPayment } from './held-payment.js';
import { paidSumsOf, takeBack } from './settle-invoice.js';
import { findLineCredits, givenElsewhere } from '../../documents/store/credited-lines.js';
import { takeSoldCredits } from './sold-credits.js';

/** What went back of a payment in all. */
type Refunded = {
  readonly status: 'PARTIALLY_REFUNDED' | 'REFUNDED';
  readonly refunded: Decimal;
  /** A gateway has paid it back already, so that it counts whatever became of the invoice. */
  readonly isGone?: boolean;
};

/** What a refund by hand asks for is refused beyond what the invoice has left to give back. */
function beyondInvoice(
  { refunded_amount: refunded }: PaymentRow,
  { ofCustomer }: RefundShares,
  { amountPaid, prepaid, refunded: given, credited }: PaidSums,
): Refusal {
  const most = plain(refunded.minus(ofCustomer));
  const paid = plain(amountPaid.plus(prepaid));
  const reason = `${paid} of the invoice was paid, notes and refunds have given back ${plain(given)} of it, and credits for unused time ${plain(credited)}`;
  return invalid({ refunded_amount: `must be at most ${most}: ${reason}` });
}

/**
 * Takes what goes back of a payment off its locked invoice, with the credits that it has sold.
 * Wallets are locked before the first posting, as by whoever pays from them.
 */
async function takeFromInvoice(
  unit: Unit,
  { payment, invoice }: { readonly payment: PaymentRow; readonly invoice: InvoiceRow },
  shares: RefundShares,
): Promise<void> {
  const { overpaid, ofInvoice } = shares;
  const written = await takeBack(unit, invoice, shares);
  const purchases = await findPurchases(unit, invoice.id);
  await takeSoldCredits(unit, { invoice, purchases, amount: ofInvoice });
  const account = priceAccount(purchases.length > 0);
  for (const back of [
    { kind: 'payment.overpayment_refunded', amount: overpaid, account: 'receivable' as const },
    { kind: 'payment.refunded', amount: ofInvoice, account },
  ]) {
    if (!back.amount.isZero()) await giveBack(unit, payment, back);
  }
  return settlePurchase(unit, written);
}

/**
 * Settles money that goes back of a payment: first what was paid too much, then what its invoice
 * has left to give back. The rest is in a wallet of the customer already, where it is taken from
 * when it is gone, and for which a refund by hand is refused (docs/domain.md 17.6).
 */
async function settleRefund(
  unit: Unit,
  { payment, invoice }: HeldPayment,
  { more, isGone }: { readonly more: Decimal; readonly isGone: boolean },
): Promise<PaymentRow> {
  const taken = { kind: 'payment.taken_back', amount: more };
  if (invoice === null) return takeFromCustomer(unit, payment, taken);
  const sums = paidSumsOf(invoice, givenElsewhere(await findLineCredits(unit, [invoice.id])));
  const shares = splitRefund(more, sums);
  const { ofCustomer } = shares;
  if (!isGone && !ofCustomer.isZero()) throw new Refused(beyondInvoice(payment, shares, sums));
  const after = ofCustomer.isZero()
    ? payment
    : await takeFromCustomer(unit, payment, { ...taken, amount: ofCustomer });
  if (ofCustomer.equals(more)) return after;
  await takeFromInvoice(unit, { payment, invoice }, shares);
  return after;
}

/** Notes that money of a payment went back. */
export async function refund(
  unit: Unit,
  { payment, invoice }: HeldPayment,
  { status, refunded, isGone = false }: Refunded,
): Promise<PaymentRow> {
  const more = refunded.minus(payment.refunded_amount);
  const move = {
    target: { id: payment.id },
    lifecycle: PAYMENT,
    told: toldOfPayment,
    patch: () => ({ refunded_amount: refunded, refunded_at: unit.now }),
  } as const;
  const after =
    status === 'REFUNDED'
      ? await moveRecord(unit, PAYMENTS, { ...move, move: 'refund', to: 'REFUNDED' })
      : await moveRecord(unit, PAYMENTS, {
          ...move,
          move: 'refund_in_part',
          to: 'PARTIALLY_REFUNDED',
        });
  if (more.isZero()) return after;
  return settleRefund(unit, { payment: after, invoice }, { more, isGone });
}
