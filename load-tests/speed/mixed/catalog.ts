import type { ApiClient } from '../../../cli/look/api-client.js';
import { createCustomers } from '../../../cli/demo/customers.js';
import { loadCustomer } from '../load/load-identity.js';
import { JOB, MIX_CUSTOMERS, REQUEST } from './event-plan.js';

export type WithId = { readonly id: string };

/** What exists from the beginning to the end of the mixed load. */
export type MixCatalog = {
  /** Counts all requests, those with some statuses, and all jobs. */
  readonly requestsMeter: string;
  readonly deliveredMeter: string;
  readonly jobsMeter: string;
  /** Of the first customer, priced by requests in tiers and by jobs. */
  readonly subscription: string;
};

/** A month in which all events of the load lie, late ones included: it ends tomorrow. */
export function monthAround(nowMs: number): { start_time: string; end_time: string } {
  const DAY_MS = 86_400_000;
  const end = (Math.floor(nowMs / DAY_MS) + 2) * DAY_MS;
  return {
    start_time: new Date(end - 32 * DAY_MS).toISOString(),
    end_time: new Date(end).toISOString(),
  };
}

async function subscribe(api: ApiClient, meters: readonly [string, string]): Promise<string> {
  const { id: planId } = await api.post<WithId>('/plans', { name: 'Mixed load' });
  const [requests, jobs] = meters;
  const price = { entity_id: planId, currency: 'usd' };
  await api.post('/prices', {
    ...price,
    meter_id: requests,
    tier_mode: 'SLAB',
    tiers: [{ up_to: 1_000, unit_amount: '0.001' }, { unit_amount: '0.0005' }],
  });
  await api.post('/prices', { ...price, meter_id: jobs, amount: '0.02' });
  const start = new Date();
  start.setUTCDate(1);
  start.setUTCHours(0, 0, 0, 0);
  const { id } = await api.post<WithId>('/subscriptions', {
    external_customer_id: loadCustomer(0),
    plan_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: start.toISOString(),
  });
  return id;
}

/** Creates the customers, the meters that stay, and a subscription to preview. */
export async function createMixCatalog(api: ApiClient): Promise<MixCatalog> {
  const createMeter = async (members: object): Promise<string> =>
    (await api.post<WithId>('/meters', { aggregation: { type: 'COUNT' }, ...members })).id;
  const requestsMeter = await createMeter({ name: 'Requests', event_name: REQUEST });
  const deliveredMeter = await createMeter({
    name: 'Delivered',
    event_name: REQUEST,
    filters: [{ key: 'status', values: ['200', '206'] }],
  });
  await createMeter({
    name: 'Bytes',
    event_name: REQUEST,
    aggregation: { type: 'SUM', field: 'bytes' },
  });
  const jobsMeter = await createMeter({ name: 'Jobs', event_name: JOB });
  const customers = Array.from({ length: MIX_CUSTOMERS }, (_, index) => loadCustomer(index));
  await createCustomers(api, customers, () => undefined);
  const subscription = await subscribe(api, [requestsMeter, jobsMeter]);
  return { requestsMeter, deliveredMeter, jobsMeter, subscription };
}
