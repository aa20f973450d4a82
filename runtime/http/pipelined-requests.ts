import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export type PipeliningLimits = {
  /** Requests that wait on one connection; one more cuts it. */
  readonly perConnectionMax: number;
  /** Requests that wait in this program; the connection of one more is cut. */
  readonly waitingMax: number;
};

const LIMITS: PipeliningLimits = { perConnectionMax: 64, waitingMax: 4_096 };

/** A request that waits for the answer to the one before it. */
type Waiting = { readonly response: ServerResponse; readonly begin: () => void };

/**
 * Begins the requests of one connection one after the other. A client may send the next request
 * before it has the answer (RFC 9112 9.3.2), and node:http would begin all of them at once: the
 * answers of a client that does not read would all be kept in memory. Here the next one begins when
 * the kernel has taken the whole answer before it.
 */
export class PipelinedRequests {
  /** Connections with a request under way, and what waits behind it. */
  readonly #waitingOf = new WeakMap<Socket, Waiting[]>();
  #waiting = 0;

  constructor(private readonly limits: PipeliningLimits = LIMITS) {}

  /** Calls `begin` when every earlier request of the connection is answered; not if it is cut. */
  add(response: ServerResponse, begin: () => void): void {
    const { socket } = response.req;
    const waiting = this.#waitingOf.get(socket);
    if (waiting === undefined) {
      this.#waitingOf.set(socket, []);
      this.#begin(socket, { response, begin });
    } else if (this.#isFull(waiting)) {
      socket.destroy();
    } else {
      waiting.push({ response, begin });
      this.#waiting += 1;
    }
  }

  #isFull(waiting: readonly Waiting[]): boolean {
    const { perConnectionMax, waitingMax } = this.limits;
    return waiting.length >= perConnectionMax || this.#waiting >= waitingMax;
  }

  #begin(socket: Socket, { response, begin }: Waiting): void {
    response.once('close', () => this.#beginNext(socket));
    begin();
  }

  #beginNext(socket: Socket): void {
    const waiting = this.#waitingOf.get(socket) ?? [];
    // After an answer with `Connection: close` nothing more is answered on the connection.
    const next = socket.writable ? waiting.shift() : undefined;
    if (next === undefined) {
      this.#waiting -= waiting.length;
      this.#waitingOf.delete(socket);
    } else {
      this.#waiting -= 1;
      this.#begin(socket, next);
    }
  }
}
