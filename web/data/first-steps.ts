import { MinutebookClient } from '../../client/minutebook-client.js';
import { MinutebookError } from '../../client/minutebook-error.js';
import type { PlainWord } from '../words/words.js';
import { place } from '../app/router.js';
import { call, client, readSession, session } from './api.js';

/** What there is already, each the first of its kind. */
export type Progress = {
  readonly meterId: string | null;
  readonly eventName: string;
  readonly planId: string | null;
  readonly currency: string;
  readonly externalCustomerId: string | null;
  readonly eventId: string | null;
  readonly invoiceId: string | null;
};

type Answers = Readonly<Record<string, string>>;

export type Step = {
  readonly word: PlainWord;
  readonly why: PlainWord;
  readonly submit: PlainWord;
  readonly path: string;
  readonly fields: readonly {
    readonly name: string;
    readonly label: PlainWord;
    readonly value: string;
  }[];
  readonly isDone: (progress: Progress) => boolean;
  /** The body that a program would send. */
  readonly sample: (progress: Progress) => object;
  readonly send: (answers: Answers, progress: Progress) => Promise<void>;
};

type Offset = { readonly month: -1 | 0; readonly minute?: number };

/** An instant of a month counted from this one: what is billed of the last one has ended. */
function dayOfMonth(day: number, { month, minute = 0 }: Offset): string {
  const now = new Date();
  const year = now.getUTCFullYear();
  return new Date(Date.UTC(year, now.getUTCMonth() + month, day, 0, minute)).toISOString();
}

const lastMonth = (day: number): string => dayOfMonth(day, { month: -1 });

const WAIT_MS = 500;
/** Billing looks every two minutes; where there is a test clock, at once. */
const WAITS_MAX = 300;

/** Waits for what the server does a moment after it has answered. */
async function until(isThere: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < WAITS_MAX; turn += 1) {
    if (await isThere()) return;
    await new Promise((resolve) => {
      setTimeout(resolve, WAIT_MS);
    });
  }
}

async function firstInvoiceId(): Promise<string | null> {
  const body = { limit: 1, skip_line_items: true };
  return (await call('POST', '/invoices/search', { body })).items[0]?.id ?? null;
}

async function firstMeter() {
  const [meter] = (await call('GET', '/meters', { query: { limit: 1 } })).items;
  return { meterId: meter?.id ?? null, eventName: meter?.event_name ?? 'api_call' };
}

/** A plan counts once it has a price. */
async function firstPlan() {
  const [price] = (await call('POST', '/prices/search', { body: { limit: 1 } })).items;
  return { planId: price?.entity_id ?? null, currency: price?.currency ?? 'usd' };
}

async function firstCustomer() {
  const [customer] = (await call('POST', '/customers/search', { body: { limit: 1 } })).items;
  return { externalCustomerId: customer?.external_id ?? null };
}

async function firstEvent() {
  const query = { page_size: 1, start_time: lastMonth(1) };
  const [event] = (await call('GET', '/events', { query })).events;
  return { eventId: event?.id ?? null };
}

/** What there is already in this environment. */
export async function readProgress(): Promise<Progress> {
  const [meter, plan, customer, event, invoiceId] = await Promise.all([
    firstMeter(),
    firstPlan(),
    firstCustomer(),
    firstEvent(),
    firstInvoiceId(),
  ]);
  return { ...meter, ...plan, ...customer, ...event, invoiceId };
}

const METER: Step = {
  word: 'step_meter',
  why: 'why_meter',
  submit: 'make_meter',
  path: '/meters',
  fields: [
    { name: 'name', label: 'name', value: 'API calls' },
    { name: 'event', label: 'event_name', value: 'api_call' },
  ],
  isDone: ({ meterId }) => meterId !== null,
  sample: () => ({ name: 'API calls', event_name: 'api_call', aggregation: { type: 'COUNT' } }),
  send: async ({ name = '', event = '' }) => {
    const body = { name, event_name: event, aggregation: { type: 'COUNT' as const } };
    await call('POST', '/meters', { body });
  },
};

const PLAN: Step = {
  word: 'step_plan',
  why: 'why_plan',
  submit: 'make_plan',
  path: '/plans',
  fields: [
    { name: 'name', label: 'name', value: 'Pay as you go' },
    { name: 'amount', label: 'unit_amount', value: '0.25' },
    { name: 'currency', label: 'currency', value: 'usd' },
  ],
  isDone: ({ planId }) => planId !== null,
  sample: () => ({ name: 'Pay as you go' }),
  send: async ({ name = '', amount = '', currency = '' }, { meterId }) => {
    const plan = await call('POST', '/plans', { body: { name } });
    const start = { start_date: lastMonth(1) };
    const metered = meterId === null ? {} : { meter_id: meterId };
    await call('POST', '/prices', {
      body: { entity_id: plan.id, amount, currency: currency.toLowerCase(), ...metered, ...start },
    });
  },
};

