import { setTimeout as delay } from 'node:timers/promises';
import { build, type Histogram } from 'hdr-histogram-js';
import { UnexpectedAnswer, type ApiClient } from '../../../cli/look/api-client.js';
import { messageOf } from '../../../runtime/failure.js';

/** What the bystander asks of the product. */
export type BystanderWorld = {
  readonly api: ApiClient;
  readonly meterId: string;
  readonly subscriptionId: string;
  readonly customer: string;
};

type Kind = {
  readonly name: string;
  /** So many a second, on one connection: the next waits for the answer before it. */
  readonly perSecond: number;
  readonly ask: (world: BystanderWorld, turn: number) => Promise<unknown>;
};

export const EVENT_NAME = 'bystander.call';
const BULK_EVENTS = 100;

const event = (customer: string, id: string): object => ({
  event_name: EVENT_NAME,
  external_customer_id: customer,
  event_id: id,
  properties: { amount: '3' },
});

/** A modest load, far below every documented limit. */
const KINDS: readonly Kind[] = [
  {
    name: 'single event',
    perSecond: 25,
    ask: ({ api, customer }, turn) => api.post('/events', event(customer, `single-${turn}`)),
  },
  {
    name: 'bulk of 100 events',
    perSecond: 3,
    ask: ({ api, customer }, turn) =>
      api.post('/events/bulk', {
        events: Array.from({ length: BULK_EVENTS }, (_, index) =>
          event(customer, `bulk-${turn}-${index}`),
        ),
      }),
  },
  { name: 'own user', perSecond: 5, ask: ({ api }) => api.get('/users/me') },
  {
    name: 'usage of a meter',
    perSecond: 2,
    ask: ({ api, meterId }) => api.post('/events/usage/meter', { meter_id: meterId }),
  },
  {
    name: 'preview',
    perSecond: 1,
    ask: ({ api, subscriptionId }) =>
      api.post('/invoices/preview', { subscription_id: subscriptionId }),
  },
  {
    name: 'page of 100',
    perSecond: 2,
    ask: ({ api }) => api.post('/customers/search', { limit: 100 }),
  },
  {
    name: 'page of 1,000',
    perSecond: 0.5,
    ask: ({ api }) => api.post('/customers/search', { limit: 1000 }),
  },
];

/** Events of a request that was answered 202. */
const EVENTS_OF: Readonly<Record<string, number>> = {
  'single event': 1,
  'bulk of 100 events': BULK_EVENTS,
};

export type BystanderTimes = ReadonlyMap<string, Histogram>;

/** A tenant that goes on with its day, and notes each request that was not served. */
export class Bystander {
  /** Events that were answered 202. */
  accepted = 0;
  readonly refusals: string[] = [];
  #times = new Map<string, Histogram>();
  #phase = '';
  readonly #over = new AbortController();
  readonly #running: Promise<unknown>;

  constructor(private readonly world: BystanderWorld) {
    this.#running = Promise.all(KINDS.map((kind) => this.#keepAsking(kind)));
  }

  /** What is answered from now on belongs to another phase; the times of the last one. */
  enter(phase: string): BystanderTimes {
    const times = this.#times;
    this.#times = new Map();
    this.#phase = phase;
    return times;
  }

  /** Resolves when the last request has been answered. */
  async leave(): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  async #keepAsking(kind: Kind): Promise<void> {
    const { signal } = this.#over;
    for (let turn = 0; !signal.aborted; turn += 1) {
      const startedAt = performance.now();
      await this.#ask(kind, turn);
      const rest = 1_000 / kind.perSecond - (performance.now() - startedAt);
      await delay(Math.max(0, rest), undefined, { signal }).catch(() => undefined);
    }
  }

  async #ask({ name, ask }: Kind, turn: number): Promise<void> {
    const phase = this.#phase;
    const startedAt = performance.now();
    try {
      await ask(this.world, turn);
      this.accepted += EVENTS_OF[name] ?? 0;
    } catch (error) {
      const text = error instanceof UnexpectedAnswer ? error.message : messageOf(error);
      this.refusals.push(`${phase}: ${name}: ${text}`);
    }
    const times = this.#times.get(name) ?? build({ highestTrackableValue: 600_000_000 });
    times.recordValue(Math.round((performance.now() - startedAt) * 1_000));
    this.#times.set(name, times);
  }
}
