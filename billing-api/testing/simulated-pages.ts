/** What the simulator knows of a Checkout Session: a page where a payer pays. */
export type SimulatedPage = {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
  readonly customer: string | null;
  readonly successUrl: string;
  readonly cancelUrl: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  status: 'open' | 'complete' | 'expired';
  /** Whether its money has arrived; of an account it is on its way at first. */
  isPaid: boolean;
};

type Answer = { readonly status: number; readonly body: object };

const refuse = (message: string, status = 400): Answer => ({
  status,
  body: { error: { type: 'invalid_request_error', message } },
});

/** A page as Stripe answers it. */
export function answerOfPage(page: SimulatedPage): object {
  const { id, amount, currency, customer, metadata, status, isPaid } = page;
  return {
    id,
    currency,
    customer,
    metadata,
    status,
    object: 'checkout.session',
    amount_total: amount,
    payment_status: isPaid ? 'paid' : 'unpaid',
    payment_intent: status === 'complete' ? `pi of ${id}` : null,
    url: status === 'open' ? `https://pay.example/${id}` : null,
  };
}

/** The pages of the simulated Stripe. */
export class SimulatedPages {
  readonly all = new Map<string, SimulatedPage>();

  create(form: URLSearchParams, metadata: Readonly<Record<string, string>>): Answer {
    const page: SimulatedPage = {
      id: `cs_${this.all.size + 1}`,
      amount: Number(form.get('line_items[0][price_data][unit_amount]')),
      currency: form.get('line_items[0][price_data][currency]') ?? '',
      customer: form.get('customer'),
      successUrl: form.get('success_url') ?? '',
      cancelUrl: form.get('cancel_url'),
      metadata,
      status: 'open',
      isPaid: false,
    };
    this.all.set(page.id, page);
    return { status: 200, body: answerOfPage(page) };
  }

  do([id, action]: readonly [string, string | undefined]): Answer {
    const page = this.all.get(id);
    if (page === undefined) return refuse(`No such checkout.session: ${id}`, 404);
    if (action === 'expire') {
      if (page.status !== 'open')
        return refuse('Only Checkout Sessions with a status of open can be expired.');
      page.status = 'expired';
    }
    return { status: 200, body: answerOfPage(page) };
  }

  /** A payer pays by a page that is still open. @returns whether that is possible. */
  pay(page: SimulatedPage, isPaid = true): boolean {
    if (page.status !== 'open') return false;
    Object.assign(page, { status: 'complete', isPaid });
    return true;
  }
}
