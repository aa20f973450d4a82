import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers';

/** Begins the work of one turn. */
type Begin = () => void;

/**
 * Shares out the one thread of a process: work of each tenant is cut into slices, each of which
 * waits for its turn, and between two slices the event loop goes round once. Next is the tenant
 * whose slices took the least time so far, so that what is cheap never waits for more than one
 * slice of a tenant whose work is expensive, however much of that waits. A tenant that comes (back)
 * stands where the others stand: nobody saves time up. Within a tenant the order is that of
 * arrival.
 */
export class LoopTurns {
  #isTaken = false;
  /** The measured time at which the turn began that was given last. */
  #reachedMs = 0;
  readonly #tookMs = new Map<string, number>();
  /** Tenants with waiting slices; among equals the one that has waited longest stands first. */
  readonly #waitingOf = new Map<string, Begin[]>();

  /** @param now milliseconds of a clock that never jumps. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Resolves when it is the turn of the tenant; its slice lasts until it waits for anything. */
  take(tenant: string): Promise<void> {
    if (!this.#isTaken) {
      this.#begin(tenant);
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const waiting = this.#waitingOf.get(tenant);
      if (waiting === undefined) this.#waitingOf.set(tenant, [resolve]);
      else waiting.push(resolve);
    });
  }

  #begin(tenant: string): void {
    this.#isTaken = true;
    const fromMs = this.#standOf(tenant);
    this.#reachedMs = fromMs;
    const startedAtMs = this.now();
    // A tick comes when all promises that can go on have gone on: that is the end of the slice.
    queueMicrotask(() => {
      process.nextTick(() => this.#tookMs.set(tenant, fromMs + this.now() - startedAtMs));
    });
    setImmediate(() => this.#next());
  }

  #standOf(tenant: string): number {
    return Math.max(this.#tookMs.get(tenant) ?? this.#reachedMs, this.#reachedMs);
  }

  #next(): void {
    this.#isTaken = false;
    const tenant = this.#leastServed();
    if (tenant === null) {
      this.#tookMs.clear();
      this.#reachedMs = 0;
      return;
    }
    const waiting = this.#waitingOf.get(tenant);
    const begin = waiting?.shift();
    this.#waitingOf.delete(tenant);
    if (waiting !== undefined && waiting.length > 0) this.#waitingOf.set(tenant, waiting);
    this.#begin(tenant);
    begin?.();
  }

  #leastServed(): string | null {
    let least: string | null = null;
    for (const tenant of this.#waitingOf.keys()) {
      if (least === null || this.#standOf(tenant) < this.#standOf(least)) least = tenant;
    }
    return least;
  }
}

/** Work that belongs to no tenant shares the turns of one. */
const NOBODY = '';
/** A longer slice makes others wait: a small request takes five or six turns. */
const SLICE_MS = 1;

/** A process has one event loop. */
const turns = new LoopTurns();
const tenants = new AsyncLocalStorage<string>();

/** Runs work, of which all turns are those of a tenant. */
export function onBehalfOf<T>(tenantId: string, work: () => T): T {
  return tenants.run(tenantId, work);
}

/** The tenant on whose behalf something runs; empty for work that belongs to none. */
export function currentTenant(): string {
  return tenants.getStore() ?? NOBODY;
}

/** Waits for a turn on the event loop (`LoopTurns`). */
export function takeTurn(tenantId: string = currentTenant()): Promise<void> {
  return turns.take(tenantId);
}

/** Maps a list in slices: others have their turns in between. */
export async function mapInTurns<From, To>(
  list: readonly From[],
  map: (one: From) => To,
): Promise<To[]> {
  const mapped: To[] = [];
  let sliceEndMs = performance.now() + SLICE_MS;
  for (const one of list) {
    if (performance.now() > sliceEndMs) {
      await takeTurn();
      sliceEndMs = performance.now() + SLICE_MS;
    }
    mapped.push(map(one));
  }
  return mapped;
}
