import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
import type { ApiClient } from '../../cli/look/api-client.js';
import { openEnvironment, turnTo } from '../../cli/demo/turned-clock.js';
import { createSeededRandom, type SeededRandom } from '../harness/seeded-random.js';
import { cpuSecondsOf, highWaterOf, productProcesses } from './processes.js';
import { inProduct } from './programs.js';
import { atLeast, grouped, type Measurement } from './section.js';

const AT_ONCE = 4;
const EVENTS_OF_REQUEST = 1_000;
const LOOKS_EVERY_MS = 200;
const EVENTS_OF_CUSTOMER = 12;
const START = '2026-01-01T00:00:00.000Z';
const DRAFTED = '2026-02-01T01:00:00.000Z';
const FINALIZED = '2026-02-01T03:00:00.000Z';
const MONTH_MINUTES = 31 * 1_440;
const INVOICES_PER_SECOND_MIN = 200;

const customerOf = (number: number): string => `customer ${number}`;

/** A plan of a fixed fee, calls in tiers, and bytes. @returns its id */
async function makePlan(api: ApiClient): Promise<string> {
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

/** An event in January, of one of so many customers. */
function randomEvent(random: SeededRandom, customers: number) {
  return {
    event_name: 'call',
    external_customer_id: customerOf(random.below(customers)),
    timestamp: new Date(Date.parse(START) + random.below(MONTH_MINUTES) * 60_000).toISOString(),
    properties: { n: random.below(1_000) },
  };
}

/** Sends the first events of an environment, and waits until all of them are counted. */
async function sendCounted(
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

/** So many customers with a monthly subscription each. */
async function subscribeAll(api: ApiClient, customers: number, planId: string): Promise<void> {
  const queue = new PQueue({ concurrency: AT_ONCE });
  const subscribe = async (number: number): Promise<void> => {
    await api.post('/customers', { external_id: customerOf(number) });
    await api.post('/subscriptions', {
      external_customer_id: customerOf(number),
      plan_id: planId,
      start_date: START,
      currency: 'usd',
      billing_period: 'MONTHLY',
    });
  };
  await queue.addAll(Array.from({ length: customers }, (_, number) => () => subscribe(number)));
}

async function countOf(api: ApiClient, status: string): Promise<number> {
  const { pagination } = await api.post<{ readonly pagination: { readonly total: number } }>(
    '/invoices/search',
    {
      invoice_status: [status],
      billing_reason: 'SUBSCRIPTION_CYCLE',
      limit: 1,
      skip_line_items: true,
    },
  );
  return pagination.total;
}

type Turn = { readonly clockId: string; readonly now: string; readonly status: string };

/** Turns the clock. @returns what it took until so many invoices have the status. */
async function turned(api: ApiClient, invoices: number, { clockId, now, status }: Turn) {
  const processes = await productProcesses(process.pid);
  const before = await cpuSecondsOf(processes);
  const startedAt = performance.now();
  await turnTo(api, clockId, now);
  while ((await countOf(api, status)) < invoices) await delay(LOOKS_EVERY_MS);
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = [...(await cpuSecondsOf(processes))].map(
    ([part, used]) => `${part} ${(used - (before.get(part) ?? 0)).toFixed(1)}`,
  );
  return { seconds, note: `${status}: ${seconds.toFixed(1)} s; CPU seconds: ${cpu.join(', ')}.` };
}

async function highWaterOfBilling(): Promise<string> {
  const processes = await productProcesses(process.pid);
  const pid = processes.find(({ part }) => part === 'billing-api')?.pid;
  return `${((pid === undefined ? null : await highWaterOf(pid)) ?? Number.NaN).toFixed(0)} MB`;
}

/**
 * P7: subscriptions that are all due at the same second. A month with usage is drafted, the next
 * period begun, and the invoice finalized. The environment has a test clock, which is turned beyond
 * the end of the month and the delay of drafts.
 */
export const measureBillingRun: Measurement = ({ subscriptions }, progress) =>
  inProduct({}, async ({ url }) => {
    const api = await openEnvironment(`${url}/v1`);
    const { id: clockId } = await api.post<{ id: string }>('/test_clocks', {
      name: 'Run',
      now: START,
    });
    const planId = await makePlan(api);
    const random = createSeededRandom(1);
    const janEvent = () => randomEvent(random, subscriptions);
    progress(0.05, 'events and subscriptions');
    await sendCounted(api, Array.from({ length: subscriptions * EVENTS_OF_CUSTOMER }, janEvent));
    await subscribeAll(api, subscriptions, planId);
    const memoryBefore = await highWaterOfBilling();
    progress(0.5, 'drafts');
    const drafted = await turned(api, subscriptions, { clockId, now: DRAFTED, status: 'DRAFT' });
    progress(0.8, 'finalized');
    const finalized = await turned(api, subscriptions, {
      clockId,
      now: FINALIZED,
      status: 'FINALIZED',
    });
    const figure = (what: string, seconds: number) =>
      atLeast(
        { id: 'P7', what: `invoices/s, ${what}` },
        subscriptions / seconds,
        INVOICES_PER_SECOND_MIN,
      );
    return {
      title: `${grouped(subscriptions)} subscriptions due at once`,
      findings: [
        figure('drafted', drafted.seconds),
        figure('finalized', finalized.seconds),
        figure('drafted and finalized', drafted.seconds + finalized.seconds),
      ],
      plots: [],
      notes: [
        drafted.note,
        finalized.note,
        `Memory of billing-api (VmHWM): ${memoryBefore} before, ${await highWaterOfBilling()} after.`,
      ],
    };
  });
