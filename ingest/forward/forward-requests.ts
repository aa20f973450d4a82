import {
  Agent,
  request as sendRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { text } from 'node:stream/consumers';
import { codeOf } from '../../runtime/failure.js';
import { FairQueue, NotBegun, type FairQueueLimits } from '../../runtime/fair-queue.js';
import { clientAddressOf } from '../../runtime/http/failed-authentication.js';
import { discardBody } from '../../runtime/http/read-body.js';
import type { Log } from '../../runtime/log.js';
import type { Metrics } from '../../runtime/metrics.js';
import { createSeldom } from '../../runtime/seldom.js';
import { unavailableAnswer } from '../http/answer.js';
import { requestIdOf } from '../http/read-headers.js';
import { answerHeaders, hasBody, requestHeaders } from './forward-headers.js';

export type ForwardTimes = {
  /** After this time an idle connection to billing-api is closed. */
  readonly idleMs: number;
  /** After this time without a byte in either direction a request is given up. */
  readonly silenceMs: number;
};

/**
 * billing-api closes an idle connection after 65 s. This side does so long before, so that no
 * request meets a connection that is just being closed. No request takes as long as the silence,
 * and the client's own connection is cut only later (120 s).
 */
const TIMES: ForwardTimes = { idleMs: 5_000, silenceMs: 110_000 };
/** A further connection on the same machine costs a tenth of a millisecond. */
const IDLE_CONNECTIONS_MAX = 64;
/**
 * Requests under way at billing-api, each on a connection of its own, and those that wait for that;
 * a key is the address of a client. One of them never takes more than half of the places, so that
 * the others are served.
 */
const LIMITS: FairQueueLimits = {
  runningMax: 512,
  runningPerKeyMax: 256,
  waitingPerKeyMax: 256,
  waitMsMax: 10_000,
};
const NOT_REACHED = 'the API cannot be reached at the moment: retry in a second';
const ANSWER_LOST =
  'the answer was lost, and the request may have been carried out: read the record before you ' +
  'repeat a change, or repeat it with the same Idempotency-Key';

export type ForwardOptions = {
  /** Where billing-api listens, such as `http://127.0.0.1:8081`; null while it does not run. */
  readonly origin: () => string | null;
  /** Reverse proxies in front of ingest. */
  readonly proxyCount: number;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'httpSeconds'>;
  /** Tests set less. */
  readonly times?: ForwardTimes;
  readonly limits?: FairQueueLimits;
};

/** A page that billing-api answers to ingest itself. */
export type ForwardedPage = { readonly status: number; readonly body: string };

export type Forward = {
  /** Sends a request on to billing-api and its answer back. */
  readonly listener: RequestListener;
  /** Gets a page. @throws Error when it is not there in time. */
  readonly getPage: (path: string, timeoutMs: number) => Promise<ForwardedPage>;
  readonly close: () => void;
};

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly startedAtMs: number;
};

/** An outage fails every request, so that one log line in this time is enough. */
const OUTAGE_LOG_INTERVAL_MS = 1_000;

/** Why a request was not sent on. */
const NOT_BEGUN: Readonly<Record<NotBegun['reason'], string>> = {
  full: 'too many requests of this address wait already: retry in a second',
  waited: 'the request waited too long for its turn: retry in a second',
};

/** Whether the request never left this program. */
function isUnsent(error: Error): boolean {
  const syscall = 'syscall' in error ? String(error.syscall) : '';
  return syscall === 'connect' || syscall === 'getaddrinfo';
}

/** Reading twice changes nothing, so that it may be tried on another connection. */
function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * Sends requests on to billing-api by the rules of RFC 9110 for intermediaries. node:http does the
 * work: bodies are streamed in both directions at the pace of the receiver, and a client that
 * leaves ends its request there, so that its queries are cancelled (docs/internals/architecture.md
 * D-016).
 */
class Forwarder {
  readonly #times: ForwardTimes;
  readonly #agent: Agent;
  readonly #places: FairQueue;
  readonly #say = createSeldom(OUTAGE_LOG_INTERVAL_MS);

  constructor(private readonly options: ForwardOptions) {
    this.#times = options.times ?? TIMES;
    const timeout = this.#times.idleMs;
    this.#places = new FairQueue(options.limits ?? LIMITS);
    this.#agent = new Agent({ keepAlive: true, timeout, maxFreeSockets: IDLE_CONNECTIONS_MAX });
  }

  readonly listener: RequestListener = (request, response) => {
    void this.#sendInTurn({ request, response, startedAtMs: performance.now() });
  };

