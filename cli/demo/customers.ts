import PQueue from 'p-queue';
import type { ApiClient } from '../look/api-client.js';
import type { DemoCatalog } from './catalog.js';
import type { Recount } from './recount.js';

const CONCURRENT_REQUESTS = 8;
const INCLUDED_TIMEOUT_MS = 120_000;
const POLL_MS = 200;
/** All times that an event may have, so that every event of the file is included. */
const ALL_TIME = { start_time: '1970-01-01T00:00:00Z', end_time: '2200-01-01T00:00:00Z' };

/** Does something for each customer, some at once. */
export async function forEachCustomer(
  customers: readonly string[],
  onProgress: (done: number) => void,
  work: (customer: string) => Promise<void>,
): Promise<void> {
  const queue = new PQueue({ concurrency: CONCURRENT_REQUESTS });
  let done = 0;
  await queue.addAll(
    customers.map((customer) => async () => {
      await work(customer);
      done += 1;
      onProgress(done);
    }),
  );
}

/** Creates one customer per client address. */
export async function createCustomers(
  api: ApiClient,
  customers: readonly string[],
  onProgress: (done: number) => void,
): Promise<void> {
  await forEachCustomer(customers, onProgress, async (customer) => {
    await api.post('/customers', { external_id: customer });
  });
}

async function usageOf(api: ApiClient, meterId: string, customer: string): Promise<string> {
  const body = { meter_id: meterId, external_customer_id: customer, ...ALL_TIME };
  return (await api.post<{ readonly value: string }>('/events/usage/meter', body)).value;
}

/**
 * Waits until answers include everything that was received before an instant: events are stored
 * before they are in the minutes from which usage is read.
 */
export async function waitUntilIncluded(
  api: ApiClient,
  { requestsMeterId }: DemoCatalog,
  asked: { readonly customer: string; readonly instantMs: number },
): Promise<void> {
  const deadline = Date.now() + INCLUDED_TIMEOUT_MS;
  const body = { meter_id: requestsMeterId, external_customer_id: asked.customer, ...ALL_TIME };
  while (Date.now() < deadline) {
    const answer = await api.post<{ readonly data_until: string }>('/events/usage/meter', body);
    if (Date.parse(answer.data_until) >= asked.instantMs) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error('what was sent is not included in answers after the time that was given');
}

/** One line for every customer whose usage differs from the independent count. */
export async function disagreements(
  api: ApiClient,
  catalog: DemoCatalog,
  facts: {
    readonly recount: ReadonlyMap<string, Recount>;
    readonly onProgress: (done: number) => void;
  },
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const customers = [...facts.recount.keys()];
  await forEachCustomer(customers, facts.onProgress, async (customer) => {
    const expected = facts.recount.get(customer);
    const all = await usageOf(api, catalog.requestsMeterId, customer);
    const pages = await usageOf(api, catalog.pagesMeterId, customer);
    if (all === String(expected?.all) && pages === String(expected?.pages)) return;
    wrong.push(
      `${customer}: ${all} requests and ${pages} pages, ` +
        `the file has ${expected?.all} and ${expected?.pages}`,
    );
  });
  return wrong;
}
