import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** What an attacker has; it is handed to a thread, so it is data alone. */
export type Attacker = {
  readonly port: number;
  readonly apiKey: string;
  /** One for each of its environments. */
  readonly keys: readonly string[];
  /** Of a subscription whose preview has almost as many buckets as one may have. */
  readonly subscriptionId: string;
  readonly previewPeriod: Readonly<Record<'period_start' | 'period_end', string>>;
  /** A meter with an expression that is as costly as it may be, and its events. */
  readonly meterId: string;
  readonly eventName: string;
  /** Finalized, with a thousand lines. */
  readonly longInvoiceId: string;
};

/** Answers by their status; 0 is a lost connection. */
export type Statuses = Map<number, number>;

type Run = { readonly of: Attacker; readonly signal: AbortSignal; readonly statuses: Statuses };

type Call = {
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: string;
};

const MIB = 1024 * 1024;
const agent = new Agent({ keepAlive: true });

function call({ of, statuses }: Run, { method = 'POST', path, body }: Call): Promise<void> {
  return new Promise((resolve) => {
    const end = (status: number): void => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      resolve();
    };
    const headers = { 'x-api-key': of.apiKey, 'content-type': 'application/json' };
    const sent = request({ agent, port: of.port, method, path, headers }, (answer) => {
      answer.resume();
      answer.once('error', () => end(0));
      answer.once('end', () => end(answer.statusCode ?? 0));
    });
    sent.once('error', () => end(0));
    sent.end(body);
  });
}

/** Asks on so many connections until it is over, each time with a pause behind the answer. */
async function keepCalling(
  run: Run,
  connections: number,
  asked: { readonly pauseMs?: number; readonly what: () => Call },
): Promise<void> {
  const ask = async (): Promise<void> => {
    while (!run.signal.aborted) {
      await call(run, asked.what());
      await delay(asked.pauseMs ?? 0);
    }
  };
  await Promise.all(Array.from({ length: connections }, ask));
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

const COSTLY_EVENTS = 1_000;
const PAUSE_BETWEEN_BATCHES_MS = 2_000;

/** Numbers without a pattern, of so many digits. */
function digits(count: number, seed: number): string {
  let [text, state] = ['', seed + 1];
  while (text.length < count) {
    state = (state * 48_271) % 2_147_483_647;
    text += String(state);
  }
  return text.slice(0, count);
}

let batches = 0;

/** A thousand events, each with two long numbers, at a minute of their own. */
function costlyBatch({ eventName }: Attacker): string {
  batches += 1;
  const events = Array.from({ length: COSTLY_EVENTS }, (_, index) => ({
    event_name: eventName,
    external_customer_id: 'customer-0',
    properties: {
      a: `1${digits(37, index)}`,
      b: `1${digits(37, index + batches)}`,
      kind: 'x',
      filling: digits(1_000, index),
    },
  }));
  return JSON.stringify({ events });
}

/** Forty connections of forty requests each, of which no answer is read. */
async function pipeline({ of, signal }: Run, path: string): Promise<void> {
  while (!signal.aborted) {
    const sockets = await Promise.all(Array.from({ length: 40 }, () => open(of.port)));
    for (const socket of sockets) {
      socket.pause().write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(40));
    }
    await delay(2_000, undefined, { signal }).catch(() => undefined);
    for (const socket of sockets) socket.destroy();
  }
}

const SPACES = Buffer.alloc(31 * MIB, ' ');

/** Bodies whose end never comes: in each environment one of events and one of the REST API. */
async function stallBodies({ of, signal }: Run): Promise<void> {
  const stall = async (path: string, apiKey: string, bytes: number): Promise<Socket> => {
    const socket = (await open(of.port)).resume();
    const head = [`POST ${path} HTTP/1.1`, 'host: a', `x-api-key: ${apiKey}`];
    const lines = [...head, 'content-type: application/json', `content-length: ${bytes}`];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    socket.write(SPACES.subarray(0, bytes - 100_000));
    return socket;
  };
  const all = of.keys.flatMap((key) => [
    () => stall('/v1/events/bulk', key, 31 * MIB),
    () => stall('/v1/customers', key, 2 * MIB - 1_000),
  ]);
  while (!signal.aborted) {
    const sockets = await Promise.all(all.map((begin) => begin()));
    const drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write(SPACES.subarray(0, 4_096));
    }, 1_000);
    await delay(6_000, undefined, { signal }).catch(() => undefined);
    clearInterval(drip);
    for (const socket of sockets) socket.destroy();
  }
}