  /** A place is taken until the answer has been sent to the client, or the client has left. */
  async #sendInTurn(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const left = new AbortController();
    const closed = new Promise<void>((resolve) => {
      response.once('close', () => {
        left.abort();
        resolve();
      });
    });
    const send = (): Promise<void> => {
      this.#send(exchange, true);
      return closed;
    };
    const address = clientAddressOf(request, this.options.proxyCount);
    try {
      await this.#places.run(address, send, left.signal);
    } catch (error) {
      if (error instanceof NotBegun) this.#refuse(exchange, NOT_BEGUN[error.reason]);
      else if (!left.signal.aborted) throw error;
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #open(origin: string, path: string, how: { method?: string; headers?: string[] }): ClientRequest {
    const { silenceMs } = this.#times;
    const { hostname, port } = new URL(origin);
    // An IPv6 address stands in brackets in an address, and without them here.
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    return sendRequest({ host, port, path, agent: this.#agent, timeout: silenceMs, ...how });
  }

  #send(exchange: Exchange, mayRepeat: boolean): void {
    const { request, response } = exchange;
    const origin = this.options.origin();
    if (origin === null) {
      this.#refuse(exchange, NOT_REACHED);
      return;
    }
    const { method = '', url = '' } = request;
    const headers = requestHeaders(request, this.options.proxyCount);
    const outgoing = this.#open(origin, url, { method, headers });
    const leave = (): void => {
      if (!response.writableFinished) outgoing.destroy();
    };
    response.once('close', leave);
    outgoing.once('response', (answer) => this.#answer(exchange, answer));
    outgoing.once('timeout', () => outgoing.destroy(new Error('no answer in time')));
    outgoing.on('error', (error) => {
      response.off('close', leave);
      const isStale = outgoing.reusedSocket && codeOf(error) === 'ECONNRESET';
      if (isStale && mayRepeat && isRead(request) && !hasBody(request) && !isAnswered(response)) {
        this.#send(exchange, false);
      } else this.#fail(exchange, error);
    });
    if (hasBody(request)) request.pipe(outgoing);
    else outgoing.end();
  }

  #answer({ request, response }: Exchange, answer: IncomingMessage): void {
    if (response.destroyed) {
      answer.destroy();
      return;
    }
    // The rest of the body will not be read, so that the connection is of no use any more.
    const isLast = answer.headers.connection === 'close' && !request.complete;
    if (isLast) response.shouldKeepAlive = false;
    response.writeHead(answer.statusCode ?? 0, answer.statusMessage, answerHeaders(answer));
    // When the answer breaks off, so does the one to the client: it must not look complete. A
    // `pipeline` would see to it, too, and make an error with a stack for each that does not.
    answer.once('close', () => {
      if (!answer.complete) response.destroy();
    });
    answer.on('error', () => response.destroy());
    answer.pipe(response);
  }

  #fail(exchange: Exchange, error: Error): void {
    const { request, response } = exchange;
    if (isAnswered(response)) {
      discardRest(request);
      return;
    }
    this.#logOutage(error);
    this.#refuse(exchange, isUnsent(error) || isRead(request) ? NOT_REACHED : ANSWER_LOST);
  }

  #logOutage(error: Error): void {
    const { log } = this.options;
    this.#say(() => log.warn({ error: error.message }, 'billing-api did not answer'));
  }

  #refuse({ request, response, startedAtMs }: Exchange, message: string): void {
    discardRest(request);
    const { status, body, retryAfterSeconds } = unavailableAnswer(message);
    response.writeHead(status, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
      'Retry-After': String(retryAfterSeconds),
      'X-Request-ID': requestIdOf(request),
    });
    response.end(body);
    const labels = { method: request.method ?? '', route: 'none', status: String(status) };
    const seconds = (performance.now() - startedAtMs) / 1_000;
    this.options.metrics.httpSeconds.observe(labels, seconds);
  }

  getPage(path: string, timeoutMs: number): Promise<ForwardedPage> {
    const origin = this.options.origin();
    if (origin === null) return Promise.reject(new Error('billing-api does not run'));
    return new Promise((resolve, reject) => {
      const outgoing = this.#open(origin, path, {});
      const late = setTimeout(() => outgoing.destroy(new Error('no answer in time')), timeoutMs);
      // More than one may come, and one without a listener would end the program.
      outgoing.on('error', reject);
      outgoing.once('close', () => clearTimeout(late));
      outgoing.once('response', (answer) => {
        const status = answer.statusCode ?? 0;
        text(answer).then((body) => resolve({ status, body }), reject);
      });
      outgoing.end();
    });
  }
}

/** Reads what is still to come of a body that has no receiver any more. */
function discardRest(request: IncomingMessage): void {
  request.unpipe();
  if (!request.readableEnded) discardBody(request);
}

function isAnswered(response: ServerResponse): boolean {
  return response.headersSent || response.destroyed;
}

/** Close it after the server whose requests it sends on. */
export function createForward(options: ForwardOptions): Forward {
  const forwarder = new Forwarder(options);
  return {
    listener: forwarder.listener,
    getPage: (path, timeoutMs) => forwarder.getPage(path, timeoutMs),
    close: () => forwarder.close(),
  };
}
