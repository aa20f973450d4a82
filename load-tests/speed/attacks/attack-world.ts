import { ApiClient } from '../../../cli/look/api-client.js';
import { sql } from 'slonik';
import { z } from 'zod';
import { closeOwner, ownerOf } from '../../harness/owner.js';
import { DAY_MS } from '../../../contract/instant.js';
import { makeKey } from '../../harness/make-key.js';
import type { StartedProgram } from '../../harness/start-program.js';
import { Bench } from '../programs.js';
import type { Attacker } from './attack-list.js';
import { EVENT_NAME, type BystanderWorld } from './bystander.js';

/** The limits that docs/http.md 1.10 documents, in place of none. */
const DOCUMENTED_LIMITS = {
  MINUTEBOOK_FAILED_AUTH_RATE: '10',
  MINUTEBOOK_PUBLIC_RATE: '20',
  MINUTEBOOK_INGEST_RATE: '20000',
  MINUTEBOOK_HEAVY_RATE: '100',
  MINUTEBOOK_DEFAULT_RATE: '500',
};

const ENVIRONMENTS = 12;
const CUSTOMERS = 1_000;
const COSTLY_EVENT = 'attacker.costly';
/** As many of one event name as the cost of their expressions permits. */
const COSTLY_METERS = 19;
const PREVIEW_LINES = 8;
const PREVIEW_DAYS = 363;
const DAYS_OF_BYSTANDER = 5;

type Created = { readonly id: string };

/** The programs, an attacker and a bystander, both of whom have what they need. */
export type AttackWorld = {
  readonly programs: ReadonlyMap<string, StartedProgram>;
  readonly attacker: Attacker;
  readonly bystander: BystanderWorld;
  readonly close: () => Promise<void>;
};

const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

/** Quotients of two properties, as many as one expression may have. */
const COSTLY_EXPRESSION = `max(${Array.from({ length: 20 }, () => 'a/b').join(',')})`;

async function createCostlyMeters(api: ApiClient): Promise<string> {
  let first: string | null = null;
  for (let index = 0; index < COSTLY_METERS; index += 1) {
    const { id } = await api.post<Created>('/meters', {
      name: `Costly ${index}`,
      event_name: COSTLY_EVENT,
      aggregation: { type: 'SUM', expression: COSTLY_EXPRESSION },
    });
    first ??= id;
  }
  return first ?? '';
}

/** A subscription that began at a time, to a plan of so many lines of usage. */
async function subscribe(
  api: ApiClient,
  asked: {
    readonly eventName: string;
    readonly lines: number;
    readonly isByMinute: boolean;
    /** The first billing period has not ended, so that the billing run has nothing to do. */
    readonly startDate: string;
  },
): Promise<string> {
  const { id: planId } = await api.post<Created>('/plans', { name: 'Plan' });
  const commitments: Record<string, object> = {};
  for (let line = 0; line < asked.lines; line += 1) {
    const { id: meterId } = await api.post<Created>('/meters', {
      name: `Line ${line}`,
      event_name: asked.eventName,
      aggregation: { type: 'COUNT', ...(asked.isByMinute ? { bucket_size: 'MINUTE' } : {}) },
    });
    const price = {
      entity_id: planId,
      meter_id: meterId,
      currency: 'usd',
      amount: '0.01',
      billing_period: 'ANNUAL',
    };
    const { id: priceId } = await api.post<Created>('/prices', price);
    commitments[priceId] = {
      commitment_amount: '0.5',
      commitment_overage_factor: '1.5',
      commitment_true_up_enabled: true,
      commitment_windowed: true,
    };
  }
  const { id } = await api.post<Created>('/subscriptions', {
    external_customer_id: 'customer-0',
    plan_id: planId,
    currency: 'usd',
    billing_period: 'ANNUAL',
    start_date: asked.startDate,
    ...(asked.isByMinute ? { line_item_commitments: commitments } : {}),
  });
  return id;
}

const LINES = 1_000;

/** A finalized invoice with as many lines as one may have. */
async function giveLongInvoice(api: ApiClient): Promise<string> {
  const { id: customerId } = await api.post<Created>('/customers', { external_id: 'long' });
  const total = `${LINES}.00`;
  const { id } = await api.post<Created>('/invoices', {
    customer_id: customerId,
    currency: 'usd',
    subtotal: total,
    total,
    amount_due: total,
    line_items: Array.from({ length: LINES }, (_, index) => ({
      display_name: `Line ${index} of many, Zeile ${index} von vielen`,
      amount: '1.00',
      quantity: '1',
    })),
  });
  return id;
}

