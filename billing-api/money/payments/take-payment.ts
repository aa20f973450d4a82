import { plain, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import {
  PAYMENTS,
  paymentToDto,
  type NewPayment,
  type PaymentRow,
} from '../../declarations/money/payment.resource.js';
import {
  postingsOfCreditPayment,
  postingsOfPayment,
  type Posting,
} from '../../domain/ledger/postings.js';
import { PAYMENT } from '../../domain/lifecycle/money-lifecycle.js';
import { creditsToPay } from '../../domain/wallet/credits.js';
import { postGroups } from '../ledger/post-groups.js';
import type { ChangeTarget } from '../../records/change-record.js';
import { createRecord } from '../../records/create-record.js';
import { moveRecord } from '../../records/move-record.js';
import { announce } from '../../records/recorded-change.js';
import { accept, Refusal, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { undoRefund } from './undo-refund.js';
import { debitCredits, usableCredits } from '../wallets/move-credits.js';
import { lockUsableWallet } from '../wallets/usable-wallet.js';
import { lockPayingWallets } from '../wallets/wallets-store.js';
import { beginCharge, beginPage } from './begin-charge.js';
import { settlePurchase } from './complete-purchase.js';
import { creditCustomer } from './credit-customer.js';
import { withAttempt, type HeldPayment } from './held-payment.js';
import { toldOfPayment } from './follow-payment.js';
import { addPaid } from './settle-invoice.js';

/** What a payment is before anything has happened. */
const NEW_PAYMENT = {
  idempotency_key: null,
  payment_method_id: null,
  payment_gateway: null,
  gateway_payment_id: null,
  refunded_amount: ZERO,
  payment_status: 'PENDING',
  payment_url: null,
  invoice_number: null,
  error_message: null,
  succeeded_at: null,
  failed_at: null,
  refunded_at: null,
  voided_at: null,
  version: 1,
} as const satisfies Partial<NewPayment>;

/** What a new payment says of itself. */
type GivenPayment = Pick<NewPayment, 'payment_method_type' | 'amount'> & Partial<NewPayment>;

/** A new payment of an invoice. */
export function newPayment(invoice: InvoiceRow, given: GivenPayment): NewPayment {
  return {
    ...NEW_PAYMENT,
    attempts: [],
    destination_type: 'INVOICE',
    destination_id: invoice.id,
    customer_id: invoice.customer_id,
    currency: invoice.currency,
    invoice_number: invoice.invoice_number,
    ...given,
  };
}

/** A new payment of a customer that is for no invoice yet. */
export function newCustomerPayment(
  customerId: string,
  given: GivenPayment & Pick<NewPayment, 'currency'>,
): NewPayment {
  return {
    ...NEW_PAYMENT,
    attempts: [],
    destination_type: 'CUSTOMER',
    destination_id: customerId,
    customer_id: customerId,
    ...given,
  };
}

/** Stores a payment, and tells of it. */
export async function storePayment(unit: Unit, values: NewPayment): Promise<PaymentRow> {
  const row = await createRecord(unit, PAYMENTS, values);
  announce(unit, PAYMENTS, { id: row.id, name: 'payment.created', told: paymentToDto(row) });
  return row;
}

/**
 * Posts money that came in, and completes what was bought with the invoice; without an invoice it
 * becomes credits of the customer.
 */
async function settle(
  unit: Unit,
  { payment, invoice }: HeldPayment,
  postings: readonly Posting[],
): Promise<InvoiceRow | null> {
  if (invoice === null) {
    await creditCustomer(unit, payment);
    return null;
  }
  // Money is there, whatever became of the invoice meanwhile; credits are still in their wallet.
  const hasArrived = payment.payment_method_type !== 'CREDITS';
  const paid = await addPaid(unit, invoice, { amount: payment.amount, hasArrived });
  await postGroups(unit, [
    {
      customerId: payment.customer_id,
      kind: 'payment.succeeded',
      entityType: 'payment',
      entityId: payment.id,
      currency: payment.currency,
      postings,
    },
  ]);
  await undoRefund(unit, payment, { before: invoice, after: paid });
  await settlePurchase(unit, paid);
  return paid;
}

/** A payment whose money has arrived: it counts on its invoice once (docs/domain.md 17.2). */
export async function succeed(
  unit: Unit,
  held: HeldPayment,
  {
    target = { id: held.payment.id },
    postings,
  }: {
    readonly target?: ChangeTarget;
    readonly postings?: readonly Posting[];
  } = {},
): Promise<HeldPayment> {
  const { payment } = held;
  const invoice = await settle(unit, held, postings ?? postingsOfPayment(payment.amount));
  const isOver = invoice?.payment_status === 'OVERPAID';
  const done = {
    target,
    lifecycle: PAYMENT,
    patch: (row: PaymentRow) => ({
      succeeded_at: unit.now,
      error_message: null,
      attempts: withAttempt(unit, row, {
        status: isOver ? 'OVERPAID' : 'SUCCEEDED',
        error: null,
      }),
    }),
    told: toldOfPayment,
  };
  const after = isOver
    ? await moveRecord(unit, PAYMENTS, { ...done, move: 'overpay', to: 'OVERPAID' })
    : await moveRecord(unit, PAYMENTS, { ...done, move: 'succeed', to: 'SUCCEEDED' });
  return { payment: after, invoice };
}

/** The POST_PAID wallet that a payment by credits debits: the one that it names, or the oldest. */
async function lockWalletOf(unit: Unit, { payment }: HeldPayment) {
  const { payment_method_id: named, customer_id: customerId, currency } = payment;
  const wallets = await lockPayingWallets(unit, [customerId], 'POST_PAID');
  const [oldest] = wallets.filter((wallet) => wallet.currency === currency);
  if (named === null) {
    return accept(
      oldest ??
        new Refusal(
          'invalid_operation',
          `the customer has no POST_PAID wallet with ${currency} in it`,
        ),
    );
  }
  const wallet = await lockUsableWallet(unit, named);
  const isOwn = wallet.customer_id === customerId && wallet.currency === currency;
  if (isOwn && wallet.wallet_type === 'POST_PAID') return wallet;
  const problem = `wallet ${named} is not a POST_PAID one of this customer in ${currency}`;
  throw new Refused(new Refusal('invalid_operation', problem));
}

/** Pays an invoice with credits of a POST_PAID wallet. */
export async function payByCredits(unit: Unit, held: HeldPayment): Promise<HeldPayment> {
  const wallet = accept(await lockWalletOf(unit, held));
  const { amount, id } = held.payment;
  const usable = sumOf((await usableCredits(unit, wallet)).map(({ available }) => available));
  const moved = await debitCredits(unit, wallet, {
    credits: creditsToPay(amount, wallet.conversion_rate, usable),
    reason: 'INVOICE_PAYMENT',
    reference: { type: 'PAYMENT', id },
  });
  const share = { walletId: wallet.id, worth: moved.transaction.amount };
  return succeed(unit, held, { postings: postingsOfCreditPayment(share, amount) });
}

/** Takes the money of a payment now, here or by a gateway (docs/domain.md 17.2). */
export function processPayment(unit: Unit, held: HeldPayment): Promise<HeldPayment> {
  const { payment_method_type: method } = held.payment;
  switch (method) {
    case 'OFFLINE':
      return succeed(unit, held);
    case 'CREDITS':
      return payByCredits(unit, held);
    case 'PAYMENT_LINK':
      return beginPage(unit, held);
    default:
      return beginCharge(unit, held);
  }
}

/** Records money that has come in for a locked invoice as a payment of its own. */
export async function recordMoney(
  unit: Unit,
  invoice: InvoiceRow,
  amount: Decimal,
): Promise<InvoiceRow> {
  const given = { payment_method_type: 'OFFLINE', amount } as const;
  const payment = await storePayment(unit, newPayment(invoice, given));
  const done = await succeed(unit, { payment, invoice });
  return assertPresent(done.invoice, `the invoice of ${plain(amount)}`);
}