/** A due date that no paper had yet: a paper that is printed again is kept. */
function nextDueDate(): string {
  dueDates += 1;
  return new Date(Date.UTC(2030, 0, 1) + dueDates * 86_400_000).toISOString();
}
let dueDates = 0;

/** A paper of a thousand lines that was never made before, again and again. */
async function printPapers(run: Run): Promise<void> {
  const path = `/v1/invoices/${run.of.longInvoiceId}`;
  const print = async (): Promise<void> => {
    while (!run.signal.aborted) {
      await call(run, { method: 'PUT', path, body: JSON.stringify({ due_date: nextDueDate() }) });
      await call(run, { method: 'GET', path: `${path}/pdf` });
    }
  };
  await Promise.all([print(), print(), print(), print()]);
}

const LARGE_BODY = JSON.stringify({
  external_id: 'large',
  metadata: Object.fromEntries(
    Array.from({ length: 18_000 }, (_, index) => [`key ${index}`, 'x'.repeat(80)]),
  ),
});

/** Each goes on until its signal. */
const ATTACKS = {
  /** D1 and D2: folding, by two aggregators. */
  'costly events': (run: Run) =>
    keepCalling(run, 1, {
      pauseMs: PAUSE_BETWEEN_BATCHES_MS,
      what: () => ({ path: '/v1/events/bulk', body: costlyBatch(run.of) }),
    }),
  /** D1: reading. */
  'costly readings': (run: Run) =>
    keepCalling(run, 4, {
      what: () => ({
        path: '/v1/events/usage/meter',
        body: JSON.stringify({ meter_id: run.of.meterId, filters: { kind: ['x'] } }),
      }),
    }),
  /** D3. */
  'pages of 1,000': (run: Run) =>
    keepCalling(run, 8, {
      what: () => ({ path: '/v1/customers/search', body: '{"limit":1000}' }),
    }),
  /** D4. */
  'pipelined document': (run: Run) => pipeline(run, '/openapi.json'),
  'pipelined metrics': (run: Run) => pipeline(run, '/metrics'),
  /** D5. */
  'largest previews': (run: Run) =>
    keepCalling(run, 4, {
      what: () => ({
        path: '/v1/invoices/preview',
        body: JSON.stringify({ subscription_id: run.of.subscriptionId, ...run.of.previewPeriod }),
      }),
    }),
  /** D9. */
  'slow bodies': stallBodies,
  'papers of 1,000 lines': printPapers,
  'reads of 1,000 lines': (run: Run) =>
    keepCalling(run, 4, {
      what: () => ({ method: 'GET', path: `/v1/invoices/${run.of.longInvoiceId}?explain=true` }),
    }),
  'CSV of 1,000 lines': (run: Run) =>
    keepCalling(run, 4, {
      what: () => ({ method: 'GET', path: `/v1/invoices/${run.of.longInvoiceId}/lines.csv` }),
    }),
  'books and deep search': (run: Run) =>
    Promise.all([
      keepCalling(run, 2, { what: () => ({ method: 'GET', path: '/v1/ledger/verify' }) }),
      keepCalling(run, 4, {
        what: () => ({ path: '/v1/invoices/search', body: '{"limit":1000}' }),
      }),
    ]).then(() => undefined),
  'analytics by minutes': (run: Run) =>
    keepCalling(run, 4, {
      what: () => ({
        path: '/v1/events/analytics',
        body: JSON.stringify({
          external_customer_id: 'customer-0',
          window_size: 'MINUTE',
          group_by: ['source'],
        }),
      }),
    }),
  'bodies of 1.9 MB': (run: Run) =>
    keepCalling(run, 4, { what: () => ({ path: '/v1/customers', body: LARGE_BODY }) }),
  'limits raised': (run: Run) =>
    keepCalling(run, 1, {
      pauseMs: 500,
      what: () => ({
        method: 'PUT',
        path: '/v1/settings/tenant_limits',
        body: '{"value":{"production_environments":100,"development_environments":100}}',
      }),
    }),
} as const satisfies Readonly<Record<string, (run: Run) => Promise<void>>>;

export type AttackName = keyof typeof ATTACKS;
export const ATTACK_NAMES: readonly AttackName[] =
  // The keys of a constant are what its type says.
  Object.keys(ATTACKS) as AttackName[];

/** Goes on until the signal, and until what was asked then has been answered. */
export async function attack(
  name: AttackName,
  of: Attacker,
  signal: AbortSignal,
): Promise<Statuses> {
  const statuses: Statuses = new Map();
  await ATTACKS[name]({ of, signal, statuses });
  return statuses;
}