const CUSTOMER: Step = {
  word: 'step_customer',
  why: 'why_customer',
  submit: 'make_customer',
  path: '/customers',
  fields: [
    { name: 'external', label: 'external_id', value: 'acme' },
    { name: 'name', label: 'name', value: 'Acme Inc.' },
  ],
  isDone: ({ externalCustomerId: id }) => id !== null,
  sample: () => ({ external_id: 'acme', name: 'Acme Inc.' }),
  send: async ({ external = '', name = '' }) => {
    await call('POST', '/customers', { body: { external_id: external, name } });
  },
};

async function isCounted(id: string): Promise<boolean> {
  try {
    return (await call('GET', '/events/lookup', { query: { id } })).status !== 'pending';
  } catch (error) {
    if (error instanceof MinutebookError && error.status === 404) return false;
    throw error;
  }
}

/** How long the key of this page lives that can do nothing but send events. */
const KEY_MS = 600_000;

const EVENT: Step = {
  word: 'step_event',
  why: 'why_event',
  submit: 'send_event',
  path: '/events',
  fields: [{ name: 'id', label: 'event_id', value: 'call-1' }],
  isDone: ({ eventId }) => eventId !== null,
  sample: ({ eventName, externalCustomerId }) => ({
    event_name: eventName,
    event_id: 'call-1',
    external_customer_id: externalCustomerId ?? 'acme',
    timestamp: lastMonth(15),
  }),
  send: async ({ id = '' }, { eventName, externalCustomerId }) => {
    const expires = new Date(Date.now() + KEY_MS).toISOString();
    const key = { name: 'First event', type: 'publishable_key', expires_at: expires } as const;
    const { api_key: apiKey } = await call('POST', '/secrets/api/keys', { body: key });
    const sender = new MinutebookClient({ baseUrl: `${location.origin}/v1`, apiKey });
    await sender.post('/events', {
      body: {
        event_name: eventName,
        event_id: id,
        external_customer_id: externalCustomerId ?? '',
        timestamp: lastMonth(15),
        source: 'console',
      },
    });
    await until(() => isCounted(id));
  },
};

/** Whether the environment of the address has a clock that can be turned. */
export function isDevelopment(): boolean {
  const { environmentId } = place.value;
  const here = session.value?.environments.find(({ id }) => id === environmentId);
  return here?.type === 'development';
}

/** A clock that stands at the beginning of what is billed. */
async function clockAt(start: string): Promise<string> {
  const body = { name: 'First steps', now: start };
  return (await call('POST', '/test_clocks', { body })).id;
}

/**
 * Turns the clock past the end of last month; what falls due meanwhile is done. The invoice is a
 * draft then, since it is finalized an hour later.
 */
async function turnToThisMonth(id: string): Promise<void> {
  const now = dayOfMonth(1, { month: 0, minute: 30 });
  await call('POST', '/test_clocks/{id}/advance', { path: { id }, body: { now } });
  await until(async () => {
    const { status } = await call('GET', '/test_clocks/{id}', { path: { id } });
    return status !== 'advancing';
  });
}

/** The environment of development of the tenant, which is made where there is none. */
export async function developmentEnvironment(): Promise<string> {
  const isWanted = ({ type }: { type: string }): boolean => type === 'development';
  const known = session.value?.environments.find(isWanted);
  if (known !== undefined) return known.id;
  const body = { name: 'Development', type: 'development' as const };
  const { id } = await client('').post('/environments', { body });
  await readSession();
  return id;
}

const SUBSCRIPTION: Step = {
  word: 'step_subscription',
  why: 'why_subscription',
  submit: 'subscribe',
  path: '/subscriptions',
  fields: [{ name: 'start', label: 'since', value: lastMonth(1) }],
  isDone: ({ invoiceId }) => invoiceId !== null,
  sample: ({ planId, externalCustomerId, currency }) => ({
    external_customer_id: externalCustomerId ?? 'acme',
    plan_id: planId,
    currency,
    billing_period: 'MONTHLY',
    start_date: lastMonth(1),
  }),
  send: async ({ start = '' }, { planId, externalCustomerId, currency }) => {
    const clockId = isDevelopment() ? await clockAt(start) : null;
    await call('POST', '/subscriptions', {
      body: {
        external_customer_id: externalCustomerId ?? '',
        plan_id: planId ?? '',
        currency,
        billing_period: 'MONTHLY',
        start_date: start,
      },
    });
    if (clockId !== null) await turnToThisMonth(clockId);
    await until(async () => (await firstInvoiceId()) !== null);
  },
};

/** The way to the first invoice. */
export const STEPS: readonly Step[] = [METER, PLAN, CUSTOMER, EVENT, SUBSCRIPTION];
