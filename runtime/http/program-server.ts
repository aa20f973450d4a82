import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Gauge } from 'prom-client';
import { assertThat } from '../failure.js';
import { PipelinedRequests } from './pipelined-requests.js';
import { createProtocolErrors } from './protocol-errors.js';

/** How long a client may take to send a request, so that a slow one cannot keep a connection. */
export type ClientTimeouts = {
  readonly requestMs: number;
  readonly headersMs: number;
  /** How often both limits are checked; a client can exceed them by this much. */
  readonly checkIntervalMs: number;
};

/** A body of 32 MiB needs 4.5 Mbit/s to arrive within the minute. */
const CLIENT_TIMEOUTS: ClientTimeouts = {
  requestMs: 60_000,
  headersMs: 10_000,
  checkIntervalMs: 5_000,
};

/**
 * Longer than the 60 s of common load balancers, so that the balancer closes idle connections. If
 * the server closed them, a request could meet a connection that is just being closed.
 */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/**
 * A connection on which nothing moves is destroyed, so that a client that does not read its answer
 * cannot keep it. Longer than any request takes.
 */
const SILENCE_MS_MAX = 120_000;
/** Connections above this number are closed at once. */
const CONNECTIONS_MAX = 10_000;
/** How long a closing server waits for running requests. */
const CLOSE_GRACE_MS = 10_000;
const IDLE_SWEEP_INTERVAL_MS = 50;
/** What is left of a body after its answer must arrive within this time. */
const REST_OF_BODY_MS = 5_000;

export type RequestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  /** Tells a client that waits for `100 Continue` to send its body. */
  askForBody: () => void,
) => void;

/** The handler of a listener that wants every body. */
export function serveWith(listener: RequestListener): RequestHandler {
  return (request, response, askForBody) => {
    askForBody();
    listener(request, response);
  };
}

export type ProgramServerOptions = {
  readonly handler: RequestHandler;
  readonly metrics: { readonly httpConnections: Pick<Gauge, 'inc' | 'dec'> };
  readonly timeouts?: ClientTimeouts;
  /** While it is stopping, each answer ends its connection, so that few are left to be closed. */
  readonly lifecycle?: { readonly isStopping: boolean };
  /** Those of all connections; tests let fewer wait. */
  readonly requests?: PipelinedRequests | undefined;
};

/** Destroys a connection whose body is still not complete some seconds after the answer. */
function cutRestOfBody(request: IncomingMessage): void {
  const cut = setTimeout(() => {
    if (!request.complete) request.destroy();
  }, REST_OF_BODY_MS);
  request.once('close', () => clearTimeout(cut));
}

/** The HTTP server of a program, with the limits that hold for every connection of every port. */
export class ProgramServer {
  readonly #server: Server;
  #isClosing = false;

  constructor(options: ProgramServerOptions) {
    const { handler, metrics, lifecycle, timeouts = CLIENT_TIMEOUTS } = options;
    const requests = options.requests ?? new PipelinedRequests();
    this.#server = createServer({
      requestTimeout: timeouts.requestMs,
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: timeouts.checkIntervalMs,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    });
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.timeout = SILENCE_MS_MAX;
    this.#server.on('clientError', createProtocolErrors());
    this.#server.on('connection', (socket) => {
      metrics.httpConnections.inc();
      socket.once('close', () => metrics.httpConnections.dec());
    });
    const begin: RequestHandler = (request, response, askForBody) => {
      if (this.#isClosing || lifecycle?.isStopping === true) response.shouldKeepAlive = false;
      response.once('finish', () => {
        if (!request.complete) cutRestOfBody(request);
      });
      handler(request, response, askForBody);
    };
    const handle: RequestHandler = (request, response, askForBody) =>
      requests.add(response, () => begin(request, response, askForBody));
    this.#server.on('request', (request, response) => handle(request, response, () => undefined));
    // A client that sends `Expect: 100-continue` is told to send its body only after its key and
    // headers have been checked. When the answer comes first, Node closes the connection, because
    // the client may or may not send the body now.
    this.#server.on('checkContinue', (request, response) =>
      handle(request, response, () => response.writeContinue()),
    );
  }

  /** Resolves with the port once the server listens; for port 0 the system chooses one. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve(this.#port());
      });
    });
  }

  #port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    assertThat(typeof address === 'object' && address !== null, 'the server has a TCP port');
    return address.port;
  }

  /** Accepts no more connections, answers running requests, and cuts those that take over 10 s. */
  close(): Promise<void> {
    this.#isClosing = true;
    return new Promise((resolve) => {
      // A connection that becomes idle while the server closes would otherwise be kept alive.
      const sweep = setInterval(() => this.#server.closeIdleConnections(), IDLE_SWEEP_INTERVAL_MS);
      const cut = setTimeout(() => this.#server.closeAllConnections(), CLOSE_GRACE_MS);
      this.#server.close(() => {
        clearInterval(sweep);
        clearTimeout(cut);
        resolve();
      });
    });
  }
}
