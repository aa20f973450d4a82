import { setTimeout as delay } from 'node:timers/promises';
import { ApiClient } from '../../cli/look/api-client.js';
import { createCustomers } from '../../cli/demo/customers.js';
import type { Target } from './load/drive.js';
import { postBytes, type HttpConnection } from './load/http-connection.js';
import { CANARY_CUSTOMER, LOAD_CUSTOMERS, loadCustomer } from './load/load-identity.js';
import type { Product } from './programs.js';

/** The pause between two looks at what is visible. */
const LOOK_MS_MIN = 20;
const LOOK_MS_MAX = 500;
const VISIBLE_TIMEOUT_MS = 120_000;
const ALL_TIME = { start_time: '1970-01-01T00:00:00Z', end_time: '2200-01-01T00:00:00Z' };

const USAGE_PATH = 'events/usage/meter';
type UsageValue = { readonly value: string };

/** How many events everybody's total showed, and when. */
type Look = { readonly atMs: number; readonly visible: number };

/**
 * How many milliseconds to wait before everybody's total is asked for again: half of the time that
 * the missing events still need, if they become visible as fast as those between the two looks. A
 * total takes the product tens of milliseconds, so asking all the time would slow it down.
 */
export function pauseBeforeNextLook(first: Look, last: Look, missing: number): number {
  const perMs = (last.visible - first.visible) / (last.atMs - first.atMs);
  const halfway = perMs > 0 ? missing / perMs / 2 : LOOK_MS_MIN;
  return Math.min(LOOK_MS_MAX, Math.max(LOOK_MS_MIN, halfway));
}

/** The whole product with one meter and the customers of the load. */
export class Session {
  /** Events that were answered 202. */
  accepted = 0;

  private constructor(
    readonly product: Product,
    readonly api: ApiClient,
    readonly meterId: string,
  ) {}

  static async open(product: Product): Promise<Session> {
    const api = new ApiClient(`${product.url}/v1`, product.target.apiKey);
    const { id } = await api.post<{ readonly id: string }>('/meters', {
      name: 'Load',
      event_name: 'api.request',
      aggregation: { type: 'COUNT' },
    });
    const names = Array.from({ length: LOAD_CUSTOMERS }, (_, index) => loadCustomer(index));
    await createCustomers(api, [...names, CANARY_CUSTOMER], () => undefined);
    return new Session(product, api, id);
  }

  get target(): Target {
    return this.product.target;
  }

  /** For the load of this session: counts what was accepted. */
  readonly onAccepted = (_: number, events: number): void => {
    this.accepted += events;
  };

  /** Everybody's usage of the meter. */
  async usage(range: object = ALL_TIME): Promise<number> {
    const body = { meter_id: this.meterId, ...range };
    const { value } = await this.api.post<UsageValue>(`/${USAGE_PATH}`, body);
    return Number(value);
  }

  /** A customer's usage, asked for as cheaply as the events are sent (load/http-connection.ts). */
  async askUsage(connection: HttpConnection, range: object, customer: string): Promise<number> {
    const asked = { meter_id: this.meterId, external_customer_id: customer, ...range };
    const request = postBytes(this.target, `/v1/${USAGE_PATH}`, JSON.stringify(asked));
    return new Promise((resolve, reject) => {
      connection.send(request, (status, answer) => {
        const text = answer.toString('utf8');
        if (status === 200) resolve(Number((JSON.parse(text) as UsageValue).value));
        else reject(new Error(`HTTP ${status}: ${text}`));
      });
    });
  }

  /**
   * Waits until all accepted events are visible.
   * @throws Error when one is missing after two minutes, or one too many is there.
   */
  async settle(): Promise<void> {
    const first = await this.#look();
    const deadlineMs = first.atMs + VISIBLE_TIMEOUT_MS;
    let last = first;
    while (last.visible < this.accepted && last.atMs < deadlineMs) {
      await delay(pauseBeforeNextLook(first, last, this.accepted - last.visible));
      last = await this.#look();
    }
    if (last.visible !== this.accepted) {
      throw new Error(`accepted ${this.accepted}, visible ${last.visible}`);
    }
  }

  async #look(): Promise<Look> {
    const visible = await this.usage();
    return { atMs: performance.now(), visible };
  }
}
