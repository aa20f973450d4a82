import type { Decimal } from '../../../contract/number/decimal.js';
import type { PaymentRow } from '../../declarations/money/payment.resource.js';
import {
  postingsOfPaidBack,
  postingsOfUnrounded,
  type PaidBack,
  type Posting,
} from '../../domain/ledger/postings.js';
import { findGateway } from '../gateways/gateways.js';
import { postGroups } from '../ledger/post-groups.js';
import type { Unit } from '../../records/unit.js';
import { addCredits } from '../wallets/move-credits.js';
import { lockRefundWallet } from '../wallets/wallets-store.js';

/** The wallet that gets what credits had paid; null for money, which goes back by itself. */
async function returnCredits(
  unit: Unit,
  payment: PaymentRow,
  credits: Decimal,
): Promise<string | null> {
  if (payment.payment_method_type !== 'CREDITS') return null;
  const { customer_id: customerId, currency, id } = payment;
  const wallet = await lockRefundWallet(unit, { customerId, currency });
  const reference = { type: 'PAYMENT', id } as const;
  await addCredits(unit, wallet, {
    credits,
    reason: 'INVOICE_VOID_REFUND',
    reference,
  });
  return wallet.id;
}

/** What of a payment is given back, and why. */
type GivenBack = {
  readonly kind: string;
  readonly amount: Decimal;
  readonly account: PaidBack['account'];
};

/** What was written off of a payment all of which is given back was never received. */
function unrounded(payment: PaymentRow, amount: Decimal): readonly Posting[] {
  const { payment_method_type: method, gateway_payment_id: chargeId, currency } = payment;
  const isCharged = chargeId !== null && method !== 'OFFLINE';
  const gateway = findGateway(payment.payment_gateway);
  if (!isCharged || gateway === null || !amount.equals(payment.amount)) return [];
  return postingsOfUnrounded(amount.minus(gateway.chargeableOf(amount, currency)));
}

/** Gives back what a payment brought: money to where it came from, credits to a wallet. */
export async function giveBack(
  unit: Unit,
  payment: PaymentRow,
  { kind, amount, account }: GivenBack,
): Promise<PaymentRow> {
  const walletId = await returnCredits(unit, payment, amount);
  await postGroups(unit, [
    {
      customerId: payment.customer_id,
      kind,
      entityType: 'payment',
      entityId: payment.id,
      currency: payment.currency,
      // Each refund of a payment raises its version.
      occurrence: payment.version,
      postings: [
        ...postingsOfPaidBack(amount, { account, walletId }),
        ...unrounded(payment, amount),
      ],
    },
  ]);
  return payment;
}
