import type { Decimal } from '../../../contract/number/decimal.js';
import type { PaymentRow } from '../../declarations/money/payment.resource.js';
import { postingsOfCredit, postingsOfReturnedMoney } from '../../domain/ledger/postings.js';
import { postGroups } from '../ledger/post-groups.js';
import type { Unit } from '../../records/unit.js';
import { addCredits, debitCredits } from '../wallets/move-credits.js';
import { lockRefundWallet } from '../wallets/wallets-store.js';

const walletOf = (unit: Unit, { customer_id: customerId, currency }: PaymentRow) =>
  lockRefundWallet(unit, { customerId, currency });

const groupOf = ({ id, customer_id: customerId, currency }: PaymentRow) => ({
  customerId,
  currency,
  entityType: 'payment',
  entityId: id,
});

/**
 * Money of a customer that is for no invoice yet becomes credits of the wallet that money goes back
 * to, which pays the next invoices (docs/domain.md 17.2).
 */
export async function creditCustomer(unit: Unit, payment: PaymentRow): Promise<void> {
  const wallet = await walletOf(unit, payment);
  const { id, amount } = payment;
  const reference = { type: 'PAYMENT', id } as const;
  await addCredits(unit, wallet, {
    credits: amount,
    reason: 'PURCHASED_CREDIT_DIRECT',
    reference,
  });
  const postings = postingsOfCredit({ walletId: wallet.id, worth: amount }, amount);
  await postGroups(unit, [{ ...groupOf(payment), kind: 'payment.succeeded', postings }]);
}

/**
 * Such money went back, or did not hold: its credits are taken, below 0 where they have been used,
 * since the money is gone.
 */
export async function takeFromCustomer(
  unit: Unit,
  payment: PaymentRow,
  { kind, amount }: { readonly kind: string; readonly amount: Decimal },
): Promise<PaymentRow> {
  const wallet = await walletOf(unit, payment);
  const reference = { type: 'PAYMENT', id: payment.id } as const;
  await debitCredits(unit, wallet, {
    credits: amount,
    reason: 'MANUAL_BALANCE_DEBIT',
    reference,
  });
  const postings = postingsOfReturnedMoney(amount, wallet.id);
  // Each refund of a payment raises its version.
  const { version: occurrence } = payment;
  await postGroups(unit, [{ ...groupOf(payment), kind, occurrence, postings }]);
  return payment;
}