async function prepareAttacker(url: string, keys: readonly string[]): Promise<Attacker> {
  const [apiKey = ''] = keys;
  const api = new ApiClient(`${url}/v1`, apiKey);
  const startDate = daysAgo(PREVIEW_DAYS);
  const largest = { eventName: 'attacker.call', lines: PREVIEW_LINES, isByMinute: true };
  return {
    port: Number(new URL(url).port),
    apiKey,
    keys,
    subscriptionId: await subscribe(api, { ...largest, startDate }),
    previewPeriod: { period_start: startDate, period_end: daysAgo(0) },
    meterId: await createCostlyMeters(api),
    eventName: COSTLY_EVENT,
    longInvoiceId: await giveLongInvoice(api),
  };
}

async function prepareBystander(url: string, apiKey: string): Promise<BystanderWorld> {
  const api = new ApiClient(`${url}/v1`, apiKey);
  const { id: meterId } = await api.post<Created>('/meters', {
    name: 'Amount',
    event_name: EVENT_NAME,
    aggregation: { type: 'SUM', field: 'amount' },
  });
  const subscriptionId = await subscribe(api, {
    eventName: EVENT_NAME,
    lines: 3,
    isByMinute: false,
    startDate: daysAgo(DAYS_OF_BYSTANDER),
  });
  return { api, meterId, subscriptionId, customer: 'customer-1' };
}

type Environment = Awaited<ReturnType<typeof makeKey>>['environment'];
const noRows = sql.type(z.unknown());

/** Customers `customer-0` and on, written beside the interface: making each would take minutes. */
async function storeCustomers(ownerUrl: string, environment: Environment): Promise<void> {
  const { tenantId, environmentId } = environment;
  await ownerOf({ url: ownerUrl }).query(noRows`
    INSERT INTO customers (id, tenant_id, environment_id, external_id, name, metadata, status,
      created_at, updated_at)
    SELECT 'cust_0' || upper(substr(md5(${environmentId} || number), 1, 25)), ${tenantId},
      ${environmentId}, 'customer-' || number, 'Customer ' || number, '{}', 'published', now(),
      now()
    FROM generate_series(0, ${CUSTOMERS - 1}) AS number`);
}

/** Keys of a tenant with several environments, as the operator may allow it. */
async function makeTenant(ownerUrl: string, environments: number): Promise<readonly string[]> {
  const owner = { url: ownerUrl };
  const { apiKey, environment } = await makeKey(owner, {});
  await storeCustomers(ownerUrl, environment);
  const keys = [apiKey];
  for (let index = 1; index < environments; index += 1) {
    const environmentId = `${environment.environmentId.slice(0, -2)}${10 + index}`;
    const more = await makeKey(owner, { environment: { ...environment, environmentId } });
    keys.push(more.apiKey);
  }
  return keys;
}

/** Starts engines and programs, each in a process of its own, with two aggregators. */
export async function openAttackWorld(): Promise<AttackWorld> {
  const bench = await Bench.open();
  const billingApi = await bench.start('billing-api', {
    ...DOCUMENTED_LIMITS,
    MINUTEBOOK_PROXY_COUNT: '1',
  });
  const ingest = await bench.start('ingest', {
    ...DOCUMENTED_LIMITS,
    MINUTEBOOK_BILLING_API_URL: billingApi.url,
  });
  const aggregators = [await bench.start('aggregator'), await bench.start('aggregator')];
  const { ownerDatabaseUrl } = bench.engines;
  const keys = await makeTenant(ownerDatabaseUrl, ENVIRONMENTS);
  const [otherKey = ''] = await makeTenant(ownerDatabaseUrl, 1);
  await closeOwner(ownerDatabaseUrl);
  return {
    programs: new Map([
      ['billing-api', billingApi],
      ['ingest', ingest],
      ...aggregators.map((program, index) => [`aggregator ${index + 1}`, program] as const),
    ]),
    attacker: await prepareAttacker(ingest.url, keys),
    bystander: await prepareBystander(ingest.url, otherKey),
    close: () => bench.close(),
  };
}
