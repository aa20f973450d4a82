import type { InstantMs } from '../../contract/instant.js';
import { systemClock, type Clock } from '../../runtime/clock.js';
import { assertThat } from '../../runtime/failure.js';

/** A request whose events the log has not acknowledged. */
export type HeldRequest = {
  readonly receivedAtMs: InstantMs;
  /** When it was taken, by a clock that nobody sets. */
  readonly takenAtMs: number;
  /** Is called once when its time is over. */
  readonly onLate: () => void;
};

export type HeldLimits = {
  /** For how long a request may be held; what the log acknowledges later is not answered 202. */
  readonly produceTimeoutMs: number;
  /** For how long after a report events are accepted; for ever where nobody reads reports. */
  readonly silentMs: number;
};

type Clocks = {
  /** The clock by which events are dated. */
  readonly clock: Clock;
  /** Milliseconds of a clock that nobody sets. */
  readonly elapsedMs: () => number;
};

/** When a report was sent, by both clocks. */
export type Sent = { readonly atMs: InstantMs; readonly elapsedMs: number };

/**
 * The requests that a process of ingest holds, and up to when it holds none
 * (docs/internals/architecture.md 4.5). Whoever is answered 202 can rely on three facts, each of
 * which is true of a process that was stopped for any time at any point:
 *
 * 1. The log had the events within the produce time-out of their receipt.
 * 2. Until the log had them, no report said that everything received before a later instant is out
 *    of hand.
 * 3. A report was taken so shortly before their receipt that the process still counted when the
 *    log had them.
 */
export class HeldRequests {
  readonly #held = new Set<HeldRequest>();
  #latestMs: InstantMs = Number.NEGATIVE_INFINITY;
  #reportedMs: InstantMs = Number.NEGATIVE_INFINITY;
  /** Before this instant, events whose outcome is unknown may still come into the log. */
  #doubtedUntilMs: InstantMs = Number.NEGATIVE_INFINITY;
  #taken: Sent | null = null;
  #onHold: () => void = () => undefined;

  constructor(
    readonly limits: HeldLimits,
    private readonly clocks: Clocks,
  ) {}

  /** From now on it is called with each request that is held. */
  watch(onHold: () => void): void {
    this.#onHold = onHold;
  }

  /** Now, for dating events: never before an instant that it gave, whoever sets the clock back. */
  now(): InstantMs {
    this.#latestMs = Math.max(this.#latestMs, this.clocks.clock.now());
    return this.#latestMs;
  }

  /** Whether the reports of this process are taken, so that it may accept events. */
  get isReporting(): boolean {
    if (this.limits.silentMs === Number.POSITIVE_INFINITY) return true;
    return this.silentForMs <= this.limits.silentMs;
  }

  /** For how long no report was taken; infinite before the first. */
  get silentForMs(): number {
    return this.#taken === null ? Number.POSITIVE_INFINITY : this.#since(this.#taken);
  }

  get isHolding(): boolean {
    return this.#held.size > 0;
  }

  /** Whether nothing is held, and nothing whose outcome is unknown can come into the log. */
  get isIdle(): boolean {
    return !this.isHolding && this.now() >= this.#doubtedUntilMs;
  }

  /**
   * Holds a request of the instant that `now` gave in the same turn of the event loop; no report
   * may come between the two.
   */
  hold(receivedAtMs: InstantMs, onLate: () => void): HeldRequest {
    assertThat(receivedAtMs >= this.#reportedMs, 'a request was dated before the last report');
    const request = { receivedAtMs, takenAtMs: this.clocks.elapsedMs(), onLate };
    this.#held.add(request);
    this.#onHold();
    return request;
  }

  /** The log has the events. @returns whether they may be answered 202. */
  acknowledge(request: HeldRequest): boolean {
    const isHeld = this.#held.delete(request);
    const { receivedAtMs: atMs, takenAtMs: elapsedMs } = request;
    return isHeld && this.#since({ atMs, elapsedMs }) <= this.limits.produceTimeoutMs;
  }

  /** The log has refused the events, or nobody knows; they may come into it in their time. */
  giveUp(request: HeldRequest): void {
    if (!this.#held.delete(request)) return;
    const endMs = request.receivedAtMs + this.limits.produceTimeoutMs;
    this.#doubtedUntilMs = Math.max(this.#doubtedUntilMs, endMs);
  }

  /** Gives up the requests whose time is over, and tells them so. */
  giveUpLate(): void {
    const lateSince = this.clocks.elapsedMs() - this.limits.produceTimeoutMs;
    for (const request of this.#held) {
      if (request.takenAtMs > lateSince) break;
      this.giveUp(request);
      request.onLate();
    }
  }

  /**
   * The instant before which no received event is held: all are in the log, or were refused and
   * cannot come into it any more. It never goes back. For a report, which is sent at once.
   */
  report(): InstantMs {
    const nowMs = this.now();
    let sinceMs = nowMs;
    // In the order in which they were received.
    for (const { receivedAtMs } of this.#held) {
      sinceMs = receivedAtMs;
      break;
    }
    if (nowMs < this.#doubtedUntilMs) {
      sinceMs = Math.min(sinceMs, nowMs - this.limits.produceTimeoutMs);
    }
    this.#reportedMs = Math.max(this.#reportedMs, sinceMs);
    return this.#reportedMs;
  }

  /** This moment, to be told with `noteTaken` when the report that is sent now was taken. */
  moment(): Sent {
    return { atMs: this.now(), elapsedMs: this.clocks.elapsedMs() };
  }

  noteTaken(sent: Sent): void {
    this.#taken = sent;
  }

  /** By the clock that shows more: one stands still while the machine sleeps, one can be set. */
  #since({ atMs, elapsedMs }: Sent): number {
    return Math.max(this.clocks.clock.now() - atMs, this.clocks.elapsedMs() - elapsedMs);
  }
}

/** By the clocks of this machine. */
export function createHeldRequests(limits: HeldLimits): HeldRequests {
  return new HeldRequests(limits, { clock: systemClock, elapsedMs: () => performance.now() });
}
