import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { assertThat } from '../../runtime/failure.js';
import type { IngestHandler } from './create-ingest-handler.js';

/** A request must be complete within this: 32 MiB in a minute are 4.5 Mbit/s. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Its headers within this: a client that drips them holds a socket and nothing else. */
const HEADERS_TIMEOUT_MS = 10_000;
/**
 * How often both are looked at; Node's own 30 s would let a slow client stay half as long again.
 */
const TIMEOUT_CHECK_INTERVAL_MS = 5_000;
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
};

/** The one HTTP server of a port: event routes first, the rest behind them. */
export class IngestServer {
  readonly #server: Server;
  #isClosing = false;

  constructor(options: IngestServerOptions) {
    const { handler, fallback } = options;
    this.#server = createServer({
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    });
    this.#server.maxConnections = CONNECTIONS_MAX;
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
