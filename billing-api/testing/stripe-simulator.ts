import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SimulatedInvoices } from './simulated-invoices.js';
import { answerOfPage, SimulatedPages, type SimulatedPage } from './simulated-pages.js';

/** What the simulator knows of a PaymentIntent. */
export type SimulatedIntent = {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
  readonly customer: string | null;
  readonly paymentMethod: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Its money is set aside first. */
  readonly isReserved: boolean;
  status:
    | 'requires_confirmation'
    | 'processing'
    | 'requires_capture'
    | 'succeeded'
    | 'requires_payment_method'
    | 'canceled';
  /** How often money was taken by it: more than once is a fault. */
  captures: number;
};

/** A Stripe that knows the few requests that are made here, with keys of idempotency. */
export type StripeSimulator = {
  readonly url: string;
  readonly webhookSecret: string;
  readonly intents: Map<string, SimulatedIntent>;
  readonly invoices: SimulatedInvoices;
  readonly pages: SimulatedPages;
  /** Keys of idempotency, in the order in which requests came with them. */
  readonly keys: string[];
  /** Default payment methods by customer. */
  readonly defaults: Map<string, string>;
  /** So many of the next requests are carried out, and their answers lost. */
  loseNext: number;
  /** Of requests whose path ends so. */
  losePath: string;
  /** So many of the next requests are answered by 500, and nothing is done. */
  failNext: number;
  /** Something happens there: a body as Stripe would send it, and its signature. */
  readonly event: (type: string, object: object, id?: string) => SignedBody;
  /** As `event`, of a PaymentIntent as it stands or as it is said to. */
  readonly intentEvent: (intent: SimulatedIntent, type: string, id?: string) => SignedBody;
  /** As `event`, of a page as it stands. */
  readonly pageEvent: (page: SimulatedPage, type: string) => SignedBody;
  readonly close: () => Promise<void>;
};

export type SignedBody = { readonly body: string; readonly signature: string };

type Answer = { readonly status: number; readonly body: object };

const SECRET = 'whsec_simulated';

/** Cards of tests, as Stripe names them. */
const DECLINED = 'pm_card_chargeDeclined';
const SLOW = 'pm_slow';

const error = (status: number, members: object): Answer => ({ status, body: { error: members } });

function answerOf(intent: SimulatedIntent): object {
  const { captures, paymentMethod, isReserved, ...rest } = intent;
  return {
    ...rest,
    object: 'payment_intent',
    payment_method: paymentMethod,
    capture_method: isReserved ? 'manual' : 'automatic',
    amount_received: captures > 0 ? intent.amount : 0,
    last_payment_error:
      intent.status === 'requires_payment_method'
        ? { message: 'Your card was declined.', code: 'card_declined' }
        : null,
  };
}

function unexpected({ status }: SimulatedIntent): Answer {
  const code = 'payment_intent_unexpected_state';
  const message = `This PaymentIntent is ${status}.`;
  return error(400, { type: 'invalid_request_error', code, message });
}

