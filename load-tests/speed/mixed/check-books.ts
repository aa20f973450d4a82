import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '../../../cli/look/api-client.js';
import { UnexpectedAnswer } from '../../../cli/look/api-client.js';
import { messageOf } from '../../../runtime/failure.js';
import { loadCustomer } from '../load/load-identity.js';
import type { UsageAnswer } from './ask-usage.js';
import { monthAround, type MixCatalog } from './catalog.js';
import type { MeterChanges } from './change-meters.js';
import { MIX_CUSTOMERS } from './event-plan.js';
import type { SentBooks } from './sent-books.js';

const POLL_MS = 250;
/** Of the customers, every so many one is compared. */
const CUSTOMERS_BETWEEN = 9;

type Balance = Readonly<
  Record<
    | 'accepted'
    | 'counted'
    | 'unmatched_customer'
    | 'unmatched_meter'
    | 'duplicate'
    | 'conflict'
    | 'pending'
    | 'difference',
    number
  >
>;

/** One count of the product beside the client's own. */
export type Comparison = {
  readonly what: string;
  readonly product: number;
  readonly client: number;
};

type Books = {
  readonly api: ApiClient;
  readonly catalog: MixCatalog;
  readonly books: SentBooks;
  readonly changes: MeterChanges;
  /** From when to when events were sent. */
  readonly startMs: number;
};

/** The product's reconciliation; null while more events wait than it counts one by one. */
async function readBalance({ api, startMs }: Books): Promise<Balance | null> {
  const start = new Date(startMs).toISOString();
  const end = new Date(Date.now() + 1_000).toISOString();
  try {
    const path = `/events/reconciliation?start_time=${start}&end_time=${end}`;
    return (await api.get<{ readonly totals: Balance }>(path)).totals;
  } catch (error) {
    if (error instanceof UnexpectedAnswer && error.status === 503) return null;
    throw error;
  }
}

/** Waits until the product says that nothing waits. @throws Error when the time is over. */
export async function whenDrained({ api }: Books, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const monitoring = await api.get<{ readonly consumption_lag: number }>('/events/monitoring');
    if (monitoring.consumption_lag === 0) return;
    if (performance.now() > deadline) {
      throw new Error(`${monitoring.consumption_lag} records still wait`);
    }
    await delay(POLL_MS);
  }
}

/** The product's reconciliation once nothing is pending. @throws Error when the time is over. */
async function settledBalance(of: Books, timeoutMs: number): Promise<Balance> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const balance = await readBalance(of);
    if (balance?.pending === 0) return balance;
    if (performance.now() > deadline) {
      throw new Error(`still pending: ${balance?.pending ?? 'more than can be counted'}`);
    }
    await delay(POLL_MS);
  }
}

function compareBalance(balance: Balance, { totals, counted }: SentBooks): readonly Comparison[] {
  return [
    ['accepted', balance.accepted, totals.accepted],
    ['counted', balance.counted, counted],
    ['of unknown customers', balance.unmatched_customer, totals.unknownCustomer],
    ['without a meter', balance.unmatched_meter, totals.unmetered],
    ['duplicates', balance.duplicate, totals.repeats],
    ['conflicts among them', balance.conflict, totals.conflicts],
    ['difference of the books', balance.difference, 0],
  ].map(([what, product, client]) => ({
    what: String(what),
    product: Number(product),
    client: Number(client),
  }));
}

async function usageOf({ api }: Books, meterId: string, customer?: string): Promise<number> {
  const whose = customer === undefined ? {} : { external_customer_id: customer };
  const body = { meter_id: meterId, ...whose, ...monthAround(Date.now()) };
  const { value } = await api.post<UsageAnswer>('/events/usage/meter', body);
  return Number(value);
}

/**
 * Waits until the usage of all is what was accepted of known customers.
 * @returns how many more than that an answer had meanwhile, which must be none.
 * @throws Error when it is not that in time.
 */
export async function whenVisible(of: Books, timeoutMs: number): Promise<number> {
  const deadline = performance.now() + timeoutMs;
  let tooMany = 0;
  for (;;) {
    const counted = await usageOf(of, of.catalog.requestsMeter);
    if (counted === of.books.requests) return tooMany;
    tooMany = Math.max(tooMany, counted - of.books.requests);
    if (performance.now() > deadline) {
      throw new Error(`${of.books.requests} requests were accepted, ${counted} are counted`);
    }
    await delay(POLL_MS / 5);
  }
}

async function compareCustomers(of: Books): Promise<Comparison> {
  let [product, client] = [0, 0];
  for (let customer = 0; customer < MIX_CUSTOMERS; customer += CUSTOMERS_BETWEEN) {
    const counted = await usageOf(of, of.catalog.requestsMeter, loadCustomer(customer));
    const sent = of.books.requestsOf.get(customer) ?? 0;
    client += 1;
    if (counted === sent) product += 1;
  }
  return { what: 'customers whose count agrees', product, client };
}

/** A comparison that could not be made must not cost the others: it counts as one that differs. */
async function comparing(
  what: string,
  work: () => Promise<readonly Comparison[]>,
): Promise<readonly Comparison[]> {
  try {
    return await work();
  } catch (error) {
    return [{ what: `${what}: ${messageOf(error)}`, product: Number.NaN, client: 0 }];
  }
}

/** Every count of the product beside that of the client, once everything is counted. */
export async function compareBooks(of: Books, timeoutMs: number): Promise<readonly Comparison[]> {
  const { catalog, books, changes } = of;
  const compareMeter = (what: string, meterId: string, client: number) =>
    comparing(what, async () => [{ what, product: await usageOf(of, meterId), client }]);
  const compared = [
    ...(await comparing('drained', () => whenDrained(of, timeoutMs).then(() => []))),
    ...(await comparing('reconciliation', async () =>
      compareBalance(await settledBalance(of, timeoutMs), books),
    )),
    ...(await compareMeter('meter of requests', catalog.requestsMeter, books.requests)),
    ...(await compareMeter('meter of delivered requests', catalog.deliveredMeter, books.delivered)),
    ...(await compareMeter('meter of jobs', catalog.jobsMeter, books.jobs)),
  ];
  for (const [index, meter] of changes.living.entries()) {
    const what = `changing meter ${index + 1}`;
    const { id, regions } = meter;
    const applied = () => changes.whenApplied(meter, timeoutMs).then(() => []);
    compared.push(...(await comparing(what, applied)));
    compared.push(...(await compareMeter(what, id, books.jobsIn(regions))));
  }
  return [...compared, ...(await comparing('customers', async () => [await compareCustomers(of)]))];
}
