import type { ApiClient } from '../look/api-client.js';

type WithId = { readonly id: string };
type FeatureAnswer = WithId & { readonly meter_id: string };

export type DemoCatalog = {
  readonly planId: string;
  /** Counts all requests. */
  readonly requestsMeterId: string;
  /** Counts GET requests that were answered with 200, 206 or 304. */
  readonly pagesMeterId: string;
};

const REQUESTS = {
  name: 'HTTP requests',
  type: 'metered',
  unit_singular: 'request',
  unit_plural: 'requests',
  meter: {
    name: 'All requests',
    event_name: 'http_request',
    aggregation: { type: 'COUNT' },
  },
};

const PAGES = {
  name: 'Pages delivered',
  type: 'metered',
  unit_singular: 'page',
  unit_plural: 'pages',
  meter: {
    name: 'Pages delivered',
    event_name: 'http_request',
    aggregation: { type: 'COUNT' },
    filters: [
      { key: 'method', values: ['GET'] },
      { key: 'status', values: ['200', '206', '304'] },
    ],
  },
};

/** Creates two metered features and a plan that prices one by tiers and the other by packages. */
export async function createCatalog(api: ApiClient): Promise<DemoCatalog> {
  const requests = await api.post<FeatureAnswer>('/features', REQUESTS);
  const pages = await api.post<FeatureAnswer>('/features', PAGES);
  const plan = await api.post<WithId>('/plans', { name: 'Web hosting', lookup_key: 'web-hosting' });
  const common = { entity_id: plan.id, currency: 'usd', billing_period: 'MONTHLY' };
  await api.post('/prices/bulk', {
    items: [
      {
        ...common,
        meter_id: requests.meter_id,
        display_name: 'HTTP requests',
        billing_model: 'TIERED',
        tier_mode: 'SLAB',
        tiers: [
          { up_to: 100, unit_amount: '0.05' },
          { up_to: 300, unit_amount: '0.025', flat_amount: '1' },
          { unit_amount: '0.0125' },
        ],
      },
      {
        ...common,
        meter_id: pages.meter_id,
        display_name: 'Pages delivered',
        billing_model: 'PACKAGE',
        amount: '0.99',
        transform_quantity: { divide_by: 50, round: 'up' },
      },
    ],
  });
  return { planId: plan.id, requestsMeterId: requests.meter_id, pagesMeterId: pages.meter_id };
}