function metadataOf(form: URLSearchParams): Record<string, string> {
  const found = [...form].flatMap(([name, value]) => {
    const key = /^metadata\[(\w+)\]$/.exec(name)?.[1];
    return key === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(found);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function sign(body: string): string {
  const at = Math.floor(Date.now() / 1_000);
  const signature = createHmac('sha256', SECRET).update(`${at}.${body}`).digest('hex');
  return `t=${at},v1=${signature}`;
}

/** A signal as it is sent once more: a gateway signs each attempt with its time. */
export function signedAgain({ body }: SignedBody): SignedBody {
  return { body, signature: sign(body) };
}

/** What the simulator does, without HTTP. */
class Account {
  readonly intents = new Map<string, SimulatedIntent>();
  readonly defaults = new Map<string, string>();
  readonly invoices = new SimulatedInvoices();
  readonly pages = new SimulatedPages();
  /** What has happened, whether anybody was told or not. */
  readonly events: object[] = [];

  do(method: string, path: string, form: URLSearchParams): Answer {
    const [, , kind = '', id = '', action, step] = path.split('/');
    if (kind === 'checkout') return this.#doPage([action, step], form);
    if (kind === 'events') return this.#listEvents(form);
    switch (kind) {
      case 'customers': {
        const body = { default_payment_method: this.defaults.get(id) ?? null };
        return { status: 200, body: { id, object: 'customer', invoice_settings: body } };
      }
      case 'credit_notes':
        return this.invoices.credit(form);
      case 'invoices':
        return id === ''
          ? this.invoices.create(form, metadataOf(form))
          : this.invoices.do(method, [id, action], form);
      default:
        return this.#doIntent(kind, [id, action], form);
    }
  }

  /** All on one page, the newest first. */
  #listEvents(form: URLSearchParams): Answer {
    const [from, until] = ['gte', 'lt'].map((end) => Number(form.get(`created[${end}]`)));
    const data = this.events.filter(
      (one) =>
        'created' in one &&
        Number(one.created) >= Number(from) &&
        Number(one.created) < Number(until),
    );
    return { status: 200, body: { object: 'list', data: data.reverse(), has_more: false } };
  }

  #doPage([id, action]: readonly (string | undefined)[], form: URLSearchParams): Answer {
    return id === undefined
      ? this.pages.create(form, metadataOf(form))
      : this.pages.do([id, action]);
  }

  #doIntent(
    kind: string,
    [id, action]: readonly [string, string | undefined],
    form: URLSearchParams,
  ): Answer {
    if (id === '') return this.#create(form);
    const intent = this.intents.get(id);
    if (intent === undefined) {
      return error(404, { type: 'invalid_request_error', message: `No such ${kind}: ${id}` });
    }
    return this.#act(intent, action);
  }

  #act(intent: SimulatedIntent, action: string | undefined): Answer {
    if (action === 'confirm') return this.#confirm(intent);
    if (action === 'capture') return this.#capture(intent);
    if (action === 'cancel') intent.status = 'canceled';
    return { status: 200, body: answerOf(intent) };
  }

  #create(form: URLSearchParams): Answer {
    const intent: SimulatedIntent = {
      id: `pi_${this.intents.size + 1}`,
      amount: Number(form.get('amount')),
      currency: form.get('currency') ?? '',
      customer: form.get('customer'),
      paymentMethod: form.get('payment_method') ?? '',
      metadata: metadataOf(form),
      isReserved: form.get('capture_method') === 'manual',
      status: 'requires_confirmation',
      captures: 0,
    };
    this.intents.set(intent.id, intent);
    return { status: 200, body: answerOf(intent) };
  }

  #confirm(intent: SimulatedIntent): Answer {
    if (intent.status !== 'requires_confirmation' && intent.status !== 'requires_payment_method') {
      return unexpected(intent);
    }
    if (intent.paymentMethod === DECLINED) {
      intent.status = 'requires_payment_method';
      const message = 'Your card was declined.';
      return error(402, { type: 'card_error', code: 'card_declined', message });
    }
    if (intent.isReserved) intent.status = 'requires_capture';
    else if (intent.paymentMethod === SLOW) intent.status = 'processing';
    else {
      intent.status = 'succeeded';
      intent.captures += 1;
    }
    return { status: 200, body: answerOf(intent) };
  }

  #capture(intent: SimulatedIntent): Answer {
    if (intent.status !== 'requires_capture') return unexpected(intent);
    intent.status = 'succeeded';
    intent.captures += 1;
    return { status: 200, body: answerOf(intent) };
  }
}

/** Starts a simulator on a free port of this machine. */
export async function startStripeSimulator(): Promise<StripeSimulator> {
  const account = new Account();
  const known = new Map<string, { readonly asked: string; readonly answer: Answer }>();
  const state = { loseNext: 0, losePath: '', failNext: 0 };
  const keys: string[] = [];

  /** The same key is answered as before, and refused for another request. */
  const answerTo = (request: IncomingMessage, text: string): Answer => {
    const { method = 'GET', url = '/' } = request;
    const key = request.headers['idempotency-key'] as string | undefined;
    const asked = `${method} ${url} ${text}`;
    if (key !== undefined) keys.push(key);
    const before = key === undefined ? undefined : known.get(key);
    if (before !== undefined) {
      if (before.asked === asked) return before.answer;
      return error(400, { type: 'idempotency_error', message: 'another request had this key' });
    }
    const { pathname: path, searchParams: asking } = new URL(url, 'http://stripe');
    const form = method === 'GET' ? asking : new URLSearchParams(text);
    const answer = account.do(method, path, form);
    if (key !== undefined) known.set(key, { asked, answer });
    return answer;
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await bodyOf(request);
    const isFailing = state.failNext > 0;
    if (isFailing) state.failNext -= 1;
    const failure = error(500, { type: 'api_error', message: 'try again' });
    const { status, body } = isFailing ? failure : answerTo(request, text);
    if (!isFailing && state.loseNext > 0 && (request.url ?? '').endsWith(state.losePath)) {
      state.loseNext -= 1;
      request.socket.destroy();
      return;
    }
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };

  const server: Server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  let events = 0;
  const event = (type: string, object: object, id = `evt_${(events += 1)}`): SignedBody => {
    const created = Math.floor(Date.now() / 1_000);
    const made = { id, object: 'event', type, created, data: { object } };
    account.events.push(made);
    const body = JSON.stringify(made);
    return { body, signature: sign(body) };
  };
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    webhookSecret: SECRET,
    keys,
    event,
    intents: account.intents,
    defaults: account.defaults,
    invoices: account.invoices,
    pages: account.pages,
    intentEvent: (intent: SimulatedIntent, type: string, id?: string) =>
      event(type, answerOf(intent), id),
    pageEvent: (page: SimulatedPage, type: string) => event(type, answerOfPage(page)),
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}
