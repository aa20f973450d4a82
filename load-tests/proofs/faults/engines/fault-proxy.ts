import { connect, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { inSmallChunks } from './small-chunks.js';

/**
 * What can happen to a request on its way. `drop`: it never arrives, and its sender loses the
 * connection. `lose_reply`: it has its effect and nobody hears of it. `hold`: its sender loses the
 * connection at once, and it reaches the server later. `split`: as hold, but its first bytes go at
 * once, so that it runs at the server when its sender gives up. `slow`: it arrives late, and its
 * sender waits for it. `cut`: most of it arrives, and then the connection is gone on both sides, as
 * when its sender is killed.
 */
export type Disturbance = {
  readonly kind: 'drop' | 'lose_reply' | 'hold' | 'split' | 'slow' | 'cut';
  /** Which request: tested on its first bytes as text. */
  readonly match: RegExp;
  /** The number of requests that it disturbs. */
  readonly times: number;
  /** How late the held bytes arrive; of a `cut`, how long the server has for what came. */
  readonly holdMs?: number;
};

type Armed = { readonly disturbance: Disturbance; left: number };

/** Bytes of one request follow each other at once; a pause this long is its end. */
const REQUEST_END_MS = 60;
/** A split insert starts only when the server has read 256 KiB of it. */
const SPLIT_BYTES = 400 * 1024;
/** How much of a request that is cut arrives. */
const CUT_SHARE = 0.95;

function earlyBytes(kind: Disturbance['kind'], bytes: Buffer): Buffer {
  if (kind === 'split') return bytes.subarray(0, SPLIT_BYTES);
  return bytes.subarray(0, kind === 'cut' ? Math.floor(CUT_SHARE * bytes.length) : 0);
}

/** One client's connection and its counterpart. */
class Link {
  #held: Buffer[] | null = null;
  #isReplyLost = false;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly proxy: FaultProxy,
  ) {
    client.on('data', (chunk: Buffer) => this.#onRequest(chunk));
    server.on('data', (chunk: Buffer) => this.#onReply(chunk));
    client.on('close', () => {
      if (this.#held === null) server.destroy();
    });
    server.on('close', () => client.destroy());
    client.on('error', () => undefined);
    server.on('error', () => undefined);
  }

  destroy(): void {
    this.client.destroy();
    this.server.destroy();
  }

  #onRequest(chunk: Buffer): void {
    if (this.#held !== null) {
      this.#held.push(chunk);
      return;
    }
    const disturbance = this.proxy.disturbanceOf(chunk);
    if (disturbance === null) {
      this.server.write(chunk);
      return;
    }
    if (disturbance.kind === 'drop') {
      this.destroy();
      return;
    }
    if (disturbance.kind === 'lose_reply') {
      this.#isReplyLost = true;
      this.server.write(chunk);
      return;
    }
    this.#held = [chunk];
    this.proxy.track(this.#deliverLate(disturbance));
  }

  #onReply(chunk: Buffer): void {
    if (this.#isReplyLost || this.client.destroyed) this.destroy();
    else this.client.write(chunk);
  }

  async #gather(): Promise<Buffer> {
    let length = 0;
    while (length < this.#lengthHeld()) {
      length = this.#lengthHeld();
      await delay(REQUEST_END_MS);
    }
    return Buffer.concat(this.#held ?? []);
  }

  #lengthHeld(): number {
    return (this.#held ?? []).reduce((sum, chunk) => sum + chunk.length, 0);
  }

  async #deliverLate({ kind, holdMs = 1_000 }: Disturbance): Promise<void> {
    const gathered = await this.#gather();
    const bytes = kind === 'split' || kind === 'cut' ? inSmallChunks(gathered) : gathered;
    const early = earlyBytes(kind, bytes);
    if (kind === 'cut') {
      // A large request takes seconds to arrive.
      await new Promise((resolve) => this.server.write(early, resolve));
      await delay(holdMs);
      this.destroy();
      return;
    }
    this.server.write(early);
    if (kind !== 'slow') {
      // What was written has to arrive before the sender knows that it failed.
      if (early.length > 0) await delay(REQUEST_END_MS);
      this.client.destroy();
    }
    await delay(holdMs);
    if (this.server.destroyed) return;
    this.server.write(bytes.subarray(early.length));
    if (kind === 'slow') this.#held = null;
    else await Promise.race([once(this.server, 'close'), delay(2_000, undefined, { ref: false })]);
  }
}

/**
 * Stands between the programs and an engine, at an address that outlives the engine's restarts, and
 * does to requests what networks do.
 */
export class FaultProxy {
  readonly #links = new Set<Link>();
  readonly #late = new Set<Promise<void>>();
  #armed: Armed[] = [];
  #server: Server | null = null;
  #port = 0;

  private constructor(private readonly targetPort: number) {}

  /** Listens on any free port of loopback. */
  static async open(targetPort: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(targetPort);
    const server = createServer((client) => proxy.#accept(client));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address === 'object' && address !== null) proxy.#port = address.port;
    proxy.#server = server;
    return proxy;
  }

  /** The engine's address with our port in it. */
  address(url: string): string {
    const address = new URL(url);
    address.port = String(this.#port);
    return address.href;
  }

  disturb(disturbance: Disturbance): void {
    this.#armed.push({ disturbance, left: disturbance.times });
  }

  /** Whether everything that was armed has happened. */
  get isSpent(): boolean {
    return this.#armed.length === 0;
  }

  /** Forgets what has not happened and waits until every held request has arrived. */
  async calm(): Promise<void> {
    this.#armed = [];
    while (this.#late.size > 0) await Promise.all(this.#late);
  }

  /** Cuts every connection, as a failing network would. */
  sever(): void {
    for (const link of this.#links) link.destroy();
  }

  disturbanceOf(chunk: Buffer): Disturbance | null {
    if (this.#armed.length === 0) return null;
    const text = chunk.toString('latin1');
    const armed = this.#armed.find(({ disturbance }) => disturbance.match.test(text));
    if (armed === undefined) return null;
    armed.left -= 1;
    if (armed.left === 0) this.#armed = this.#armed.filter((other) => other !== armed);
    return armed.disturbance;
  }

  track(late: Promise<void>): void {
    this.#late.add(late);
    void late.finally(() => this.#late.delete(late));
  }

  async close(): Promise<void> {
    this.sever();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  #accept(client: Socket): void {
    const server = connect(this.targetPort, '127.0.0.1');
    client.setNoDelay(true);
    server.setNoDelay(true);
    const link = new Link(client, server, this);
    this.#links.add(link);
    client.on('close', () => this.#links.delete(link));
  }
}
