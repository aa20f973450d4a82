import { INVOICES } from '../../declarations/invoices/invoice.resource.js';
import { PAYMENTS, paymentToDto } from '../../declarations/money/payment.resource.js';
import { updateRecord } from '../../records/change-record.js';
import { findRecord } from '../../records/find-record.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { announce } from '../../records/recorded-change.js';
import { isRefusal } from '../../records/refusal.js';
import { mustRead, type ReadUnit, type Unit } from '../../records/unit.js';
import { openGateway } from '../gateways/open-gateway.js';
import { GatewayUnavailable, type PaymentGateway } from '../gateways/payment-gateway.js';
import { paidOtherwise } from '../payments/begin-charge.js';
import type { HeldPayment } from '../payments/held-payment.js';
import { holdCharge, noteOutcome } from './note-outcome.js';
import {
  findAddresses,
  findOpenPages,
  pageProblem,
  storePage,
  type OpenPage,
} from '../payments/payment-pages.js';
import { chargeOf, noteThere, type GatewayNeeds, type Pending } from './pending-payment.js';

/** Work at a gateway. */
type Work = {
  readonly needs: GatewayNeeds;
  readonly occasion: Occasion<JobActor>;
  readonly gateway: PaymentGateway;
};

/**
 * Closes pages, and notes what was paid by them before. Where something was, another payment of the
 * same invoice is not carried out: both are noted in one unit, so that it stays so.
 * @returns whether something was paid.
 */
export async function closePages(
  { needs, occasion, gateway }: Work,
  pages: readonly OpenPage[],
  instead: string | null,
): Promise<boolean> {
  for (const { paymentId, pageId } of pages) {
    const outcome = await gateway.closePage(pageId);
    const isPaid = outcome.status !== 'failed';
    await noteThere(needs, occasion, async (unit) => {
      const noted = await noteOutcome(unit, paymentId, { outcome, refunded: null });
      if (isRefusal(noted) || !isPaid || instead === null) return noted;
      return fail(unit, instead, 'the invoice was paid by a page meanwhile');
    });
    if (isPaid) return true;
  }
  return false;
}

const fail = (unit: Unit, paymentId: string, reason: string) =>
  noteOutcome(unit, paymentId, { outcome: { status: 'failed', reason }, refunded: null });

/** What there is at the gateway, and what stands in the way of a page. */
async function look(unit: ReadUnit, { payment }: Pending) {
  const { id, destination_type: type, destination_id: destinationId } = payment;
  const invoice = type === 'INVOICE' ? await findRecord(unit, INVOICES, destinationId) : null;
  const pages = invoice === null ? [] : await findOpenPages(unit, { invoiceId: invoice.id });
  return {
    own: await findOpenPages(unit, { paymentId: id }),
    others: pages.filter(({ paymentId }) => paymentId !== id),
    addresses: await findAddresses(unit, payment),
    problem: invoice === null ? null : pageProblem(payment, invoice),
  };
}

/** Why a page is not shown to anybody; null when it is. */
async function problemOf(unit: Unit, { payment, invoice }: HeldPayment): Promise<string | null> {
  const { payment_status: status, destination_type: type } = payment;
  if (status !== 'PENDING') return `the payment is ${status}`;
  if (invoice === null) return type === 'INVOICE' ? 'the invoice is VOIDED' : null;
  return (await paidOtherwise(unit, { payment, invoice })) ?? pageProblem(payment, invoice);
}

/**
 * Shows a page that is open at the gateway. From the lock of the invoice on, no charge can begin
 * that does not see it.
 * @returns why it is not shown; null when it is.
 * @throws GatewayUnavailable when another page of the invoice was faster: it is closed next time.
 */
async function show(
  unit: Unit,
  paymentId: string,
  { id, url }: { readonly id: string; readonly url: string },
): Promise<string | null> {
  const held = await holdCharge(unit, paymentId);
  const problem = await problemOf(unit, held);
  if (problem !== null) return problem;
  const { payment: row, invoice } = held;
  const pages = invoice === null ? [] : await findOpenPages(unit, { invoiceId: invoice.id });
  if (pages.length > 0) throw new GatewayUnavailable('another page was opened meanwhile', null);
  await storePage(unit, row, id);
  const after = await updateRecord(unit, PAYMENTS, { row, patch: { payment_url: url } });
  announce(unit, PAYMENTS, { id: row.id, name: 'payment.updated', told: paymentToDto(after) });
  return null;
}

/** Opens the page of a payment and shows it, unless there is nothing to pay by it any more. */
async function open(work: Work, pending: Pending): Promise<string | null> {
  const { needs, occasion, gateway } = work;
  const { id, payment_status: status } = pending.payment;
  const { own, others, addresses, problem } = await mustRead(needs, occasion, (unit) =>
    look(unit, pending),
  );
  if (status !== 'PENDING' || own.length > 0) {
    const isOver = status !== 'PENDING' || problem !== null;
    if (isOver) await closePages(work, own, null);
    return null;
  }
  if (problem !== null) return problem;
  if (addresses === null) return 'it has no success_url; create the payment anew';
  if (await closePages(work, others, id)) return null;
  const opened = await gateway.openPage(chargeOf(pending), addresses);
  if (opened.status === 'failed') return opened.reason;
  const withheld = await noteThere(needs, occasion, (unit) => show(unit, id, opened));
  // Nobody has seen it.
  if (withheld !== null) await gateway.closePage(opened.id);
  return withheld;
}

/**
 * Opens the page of a payment by which a payer pays, or closes it when it is over (docs/domain.md
 * 17.8). It may be killed at any point and done again.
 * @throws GatewayUnavailable when the gateway is to be asked again.
 */
export async function servePage(
  needs: GatewayNeeds,
  occasion: Occasion<JobActor>,
  pending: Pending,
): Promise<void> {
  const { connection, payment } = pending;
  const reason =
    connection === null
      ? 'the gateway was removed'
      : await open({ needs, occasion, gateway: await openGateway(needs, connection) }, pending);
  if (reason !== null) await noteThere(needs, occasion, (unit) => fail(unit, payment.id, reason));
}
