import { add, compare, zero, type Fraction } from '../usage-oracle/fraction.js';
import { exact, subtract } from '../pricing-oracle/exact.js';
import { moneyText } from '../pricing-oracle/money.js';
import { CURRENCY } from './model/charges.js';
import type { Bill, Life } from './model/life.js';
import {
  canNote,
  isWhole,
  leftOfBill,
  noteStatus,
  openBill,
  partOf,
  payAmount,
  refundPart,
  thirdOf,
  voidInvoice,
  type NotedStatus,
} from './model/payments.js';
import { modelText, productText } from './invoice-text.js';
import { ask, type Answer, type WalkWorld } from './walk-world.js';
import { pick, type Draws, type Operation } from './act.js';

type Billed = { readonly invoice: Answer; readonly bill: Bill };

/** One of the final invoices of a subscription, and what the model knows of its payment. */
async function drawBill(world: WalkWorld, life: Life, draws: Draws): Promise<Billed | null> {
  const id = world.ids.get(life.id);
  const { items } = await ask(world, '/v1/invoices/search', { subscription_id: id, limit: 100 });
  const final = items.filter((one: Answer) => one.invoice_status === 'FINALIZED');
  if (final.length === 0) return null;
  const invoice: Answer = pick(final, draws.a);
  const bill = life.payer.bills.get(invoice.id) ?? openBill(exact(invoice.amount_due));
  return { invoice, bill };
}

const pathOf = ({ invoice }: Billed): string => `/v1/invoices/${invoice.id}`;

const money: Operation = async (world, life, draws) => {
  const billed = await drawBill(world, life, draws);
  if (billed === null) return null;
  const { bill, invoice } = billed;
  if (compare(bill.refunded, zero) > 0) return null;
  const { open } = leftOfBill(bill);
  const amounts: readonly Fraction[] = [partOf(bill), open, add(open, exact('1'))];
  const amount = pick(amounts, draws.b);
  if (compare(amount, zero) <= 0) return null;
  return {
    says: 'pay',
    path: `${pathOf(billed)}/payment`,
    method: 'PUT',
    isLegal: true,
    body: { amount: moneyText(CURRENCY, amount) },
    apply: () => {
      payAmount(bill, amount);
      life.payer.bills.set(invoice.id, bill);
    },
  };
};

const outcome: Operation = async (world, life, draws) => {
  const billed = await drawBill(world, life, draws);
  if (billed === null) return null;
  const { bill, invoice } = billed;
  const status = pick<NotedStatus>(['SUCCEEDED', 'FAILED', 'PENDING', 'FAILED'], draws.b);
  const isLegal = canNote(bill, status);
  if (!isLegal && draws.c % 4 > 0) return null;
  return {
    says: `note ${status}`,
    path: `${pathOf(billed)}/payment`,
    method: 'PUT',
    isLegal,
    body: { payment_status: status },
    apply: () => {
      noteStatus(bill, status);
      life.payer.bills.set(invoice.id, bill);
    },
  };
};

const voids: Operation = async (world, life, draws) => {
  const billed = await drawBill(world, life, draws);
  if (billed === null) return null;
  const { bill, invoice } = billed;
  const alike = life.invoices.filter((one) => modelText(one) === productText(invoice));
  const [found] = alike;
  if (found === undefined || alike.length > 1 || !isWhole(life, found)) return null;
  return {
    says: `void ${modelText(found)}`,
    path: `${pathOf(billed)}/void`,
    body: {},
    isLegal: true,
    apply: () => {
      voidInvoice(life, found, bill);
      life.payer.bills.delete(invoice.id);
    },
  };
};

/**
 * Refunds a third of a payment of a subscription that has ended: what is credited for unused time
 * of one that goes on would depend on it. Whatever was credited may be of this invoice.
 */
const refund: Operation = async (world, life, draws) => {
  if (life.status !== 'cancelled') return null;
  const billed = await drawBill(world, life, draws);
  if (billed === null) return null;
  const { bill, invoice } = billed;
  const { items } = await ask(world, `/v1/payments?destination_id=${invoice.id}`);
  const payment = items.find((one: Answer) => one.payment_status === 'SUCCEEDED');
  if (payment === undefined || bill.status === 'OVERPAID') return null;
  const amount = thirdOf(exact(payment.amount));
  const left = subtract(subtract(bill.paid, bill.refunded), life.payer.credited);
  if (compare(amount, zero) <= 0 || compare(amount, left) > 0) return null;
  const refunded = moneyText(CURRENCY, amount);
  return {
    says: `refund ${refunded}`,
    path: `/v1/payments/${payment.id}`,
    method: 'PUT',
    body: { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: refunded },
    isLegal: true,
    apply: () => {
      refundPart(bill, amount);
      life.payer.bills.set(invoice.id, bill);
    },
  };
};

/** What happens to invoices of a subscription. */
export const PAYMENT_OPERATIONS: readonly (readonly [weight: number, Operation])[] = [
  [3, money],
  [3, outcome],
  [1, voids],
  [4, refund],
];
