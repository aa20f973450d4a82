import type Stripe from 'stripe';
import { ZERO, type Decimal } from '../../../contract/decimal.js';
import { moneyOfUnits, unitsOfMoney } from '../../domain/payment/gateway-amount.js';
import type {
  InvoiceProvider,
  ProviderAnswer,
  ProviderInvoice,
  SentInvoice,
} from './invoice-provider.js';
import { openClient, refusedBecause, type StripeAccess } from './stripe-client.js';

/** Stripe takes no more on one invoice. */
const LINES_MAX = 250;

/** What cannot be said at Stripe. */
class NotSayable extends Error {}

function unitsOf(amount: Decimal, currency: string): number {
  const units = unitsOfMoney(amount, currency);
  if (units === null) throw new NotSayable(`Stripe has no such amount: ${amount.toFixed()}`);
  return units;
}

const STATUSES = ['draft', 'open', 'paid', 'void', 'uncollectible'] as const;

function toldOf(invoice: Stripe.Invoice): ProviderInvoice {
  const { currency, total, amount_paid: paid, status } = invoice;
  const credited = invoice.pre_payment_credit_notes_amount;
  return {
    ...{ id: invoice.id, currency, status: STATUSES.find((one) => one === status) ?? 'draft' },
    total: moneyOfUnits(total, currency),
    // What a balance at Stripe has paid is not in amount_paid.
    paid: moneyOfUnits(status === 'paid' ? Math.max(paid, total - credited) : paid, currency),
    pdfUrl: invoice.invoice_pdf ?? null,
  };
}

/** Asks Stripe; what it refuses is an answer. @throws GatewayUnavailable. */
async function asking<T>(
  access: StripeAccess,
  ask: (client: Stripe) => Promise<T>,
): Promise<ProviderAnswer<T>> {
  const client = await openClient(access);
  try {
    return { status: 'done', value: await ask(client) };
  } catch (error) {
    if (error instanceof NotSayable) return { status: 'refused', reason: error.message };
    return { status: 'refused', reason: refusedBecause(error) };
  }
}

async function begin(client: Stripe, invoice: SentInvoice): Promise<string> {
  const { invoiceId, invoiceNumber, payerId, currency, daysUntilDue } = invoice;
  const { id } = await client.invoices.create(
    {
      ...{ customer: payerId, currency, days_until_due: daysUntilDue },
      ...{ collection_method: 'send_invoice', auto_advance: false },
      pending_invoice_items_behavior: 'exclude',
      metadata: {
        invoice_id: invoiceId,
        ...(invoiceNumber === null ? {} : { invoice_number: invoiceNumber }),
      },
      ...(invoiceNumber === null ? {} : { description: `Invoice ${invoiceNumber}` }),
    },
    // What else may change of our invoice is not said here.
    { idempotencyKey: `${invoiceId}:${payerId}:${daysUntilDue}:begin` },
  );
  return id;
}

/** Takes away lines that are not ours, as long as the invoice is a draft. */
async function clearLines(client: Stripe, { id }: Stripe.Invoice, run: string): Promise<string> {
  const lines: { readonly id: string; readonly behavior: 'delete' }[] = [];
  for await (const line of client.invoices.listLineItems(id, { limit: 100 })) {
    lines.push({ id: line.id, behavior: 'delete' });
  }
  const [first] = lines;
  if (first === undefined) return '';
  const idempotencyKey = `${run}:clear:${first.id}`;
  await client.invoices.removeLines(id, { lines }, { idempotencyKey });
  return first.id;
}

/** Gives a draft our lines, unless they are there. */
async function fillDraft(
  client: Stripe,
  draft: Stripe.Invoice,
  { sent, run }: { readonly sent: SentInvoice; readonly run: string },
): Promise<Stripe.Invoice> {
  const { currency } = sent;
  const isFilled = draft.total === unitsOf(sent.total, currency) && draft.lines.data.length > 0;
  if (isFilled || sent.lines.length === 0) return draft;
  const lines = sent.lines.map(({ description, amount }) => ({
    ...{ description, amount: unitsOf(amount, currency), discountable: false },
  }));
  const cleared = await clearLines(client, draft, run);
  const idempotencyKey = `${run}:lines:${cleared}`;
  return client.invoices.addLines(draft.id, { lines }, { idempotencyKey });
}

async function finalizeDraft(
  client: Stripe,
  draft: Stripe.Invoice,
  how: { readonly sent: SentInvoice; readonly run: string },
): Promise<Stripe.Invoice> {
  const filled = await fillDraft(client, draft, how);
  if (filled.total !== unitsOf(how.sent.total, how.sent.currency)) {
    const theirs = moneyOfUnits(filled.total, filled.currency).toFixed();
    const ours = how.sent.total.toFixed();
    throw new NotSayable(`the total at Stripe is ${theirs}, not ${ours}; it stays a draft there`);
  }
  const idempotencyKey = `${how.run}:finalize`;
  return client.invoices.finalizeInvoice(draft.id, { auto_advance: false }, { idempotencyKey });
}

/** Tells of credit notes, and of a payment that is complete here. */
async function settle(
  client: Stripe,
  open: Stripe.Invoice,
  { sent, run }: { readonly sent: SentInvoice; readonly run: string },
): Promise<Stripe.Invoice> {
  if (open.status !== 'open') return open;
  const known = moneyOfUnits(open.pre_payment_credit_notes_amount, open.currency);
  const missing = sent.credited.minus(known);
  if (missing.greaterThan(ZERO)) {
    const note = { invoice: open.id, amount: unitsOf(missing, sent.currency) };
    const idempotencyKey = `${run}:credit:${known.toFixed()}`;
    await client.creditNotes.create(note, { idempotencyKey });
  }
  const current = missing.greaterThan(ZERO) ? await client.invoices.retrieve(open.id) : open;
  if (!sent.isPaid || current.status !== 'open') return current;
  const idempotencyKey = `${run}:paid`;
  return client.invoices.pay(open.id, { paid_out_of_band: true }, { idempotencyKey });
}

async function cancel(client: Stripe, id: string): Promise<ProviderInvoice> {
  const invoice = await client.invoices.retrieve(id);
  if (invoice.status === 'void') return toldOf(invoice);
  if (invoice.status !== 'draft') return toldOf(await client.invoices.voidInvoice(id));
  await client.invoices.del(id);
  return { ...toldOf(invoice), status: 'void' };
}

/** Invoices at Stripe. */
export function createStripeInvoices(access: StripeAccess): InvoiceProvider {
  return {
    linesMax: LINES_MAX,
    begin: (invoice) => asking(access, (client) => begin(client, invoice)),
    complete: (sent, { id, run }) =>
      asking(access, async (client) => {
        const invoice = await client.invoices.retrieve(id);
        const isDraft = invoice.status === 'draft';
        const final = isDraft ? await finalizeDraft(client, invoice, { sent, run }) : invoice;
        return toldOf(await settle(client, final, { sent, run }));
      }),
    cancel: (id) => asking(access, (client) => cancel(client, id)),
    read: (id) => asking(access, async (client) => toldOf(await client.invoices.retrieve(id))),
  };
}
