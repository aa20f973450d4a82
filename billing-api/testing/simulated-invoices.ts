/** A line of an invoice at the simulated Stripe. */
export type SimulatedLine = {
  readonly id: string;
  readonly amount: number;
  readonly description: string;
};

/** What the simulator knows of an invoice. */
export type SimulatedInvoice = {
  readonly id: string;
  readonly currency: string;
  readonly customer: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly daysUntilDue: number;
  lines: SimulatedLine[];
  status: 'draft' | 'open' | 'paid' | 'void';
  amountPaid: number;
  /** What of it somebody said to have got elsewhere. */
  paidElsewhere: number;
  credited: number;
  isPaidOutOfBand: boolean;
};

type Answer = { readonly status: number; readonly body: object };

const ok = (body: object): Answer => ({ status: 200, body });
const refuse = (message: string, status = 400): Answer => ({
  status,
  body: { error: { type: 'invalid_request_error', message } },
});

/** Stripe's own limit. */
const LINES_MAX = 250;

const totalOf = ({ lines }: SimulatedInvoice): number =>
  lines.reduce((sum, { amount }) => sum + amount, 0);

/** The members `lines[0][amount]` … of a form, as objects. */
function linesOf(form: URLSearchParams): Readonly<Record<string, string>>[] {
  const found: Record<string, string>[] = [];
  for (const [name, value] of form) {
    const [, index, member] = /^lines\[(\d+)\]\[(\w+)\]$/.exec(name) ?? [];
    if (index !== undefined && member !== undefined) (found[Number(index)] ??= {})[member] = value;
  }
  return found;
}

function answerOf(invoice: SimulatedInvoice): object {
  const { id, currency, customer, metadata, status, credited, lines } = invoice;
  const { amountPaid, paidElsewhere } = invoice;
  const total = totalOf(invoice);
  return {
    id,
    currency,
    customer,
    metadata,
    status,
    object: 'invoice',
    total,
    amount_paid: amountPaid,
    amount_paid_off_stripe: paidElsewhere,
    amount_remaining: Math.max(0, total - credited - amountPaid),
    pre_payment_credit_notes_amount: credited,
    invoice_pdf: invoice.status === 'draft' ? null : `https://pay.example/${invoice.id}.pdf`,
    lines: { object: 'list', data: lines.slice(0, 10), has_more: lines.length > 10 },
  };
}

/** The invoices of the simulated Stripe. */
export class SimulatedInvoices {
  readonly all = new Map<string, SimulatedInvoice>();
  #lines = 0;

  create(form: URLSearchParams, metadata: Readonly<Record<string, string>>): Answer {
    const invoice: SimulatedInvoice = {
      id: `in_${this.all.size + 1}`,
      currency: form.get('currency') ?? '',
      customer: form.get('customer') ?? '',
      metadata,
      daysUntilDue: Number(form.get('days_until_due')),
      lines: [],
      status: 'draft',
      amountPaid: 0,
      paidElsewhere: 0,
      credited: 0,
      isPaidOutOfBand: false,
    };
    this.all.set(invoice.id, invoice);
    return ok(answerOf(invoice));
  }

  /** A note lowers what is left of an open invoice. */
  credit(form: URLSearchParams): Answer {
    const invoice = this.all.get(form.get('invoice') ?? '');
    if (invoice?.status !== 'open') return refuse('the invoice is not open');
    invoice.credited += Number(form.get('amount'));
    this.#settle(invoice);
    return ok({ id: `cn_${invoice.credited}`, object: 'credit_note' });
  }

  do(method: string, [id, action]: readonly (string | undefined)[], form: URLSearchParams): Answer {
    const invoice = this.all.get(id ?? '');
    if (invoice === undefined) return refuse(`No such invoice: ${id}`, 404);
    if (action === 'lines') {
      return ok({ object: 'list', data: invoice.lines, has_more: false, url: '/lines' });
    }
    if (method === 'GET') return ok(answerOf(invoice));
    const refused = this.#change(invoice, method === 'DELETE' ? 'delete' : (action ?? ''), form);
    return refused === null ? ok(answerOf(invoice)) : refuse(refused);
  }

  /** Pays at Stripe, as a customer does on its page. */
  pay(id: string, units: number): void {
    const invoice = this.all.get(id);
    if (invoice?.status !== 'open') throw new Error(`no open invoice ${id}`);
    invoice.amountPaid += units;
    this.#settle(invoice);
  }

  #settle(invoice: SimulatedInvoice): void {
    const left = totalOf(invoice) - invoice.credited - invoice.amountPaid;
    if (left <= 0) invoice.status = 'paid';
  }

  /** Why a change is refused; null when it is made. */
  #change(invoice: SimulatedInvoice, action: string, form: URLSearchParams): string | null {
    const { status } = invoice;
    if (['add_lines', 'remove_lines', 'finalize', 'delete'].includes(action)) {
      return status === 'draft'
        ? this.#changeDraft(invoice, action, form)
        : `This invoice is ${status}.`;
    }
    if (status !== 'open') return `This invoice is ${status}.`;
    if (action === 'void') invoice.status = 'void';
    if (action === 'pay') {
      invoice.isPaidOutOfBand = form.get('paid_out_of_band') === 'true';
      if (!invoice.isPaidOutOfBand) return 'no payment method';
      const left = totalOf(invoice) - invoice.credited - invoice.amountPaid;
      invoice.paidElsewhere += left;
      invoice.amountPaid += left;
      invoice.status = 'paid';
    }
    return null;
  }

  #changeDraft(invoice: SimulatedInvoice, action: string, form: URLSearchParams): string | null {
    if (action === 'add_lines') return this.#add(invoice, form);
    if (action === 'remove_lines') {
      const ids = new Set(linesOf(form).map(({ id }) => id));
      invoice.lines = invoice.lines.filter(({ id }) => !ids.has(id));
    }
    if (action === 'delete') this.all.delete(invoice.id);
    if (action === 'finalize') {
      invoice.status = 'open';
      this.#settle(invoice);
    }
    return null;
  }

  #add(invoice: SimulatedInvoice, form: URLSearchParams): string | null {
    const added = linesOf(form).map(({ amount, description = '' }) => ({
      id: `il_${(this.#lines += 1)}`,
      amount: Number(amount),
      description,
    }));
    if (added.some(({ amount }) => !Number.isInteger(amount))) return 'Invalid integer';
    if (invoice.lines.length + added.length > LINES_MAX) return 'too many invoice items';
    invoice.lines.push(...added);
    return null;
  }
}
