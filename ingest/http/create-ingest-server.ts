import { createServer, STATUS_CODES, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { assertThat, codeOf } from '../../runtime/failure.js';
import { errorAnswer } from './answer.js';
import type { IngestHandler } from './create-ingest-handler.js';

/** How long a client may take, so that none holds a connection by dripping. */
export type ClientTimeouts = {
  readonly requestMs: number;
  readonly headersMs: number;
  /** How often both are looked at: a slow client stays this much longer at most. */
  readonly checkIntervalMs: number;
};

/** 32 MiB in a minute are 4.5 Mbit/s. */
const CLIENT_TIMEOUTS: ClientTimeouts = {
  requestMs: 60_000,
  headersMs: 10_000,
  checkIntervalMs: 5_000,
};

/** Longer than the 60 s of common load balancers, so that they close idle connections, not we. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Sockets above this are refused by closing them. */
const CONNECTIONS_MAX = 10_000;
/** How long a closing server waits for answers in flight. */
const CLOSE_GRACE_MS = 10_000;
const IDLE_SWEEP_INTERVAL_MS = 50;

export type IngestServerOptions = {
  readonly handler: IngestHandler;
  /** Gets every request that is not one of the two event routes. */
  readonly fallback: RequestListener;
  readonly timeouts?: ClientTimeouts;
};

const PROTOCOL_PROBLEMS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the headers are too long: send at most 16 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long: send it faster or in parts'],
};

/** Answers what is not HTTP, or too slow to become a request, and closes the connection. */
function answerProtocolError(error: Error, socket: Duplex): void {
  if (!socket.writable || codeOf(error) === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const known = PROTOCOL_PROBLEMS[codeOf(error) ?? ''];
  const [status, message] = known ?? [400, 'this is not an HTTP request'];
  const { body } = errorAnswer({ status, code: 'validation_error', message });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** The one HTTP server of a port: event routes first, the rest behind them. */
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
    // A client that asks first is told to send its body only after its key and headers are found
    // good. An answer without `100 Continue` makes Node close the connection, as it must.
    this.#server.on('checkContinue', (request, response) => {
      if (this.#isClosing) response.shouldKeepAlive = false;
      if (handler(request, response, () => response.writeContinue())) return;
      response.writeContinue();
      fallback(request, response);
    });
  }

  /** Listens; resolves with the port, which the system chooses when 0 is asked for. */
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

  /**
   * Stops accepting, answers what is in flight, then closes; what takes longer than 10 s is cut.
   */
  close(): Promise<void> {
    this.#isClosing = true;
    return new Promise((resolve) => {
      // Connections that become idle only now would otherwise be kept for another request.
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
