import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { OracleCustomer, OracleEvent } from '../usage-event.js';
import type { World } from '../usage.js';
import type { Product } from './product.js';
import {
  CUSTOMER_ZONES,
  EARLY_CUSTOMERS,
  LATE_CUSTOMERS,
  type EventSpec,
  type MeterSpec,
} from './random-case.js';

/** A case in progress: what has been sent so far, as the oracle sees it. */
export type CaseRun = {
  readonly product: Product;
  readonly eventName: string;
  readonly customers: OracleCustomer[];
  readonly accepted: OracleEvent[];
  readonly meterIds: Map<MeterSpec, string>;
};

/** What events and customers of a case are named after. */
type Named = Pick<CaseRun, 'eventName' | 'customers'>;

const VISIBLE_TIMEOUT_MS = 120_000;
const POLL_MS = 100;

/** A customer of a case by its number, with the id that it was given. */
export function customerOf(run: Named, index: number, id: string): OracleCustomer {
  return { id, externalId: externalIdOf(run, index) };
}

export function beginCase(product: Product): CaseRun {
  const eventName = `call ${randomUUID()}`;
  return { product, eventName, customers: [], accepted: [], meterIds: new Map() };
}

function externalIdOf(run: Named, index: number): string {
  return `customer ${index} of ${run.eventName}`;
}

async function createCustomersUpTo(run: CaseRun, count: number): Promise<void> {
  for (let index = run.customers.length; index < count; index += 1) {
    const externalId = externalIdOf(run, index);
    const body = { external_id: externalId, timezone: CUSTOMER_ZONES[index] ?? undefined };
    const { id } = await run.product.post<{ id: string }>('/customers', JSON.stringify(body));
    run.customers.push({ id, externalId });
  }
}

export async function createEarlyCustomers(run: CaseRun): Promise<void> {
  await createCustomersUpTo(run, EARLY_CUSTOMERS);
}

export async function createLateCustomers(run: CaseRun): Promise<void> {
  await createCustomersUpTo(run, LATE_CUSTOMERS);
}

/** What the product is told of a meter, and of an aggregation without one. */
export function aggregationOf(meter: MeterSpec): object {
  return {
    type: meter.type,
    ...meter.origin,
    multiplier: meter.multiplier ?? undefined,
    bucket_size: meter.buckets.bucketSize ?? undefined,
    group_by: meter.buckets.bucketSize === null ? undefined : (meter.buckets.groupBy ?? undefined),
  };
}

export async function createMeter(run: CaseRun, meter: MeterSpec): Promise<void> {
  const body = {
    name: meter.type,
    event_name: run.eventName,
    aggregation: aggregationOf(meter),
    filters: meter.filters,
    reset_usage: meter.isNeverReset ? 'NEVER' : 'BILLING_PERIOD',
  };
  const { id } = await run.product.post<{ id: string }>('/meters', JSON.stringify(body));
  run.meterIds.set(meter, id);
}

const EVENT_NAMES = {
  own: (name: string) => name,
  blanks: (name: string) => `  ${name} `,
  otherCase: (name: string) => name.toUpperCase(),
} as const;

/** The event of a specification, as it is accepted. */
export function oracleEventOf(run: Named, spec: EventSpec, receipt: number): OracleEvent {
  const externalId = externalIdOf(run, spec.customer);
  const id = run.customers[spec.customer]?.id ?? 'cust_nobody';
  const texts = Object.entries(spec.properties).map(([name, token]): [string, string] => {
    const parsed: unknown = JSON.parse(token);
    return [name, typeof parsed === 'string' ? parsed : token];
  });
  return {
    eventId: `${run.eventName} ${spec.id}`,
    eventName: EVENT_NAMES[spec.name](run.eventName),
    // Of both, the external one decides: the other may be that of any customer.
    externalCustomerId: spec.reference === 'id' ? null : externalId,
    customerId: spec.reference === 'external' ? null : spec.reference === 'id' ? id : otherId(run),
    source: spec.source,
    timestamp: spec.timestamp,
    receipt,
    properties: new Map(texts),
  };
}

function otherId(run: Named): string {
  return run.customers[0]?.id ?? 'cust_nobody';
}

function jsonOf(event: OracleEvent, spec: EventSpec): string {
  const timestamp = new Date(event.timestamp).toISOString().replace('Z', '');
  const members = {
    event_id: event.eventId,
    event_name: event.eventName,
    external_customer_id: event.externalCustomerId ?? undefined,
    customer_id: event.customerId ?? undefined,
    source: event.source === '' ? undefined : event.source,
    timestamp: `${timestamp}${spec.digitsBeyondMs}Z`,
  };
  const properties = Object.entries(spec.properties).map(
    ([name, token]) => `${JSON.stringify(name)}:${token}`,
  );
  return `${JSON.stringify(members).slice(0, -1)},"properties":{${properties.join(',')}}}`;
}

/** Sends each list as one request, one after the other; all must be accepted. */
export async function sendEvents(
  run: CaseRun,
  requests: readonly (readonly EventSpec[])[],
): Promise<void> {
  for (const specs of requests) {
    // Two requests are never received in the same millisecond, so that ties are known.
    await delay(3);
    const receipt = run.accepted.length;
    const events = specs.map((spec) => oracleEventOf(run, spec, receipt));
    const texts = events.map((event, index) => jsonOf(event, specs[index] as EventSpec));
    const body = `{"events":[${texts.join(',')}]}`;
    const { items } = await run.product.post<{ items: { status: string }[] }>('/events/bulk', body);
    const refused = items.filter(({ status }) => status !== 'accepted');
    if (refused.length > 0) throw new Error(`refused events: ${JSON.stringify(refused)}`);
    run.accepted.push(...events);
  }
}

async function waitFor(isDone: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + VISIBLE_TIMEOUT_MS;
  while (!(await isDone())) {
    if (Date.now() > deadline) throw new Error(`${what} took more than two minutes`);
    await delay(POLL_MS);
  }
}

async function isBackfilled(run: CaseRun, id: string): Promise<boolean> {
  const path = `/meters/${id}`;
  const { backfill } = await run.product.get<{ backfill: { status: string } }>(path);
  if (backfill.status === 'failed') throw new Error(`the backfill of ${id} failed`);
  return backfill.status !== 'running';
}

/** Until every event sent by now is in the answers, and in those of every meter created by now. */
export async function waitUntilVisible(run: CaseRun): Promise<void> {
  const sentAt = Date.now();
  for (const id of run.meterIds.values()) await waitFor(() => isBackfilled(run, id), 'a backfill');
  // The watermark is one for all meters, and a case may have none yet.
  const body = JSON.stringify({ event_name: run.eventName, aggregation_type: 'COUNT' });
  await waitFor(async () => {
    const { data_until: until } = await run.product.post<{ data_until: string }>(
      '/events/usage',
      body,
    );
    return Date.parse(until) > sentAt;
  }, 'an answer that includes all events');
}

export function worldOf(run: CaseRun): World {
  return { accepted: run.accepted, customers: run.customers };
}
