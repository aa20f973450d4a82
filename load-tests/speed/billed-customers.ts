import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
import type { ApiClient } from '../../cli/look/api-client.js';
import type { SeededRandom } from '../harness/seeded-random.js';

// Customers with a subscription and usage each, made through the interface of a running product.

/** Requests under way at once. */
const AT_ONCE = 4;
const EVENTS_OF_REQUEST = 1_000;
const LOOKS_EVERY_MS = 500;

const customerOf = (number: number): string => `customer ${number}`;

export async function forEachAtOnce<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = new PQueue({ concurrency: AT_ONCE });
  await queue.addAll(items.map((item) => () => work(item)));
}

/** A plan of a fixed fee, calls in tiers, and bytes. @returns its id */
export async function makePlan(api: ApiClient): Promise<string> {
  const made = (path: string, body: object) => api.post<{ readonly id: string }>(path, body);
  const meter = (aggregation: object) =>
    made('/meters', { name: 'Calls', event_name: 'call', aggregation });
  const calls = await meter({ type: 'COUNT' });
  const bytes = await meter({ type: 'SUM', field: 'n' });
  const plan = await made('/plans', { name: 'Measured' });
  const common = { entity_id: plan.id, currency: 'usd' };
  const tiers = [
    { up_to: 10, unit_amount: '0.05' },
    { unit_amount: '0.0125', flat_amount: '1' },
  ];
  await made('/prices', { ...common, type: 'FIXED', amount: '10', invoice_cadence: 'ARREAR' });
  await made('/prices', { ...common, meter_id: calls.id, tier_mode: 'SLAB', tiers });
  await made('/prices', { ...common, meter_id: bytes.id, amount: '0.001' });
  return plan.id;
}

/** An event at this time, of one of so many customers. */
export function randomEvent(random: SeededRandom, customers: number, atMs: number) {
  return {
    event_name: 'call',
    external_customer_id: customerOf(random.below(customers)),
    timestamp: new Date(atMs).toISOString(),
    properties: { n: random.below(1_000) },
  };
}

/** Sends the first events of an environment, and waits until all of them are counted. */
export async function sendCounted(
  api: ApiClient,
  events: readonly ReturnType<typeof randomEvent>[],
): Promise<void> {
  for (let first = 0; first < events.length; first += EVENTS_OF_REQUEST) {
    await api.post('/events/bulk', { events: events.slice(first, first + EVENTS_OF_REQUEST) });
  }
  for (;;) {
    const { totals } = await api.get<{ readonly totals: Record<string, number> }>(
      '/events/reconciliation',
    );
    const { accepted = 0, pending = 0 } = totals;
    if (accepted >= events.length && pending === 0) return;
    await delay(LOOKS_EVERY_MS);
  }
}

/** So many customers with a monthly subscription each, which has these members. */
export async function subscribeAll(
  api: ApiClient,
  customers: number,
  members: object,
): Promise<void> {
  const numbers = Array.from({ length: customers }, (_, number) => number);
  await forEachAtOnce(numbers, async (number) => {
    await api.post('/customers', { external_id: customerOf(number) });
    await api.post('/subscriptions', {
      external_customer_id: customerOf(number),
      currency: 'usd',
      billing_period: 'MONTHLY',
      ...members,
    });
  });
}
