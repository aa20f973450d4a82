import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, vi } from 'vitest';
import type { ApiKeyDirectory } from '../../sql/api-keys.js';

const AT_A_TIME = 500;
const WAIT = { timeout: 30_000, interval: 10 };
/** Bodies that stall are cut after 5 s (runtime/http/stall-watch.ts); this must not wait for it. */
const AT_ONCE = { timeout: 3_000, interval: 10 };

/** A directory whose look-ups wait until they are let go, all that wait at once. */
export class HeldKeys {
  #waiting: (() => void)[] = [];
  #found = 0;
  #isHolding = true;

  constructor(private readonly directory: ApiKeyDirectory) {}

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Look-ups that have ended. */
  get found(): number {
    return this.#found;
  }

  readonly wasFound: ApiKeyDirectory['wasFound'] = (apiKey) => this.directory.wasFound(apiKey);

  readonly forget: ApiKeyDirectory['forget'] = () => this.directory.forget();

  readonly find: ApiKeyDirectory['find'] = async (apiKey) => {
    if (this.#isHolding) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const caller = await this.directory.find(apiKey);
    this.#found += 1;
    return caller;
  };

  letGo(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }

  /** From now on no look-up waits. */
  stop(): void {
    this.#isHolding = false;
    this.letGo();
  }
}

/** Sends the head of a request and less of its body than it says. */
async function startRequest(port: number, head: readonly string[]): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const lines = [...head, 'host: test', 'content-type: application/json', 'content-length: 1000'];
  socket.write([...lines, '', '{'].join('\r\n'));
  return socket;
}

/**
 * Begins so many requests, whose clients leave while their keys are looked up, and expects that
 * nothing is held for them afterwards. Every second one says that its body is compressed.
 */
export async function abandonRequests(
  of: {
    readonly port: number;
    readonly head: readonly string[];
    readonly keys: HeldKeys;
    /** Connections that the server has. */
    readonly connections: () => Promise<number>;
    /** Memory that it holds for bodies. */
    readonly bytesHeld: () => Promise<number>;
  },
  count: number,
): Promise<void> {
  const { port, keys } = of;
  const packed = [...of.head, 'content-encoding: gzip'];
  for (let left = count; left > 0; left -= AT_A_TIME) {
    const length = Math.min(left, AT_A_TIME);
    const starting = Array.from({ length }, (_, index) =>
      startRequest(port, index % 2 === 0 ? of.head : packed),
    );
    const sockets = await Promise.all(starting);
    await vi.waitFor(() => expect(keys.waiting).toBe(length), WAIT);
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(async () => expect(await of.connections()).toBe(0), WAIT);
    const found = keys.found + length;
    keys.letGo();
    await vi.waitFor(() => expect(keys.found).toBe(found), WAIT);
    await vi.waitFor(async () => expect(await of.bytesHeld()).toBe(0), AT_ONCE);
  }
}
