import type Stripe from 'stripe';
import { maxOf, minOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { moneyOfUnits, unitsOfMoney } from './stripe-amounts.js';
import { minorDigitsOf } from '../../domain/money/minor-digits.js';
import { askedTooMuch } from '../../domain/payment/provider-amounts.js';
import type {
  InvoiceProvider,
  ProviderAnswer,
  ProviderInvoice,
  ProviderState,
  SentInvoice,
} from './invoice-provider.js';
import type { GatewayAccount } from './gateway-kind.js';
import { failureOf, openClient, refusedBecause } from './stripe-client.js';

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

function stateOf({ id, status }: Stripe.Invoice): ProviderState {
  return { id, status: STATUSES.find((one) => one === status) ?? 'draft' };
}

function toldOf(invoice: Stripe.Invoice): ProviderInvoice {
  const { currency, total, amount_paid: paid, amount_paid_off_stripe: elsewhere } = invoice;
  const credited = invoice.pre_payment_credit_notes_amount;
  // Without it, what a push has told to be paid here would count as received there.
  if (elsewhere === undefined) throw new NotSayable('Stripe does not say what was paid elsewhere');
  const money = (units: number) => moneyOfUnits(units, currency);
  return {
    ...stateOf(invoice),
    currency,
    amounts: {
      total: money(total),
      credited: money(credited),
      paidElsewhere: money(elsewhere),
      // What a balance at Stripe has paid is not in amount_paid.
      paid: money(invoice.status === 'paid' ? Math.max(paid, total - credited) : paid),
    },
    pdfUrl: invoice.invoice_pdf ?? null,
  };
}

/** An invoice with what only is told where it is asked for. */
function retrieve(client: Stripe, id: string): Promise<Stripe.Invoice> {
  return client.invoices.retrieve(id, { expand: ['amount_paid_off_stripe'] });
}

/** Asks Stripe; what it refuses is an answer. @throws GatewayUnavailable. */
async function asking<T>(
  access: GatewayAccount,
  ask: (client: Stripe) => Promise<T>,
): Promise<ProviderAnswer<T>> {
  const client = await openClient(access);
  try {
    return { status: 'done', value: await ask(client) };
  } catch (error) {
    if (error instanceof NotSayable) return { status: 'refused', reason: error.message };
    const status = failureOf(error).statusCode === 404 ? 'unknown' : 'refused';
    return { status, reason: refusedBecause(error) };
  }
}

async function begin(client: Stripe, invoice: SentInvoice): Promise<string> {
  const { invoiceId, invoiceNumber, payerId, currency, daysUntilDue } = invoice;
  const { id } = await client.invoices.create(
    {
      customer: payerId,
      currency,
      days_until_due: daysUntilDue,
      collection_method: 'send_invoice',
      auto_advance: false,
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
  const isFilled = draft.total === unitsOf(sent.asked, currency) && draft.lines.data.length > 0;
  if (isFilled || sent.lines.length === 0) return draft;
  const lines = sent.lines.map(({ description, amount }) => ({
    description,
    amount: unitsOf(amount, currency),
    discountable: false,
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
  if (filled.total !== unitsOf(how.sent.asked, how.sent.currency)) {
    const theirs = moneyOfUnits(filled.total, filled.currency).toFixed();
    const ours = how.sent.asked.toFixed();
    throw new NotSayable(`the total at Stripe is ${theirs}, not ${ours}; it stays a draft there`);
  }
  const idempotencyKey = `${how.run}:finalize`;
  return client.invoices.finalizeInvoice(draft.id, { auto_advance: false }, { idempotencyKey });
}

/** What a credit note is to take off an open invoice, so that Stripe asks for what is left. */
function creditOf(open: Stripe.Invoice, { amounts: here, isPaid }: SentInvoice): Decimal {
  const { amounts: there } = toldOf(open);
  // Where nothing is left, what was paid here is told as paid elsewhere instead.
  const missing = isPaid ? here.adjusted.minus(there.credited) : askedTooMuch(here, there);
  if (missing.isNegative() && !isPaid) {
    const less = missing.negated().toFixed(minorDigitsOf(open.currency));
    const problem = `Stripe asks for ${less} less than is left here`;
    const cause = 'a payment or credit note that it was told of did not hold';
    throw new NotSayable(
      `${problem}, since ${cause}; record how that is paid, or void the invoice at Stripe`,
    );
  }
  return minOf(maxOf(ZERO, missing), moneyOfUnits(open.amount_remaining, open.currency));
}

/** Tells of credit notes and of payments here. */
async function settle(
  client: Stripe,
  id: string,
  { sent, run }: { readonly sent: SentInvoice; readonly run: string },
): Promise<Stripe.Invoice> {
  const open = await retrieve(client, id);
  if (open.status !== 'open') return open;
  const credit = creditOf(open, sent);
  if (credit.greaterThan(ZERO)) {
    const known = moneyOfUnits(open.pre_payment_credit_notes_amount, open.currency);
    const note = { invoice: id, amount: unitsOf(credit, sent.currency) };
    const idempotencyKey = `${run}:credit:${known.toFixed()}`;
    await client.creditNotes.create(note, { idempotencyKey });
  }
  const current = credit.greaterThan(ZERO) ? await client.invoices.retrieve(id) : open;
  if (!sent.isPaid || current.status !== 'open') return current;
  const idempotencyKey = `${run}:paid`;
  return client.invoices.pay(id, { paid_out_of_band: true }, { idempotencyKey });
}

async function cancel(client: Stripe, id: string): Promise<ProviderState> {
  const invoice = await client.invoices.retrieve(id);
  if (invoice.status === 'void') return stateOf(invoice);
  if (invoice.status !== 'draft') return stateOf(await client.invoices.voidInvoice(id));
  await client.invoices.del(id);
  return { id, status: 'void' };
}

/** Invoices at Stripe. */
export function createStripeInvoices(access: GatewayAccount): InvoiceProvider {
  return {
    linesMax: LINES_MAX,
    begin: (invoice) => asking(access, (client) => begin(client, invoice)),
    complete: (sent, { id, run }) =>
      asking(access, async (client) => {
        const invoice = await client.invoices.retrieve(id);
        if (invoice.status === 'draft') await finalizeDraft(client, invoice, { sent, run });
        return stateOf(await settle(client, id, { sent, run }));
      }),
    cancel: (id) => asking(access, (client) => cancel(client, id)),
    read: (id) => asking(access, async (client) => toldOf(await retrieve(client, id))),
  };
}
