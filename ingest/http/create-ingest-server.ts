import { createServer, STATUS_CODES, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { assertThat, codeOf } from '../../runtime/failure.js';
import { errorAnswer } from './answer.js';
import type { IngestHandler } from './create-ingest-handler.js';

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
/** Connections above this number are closed at once. */
const CONNECTIONS_MAX = 10_000;
/** How long a closing server waits for running requests. */
const CLOSE_GRACE_MS = 10_000;
const IDLE_SWEEP_INTERVAL_MS = 50;

export type IngestServerOptions = {
  readonly handler: IngestHandler;
  /** Answers every request that is not for one of the two event routes. */
  readonly fallback: RequestListener;
  readonly timeouts?: ClientTimeouts;
};

const PROTOCOL_PROBLEMS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the headers are too long: send at most 16 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: [
    408,
    'the request took too long to arrive: send it faster or in smaller parts',
  ],
};

/** Answers a client that sends invalid HTTP or is too slow, and closes the connection. */
function answerProtocolError(error: Error, socket: Duplex): void {
  if (!socket.writable || codeOf(error) === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const known = PROTOCOL_PROBLEMS[codeOf(error) ?? ''];
  const [status, message] = known ?? [400, 'this is not a valid HTTP request'];
  const { body } = errorAnswer({ status, code: 'validation_error', message });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** The HTTP server of a port. The event routes see each request first, then the fallback. */
export class IngestServer {
  readonly #server: Server;
  #isClosing = false;

  constructor(options: IngestServerOptions) {
    const { handler, fallback, timeouts = CLIENT_TIMEOUTS } = options;
    this.#server = createServer({
      requestTimeout: timeouts.requestMs,
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: timeouts.checkIntervalMs,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    });
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.on('clientError', answerProtocolError);
    this.#server.on('request', (request, response) => {
      if (this.#isClosing) response.shouldKeepAlive = false;
      if (!handler(request, response)) fallback(request, response);
    });
    // A client that sends `Expect: 100-continue` is told to send its body only after its key and
    // headers have been checked. When the answer comes first, Node closes the connection, because
    // the client may or may not send the body now.
    this.#server.on('checkContinue', (request, response) => {
      if (this.#isClosing) response.shouldKeepAlive = false;
      if (handler(request, response, () => response.writeContinue())) return;
      response.writeContinue();
      fallback(request, response);
    });
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
