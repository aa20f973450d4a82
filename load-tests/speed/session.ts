import { setTimeout as delay } from 'node:timers/promises';
import { ApiClient } from '../../cli/demo/api-client.js';
import { createCustomers } from '../../cli/demo/customers.js';
import type { Load, Target } from './load/drive.js';
import { CANARY_CUSTOMER, loadCustomer } from './load/load-identity.js';
import { startProduct, type Product } from './programs.js';
import type { SpeedOptions } from './section.js';

const POLL_MS = 20;
const VISIBLE_TIMEOUT_MS = 120_000;
const ALL_TIME = { start_time: '1970-01-01T00:00:00Z', end_time: '2200-01-01T00:00:00Z' };

type Settings = { readonly log: SpeedOptions['log']; readonly customers: number };

/** The whole product with one meter and the customers of the load. */
export class Session {
  /** Events that were answered 202. */
  accepted = 0;

  private constructor(
    readonly product: Product,
    readonly api: ApiClient,
    private readonly of: { readonly meterId: string; readonly customers: number },
  ) {}

  get meterId(): string {
    return this.of.meterId;
  }

  static async open(directory: string, { log, customers }: Settings): Promise<Session> {
    const product = await startProduct(directory, log);
    const api = new ApiClient(`${product.url}/v1`, product.target.apiKey);
    const { id } = await api.post<{ readonly id: string }>('/meters', {
      name: 'Load',
      event_name: 'api.request',
      aggregation: { type: 'COUNT' },
    });
    const names = Array.from({ length: customers }, (_, index) => loadCustomer(index));
    await createCustomers(api, [...names, CANARY_CUSTOMER], () => undefined);
    return new Session(product, api, { meterId: id, customers });
  }

  get target(): Target {
    return this.product.target;
  }

  /** What a load of this session needs: its customers, and that it counts what was accepted. */
  get counting(): Pick<Load, 'customers' | 'onAccepted'> {
    return {
      customers: this.of.customers,
      onAccepted: (_, events) => (this.accepted += events),
    };
  }

  /** The usage of the meter; of everybody without a customer. */
  async usage(range: object = ALL_TIME, customer?: string): Promise<number> {
    const whose = customer === undefined ? {} : { external_customer_id: customer };
    const body = { meter_id: this.meterId, ...whose, ...range };
    const { value } = await this.api.post<{ readonly value: string }>('/events/usage/meter', body);
    return Number(value);
  }

  /**
   * Waits until all accepted events are visible.
   * @throws Error when one is missing after two minutes, or one too many is there.
   */
  async settle(): Promise<void> {
    const deadline = performance.now() + VISIBLE_TIMEOUT_MS;
    let visible = await this.usage();
    while (visible < this.accepted && performance.now() < deadline) {
      await delay(POLL_MS);
      visible = await this.usage();
    }
    if (visible !== this.accepted) {
      throw new Error(`accepted ${this.accepted}, visible ${visible}`);
    }
  }
}
