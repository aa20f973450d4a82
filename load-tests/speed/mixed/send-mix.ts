import { setTimeout as delay } from 'node:timers/promises';
import type { EventTail } from '../load/access-log-properties.js';
import type { Target } from '../load/drive.js';
import { HttpConnection, postBytes } from '../load/http-connection.js';
import { sendOnSchedule, type Offered, type ScheduledRequest } from '../load/open-loop.js';
import { mixEventJson, repeatOf } from './event-plan.js';
import type { SentBooks } from './sent-books.js';

/** A request carries one event, or so many in bulk. */
export const BULK_EVENTS = 100;
export const KINDS = ['single', 'bulk'] as const;
export type Kind = (typeof KINDS)[number];
export const CONNECTIONS: Readonly<Record<Kind, number>> = { single: 64, bulk: 8 };

type Slot = { readonly number: number; readonly repeat: 'none' | 'same' | 'conflict' };
type Batch = { readonly kind: Kind; readonly slots: readonly Slot[] };

/** Events from this number on are sent at this pace, the first of them at this time. */
type Pace = { readonly from: number; readonly startMs: number; readonly msPerEvent: number };

const AGAIN_PAUSE_MS = 200;
const AGAIN_TRIES_MAX = 100;

/** Sends the events of the plan, books those that are accepted, and sends the others again. */
export class MixSender {
  /** Answers by their status; 0 is a lost connection. */
  readonly statuses = new Map<number, number>();
  readonly #paces: Pace[] = [];
  readonly #again: Batch[] = [];
  #nextSlot = 0;

  constructor(
    private readonly to: {
      readonly target: Target;
      readonly books: SentBooks;
      readonly tails: readonly EventTail[];
      /** Told of every answer. */
      readonly onAnswer: (kind: Kind, milliseconds: number) => void;
    },
  ) {}

  /** What follows is sent at about this rate, from which timestamps are computed. */
  setPace(eventsPerSecond: number, startMs: number): void {
    this.#paces.push({ from: this.#nextSlot, startMs, msPerEvent: 1_000 / eventsPerSecond });
  }

  /**
   * As fast as answers come: each connection sends a bulk request, then the singles that belong to
   * it. Returns when everything is accepted.
   */
  async saturate(singlesShare: number, seconds: number): Promise<void> {
    const endsAt = performance.now() + 1_000 * seconds;
    const round = 1 + Math.round((BULK_EVENTS * singlesShare) / (1 - singlesShare));
    const send = async (index: number): Promise<void> => {
      let connection = await this.#open();
      // Not all in step, so that bulk requests do not come all at once.
      for (let turn = index; performance.now() < endsAt; turn += 1) {
        const { bytes, onStatus } = this.#request(
          this.#take(turn % round === 0 ? 'bulk' : 'single'),
        );
        const sentAt = performance.now();
        const status = await new Promise<number>((resolve) => connection.send(bytes, resolve));
        onStatus(status, sentAt);
        if (status === 0) connection = await this.#open();
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: CONNECTIONS.single }, (_, index) => send(index)));
    await this.settle();
  }

  /** At a fixed rate; ends early with the signal. */
  async atRate(
    kind: Kind,
    eventsPerSecond: number,
    until: { readonly seconds: number; readonly signal: AbortSignal },
  ): Promise<Offered> {
    const connections = await Promise.all(
      Array.from({ length: CONNECTIONS[kind] }, () => this.#open()),
    );
    return sendOnSchedule(connections, {
      requestsPerSecond: eventsPerSecond / (kind === 'bulk' ? BULK_EVENTS : 1),
      ...until,
      next: () => this.#request(this.#again.pop() ?? this.#take(kind)),
      reopen: () => this.#open(),
    });
  }

  /** Sends again what was not accepted. @throws Error when it is refused again and again. */
  async settle(): Promise<void> {
    for (let tries = 0; this.#again.length > 0; tries += 1) {
      if (tries === AGAIN_TRIES_MAX) {
        throw new Error(`${this.#again.length} requests were never accepted`);
      }
      const connection = await this.#open();
      for (const batch of this.#again.splice(0)) {
        const { bytes, onStatus } = this.#request(batch);
        const sentAt = performance.now();
        onStatus(await new Promise<number>((resolve) => connection.send(bytes, resolve)), sentAt);
      }
      connection.close();
      if (this.#again.length > 0) await delay(AGAIN_PAUSE_MS);
    }
  }

  #open(): Promise<HttpConnection> {
    return HttpConnection.open(this.to.target.port, this.to.target.host);
  }

  #take(kind: Kind): Batch {
    const count = kind === 'bulk' ? BULK_EVENTS : 1;
    return { kind, slots: Array.from({ length: count }, () => this.#takeSlot()) };
  }

  #takeSlot(): Slot {
    const slot = this.#nextSlot;
    this.#nextSlot += 1;
    const repeat = repeatOf(slot);
    const number = repeat === null ? null : this.to.books.findAccepted(repeat);
    if (repeat === null || number === null) {
      this.to.books.offerNew(slot);
      return { number: slot, repeat: 'none' };
    }
    return { number, repeat: repeat.isConflict ? 'conflict' : 'same' };
  }

  #request(batch: Batch): ScheduledRequest {
    return {
      bytes: this.#bytesOf(batch),
      onStatus: (status, dueAtMs) => {
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
        this.to.onAnswer(batch.kind, performance.now() - dueAtMs);
        if (status === 202) this.#book(batch);
        else this.#again.push(batch);
      },
    };
  }

  #book({ slots }: Batch): void {
    for (const { number, repeat } of slots) {
      if (repeat === 'none') this.to.books.acceptNew(number);
      else this.to.books.acceptRepeat(repeat === 'conflict');
    }
  }

  #sentAtMs(number: number): number {
    const pace = this.#paces.findLast(({ from }) => from <= number);
    if (pace === undefined) throw new Error('the pace is set before anything is sent');
    return Math.floor(pace.startMs + (number - pace.from) * pace.msPerEvent);
  }

  #bytesOf({ kind, slots }: Batch): Buffer {
    const { target, tails } = this.to;
    const texts = slots.map(({ number, repeat }) => {
      const sentAtMs = this.#sentAtMs(number);
      return mixEventJson({ number, tails, sentAtMs, isConflict: repeat === 'conflict' });
    });
    return kind === 'bulk'
      ? postBytes(target, '/v1/events/bulk', `{"events":[${texts.join(',')}]}`)
      : postBytes(target, '/v1/events', texts[0] ?? '');
  }
}
