import { ADJUSTMENTS } from './adjustment-samples.js';
import { CORRECTION_TOKEN } from './filled-corrections.js';
import type { FilledEnvironment } from './filled-environment.js';
import { MONEY } from './money-samples.js';
import { PLATFORM } from './platform-samples.js';
import { STORED_INVOICES } from './stored-invoice-samples.js';

/** A request that its operation answers with its success in a filled environment. */
export type SampleRequest = {
  /** Values of the parameters in the path. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
};

/** `suffix` ends every key of a record that is made, so that it can be made again. */
export type Sample = (ids: FilledEnvironment['ids'], suffix: string) => SampleRequest;

const JANUARY = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-02-01T00:00:00Z' };
const MORNING = { start_time: '2026-01-05T08:00:00Z', end_time: '2026-01-05T10:00:00Z' };
const PERIOD = { period_start: '2026-01-01T00:00:00Z', period_end: '2026-01-20T00:00:00Z' };

const CATALOG: Readonly<Record<string, Sample>> = {
  CreateMeter: () => ({
    body: {
      name: 'Data sent',
      event_name: 'transfer',
      aggregation: { type: 'SUM', field: 'bytes' },
      filters: [{ key: 'region', values: ['eu', 'us'] }],
    },
  }),
  ListMeters: () => ({ query: { limit: '1', event_name: 'api.request' } }),
  ReadMeter: (ids) => ({ path: { id: ids.meter } }),
  ChangeMeter: (ids) => ({ path: { id: ids.meter }, body: { name: 'API requests' } }),
  ArchiveMeter: (ids) => ({ path: { id: ids.spare_meter } }),
  CreateFeature: (ids, suffix) => ({
    body: {
      name: 'API traffic',
      lookup_key: `api-traffic${suffix}`,
      type: 'metered',
      meter_id: ids.meter,
    },
  }),
  SearchFeatures: (ids) => ({ body: { feature_ids: [ids.feature], expand: 'meter' } }),
  ReadFeature: (ids) => ({ path: { id: ids.feature } }),
  ChangeFeature: (ids) => ({
    path: { id: ids.feature },
    body: { description: 'Requests to the public interface', group_id: ids.group },
  }),
  ArchiveFeature: (ids) => ({ path: { id: ids.spare_feature } }),
  CloneFeature: (ids, suffix) => ({
    path: { id: ids.feature },
    body: { name: 'API calls, second region', lookup_key: `api-calls-2${suffix}` },
  }),
  CreateGroup: (_ids, suffix) => ({
    body: { name: 'Storage', entity_type: 'feature', lookup_key: `storage${suffix}` },
  }),
  SearchGroups: () => ({ body: { entity_type: 'feature' } }),
  ReadGroup: (ids) => ({ path: { id: ids.group } }),
  ArchiveGroup: (ids) => ({ path: { id: ids.spare_group } }),
  CreatePlan: (_ids, suffix) => ({
    body: { name: 'Enterprise', lookup_key: `enterprise${suffix}`, metadata: { tier: 3 } },
  }),
  SearchPlans: (ids) => ({ body: { plan_ids: [ids.plan] } }),
  ReadPlan: (ids) => ({ path: { id: ids.plan } }),
  ChangePlan: (ids) => ({ path: { id: ids.plan }, body: { name: 'Pro 2' } }),
  ArchivePlan: (ids) => ({ path: { id: ids.spare_plan } }),
  ClonePlan: (ids, suffix) => ({
    path: { id: ids.plan },
    body: { name: 'Pro 2027', lookup_key: `pro-2027${suffix}` },
  }),
  SyncPlanSubscriptions: (ids) => ({ path: { id: ids.plan } }),
  ListEntitlements: (ids) => ({ path: { id: ids.plan }, query: { limit: '1' } }),
  CreateAddon: (_ids, suffix) => ({
    body: { name: 'Priority support', lookup_key: `priority-support${suffix}` },
  }),
  SearchAddons: (ids) => ({ body: { addon_ids: [ids.addon], expand: 'prices' } }),
  ReadAddon: (ids) => ({ path: { id: ids.addon } }),
  ReadAddonByLookupKey: (ids) => ({ path: { lookup_key: ids.addon_key } }),
  ChangeAddon: (ids) => ({ path: { id: ids.addon }, body: { description: 'Ten more calls' } }),
  ArchiveAddon: (ids) => ({ path: { id: ids.spare_addon } }),
  CreateCreditGrant: (ids) => ({
    body: {
      name: 'Monthly credits',
      scope: 'ADDON',
      addon_id: ids.addon,
      credits: '20',
      cadence: 'RECURRING',
      period: 'MONTHLY',
      period_count: 1,
      expiration_type: 'BILLING_CYCLE',
    },
  }),
  ReadCreditGrant: (ids) => ({ path: { id: ids.credit_grant } }),
  ChangeCreditGrant: (ids) => ({
    path: { id: ids.credit_grant },
    body: { name: 'Starter credits', metadata: { season: 'spring' } },
  }),
  RemoveCreditGrant: (ids) => ({ path: { id: ids.spare_credit_grant } }),
  ListPlanCreditGrants: (ids) => ({ path: { id: ids.plan }, query: { limit: '1' } }),
  ListAddonCreditGrants: (ids) => ({ path: { id: ids.addon } }),
  ListAddonEntitlements: (ids) => ({ path: { id: ids.addon }, query: { limit: '1' } }),
  CreatePrice: (ids, suffix) => ({
    body: {
      entity_id: ids.plan,
      currency: 'usd',
      billing_period: 'ANNUAL',
      meter_id: ids.meter,
      lookup_key: `pro-calls-annual${suffix}`,
      tiers: [
        { up_to: 1000, unit_amount: '0' },
        { up_to: null, unit_amount: '0.0025' },
      ],
    },
  }),
  CreatePrices: (ids, suffix) => ({
    body: {
      items: [
        {
          entity_id: ids.plan,
          currency: 'eur',
          amount: '45',
          lookup_key: `pro-base-eur${suffix}`,
        },
      ],
    },
  }),
  SearchPrices: (ids) => ({ body: { price_ids: [ids.price] } }),
  ReadPrice: (ids) => ({ path: { id: ids.price } }),
  ReadPriceByLookupKey: (ids) => ({ path: { lookup_key: ids.price_key } }),
  ChangePrice: (ids) => ({
    path: { id: ids.spare_price },
    body: { amount: '59', effective_from: '2026-03-01T00:00:00Z', metadata: { season: 'spring' } },
  }),
  RemovePrice: (ids) => ({
    path: { id: ids.ending_price },
    body: { end_date: '2026-02-01T00:00:00Z' },
  }),
  CreatePriceUnit: (_ids, suffix) => ({
    body: {
      name: 'Compute units',
      code: `CU${suffix.replaceAll('-', '_')}`,
      symbol: 'CU',
      base_currency: 'usd',
      conversion_rate: '0.05',
    },
  }),
  SearchPriceUnits: (ids) => ({ body: { price_unit_ids: [ids.price_unit] } }),
  ListPriceUnits: () => ({ query: { sort: 'code', order: 'asc', limit: '1' } }),
  ReadPriceUnitByCode: (ids) => ({ path: { code: ids.price_unit_code } }),
  ReadPriceUnit: (ids) => ({ path: { id: ids.price_unit } }),
  ChangePriceUnit: (ids) => ({ path: { id: ids.price_unit }, body: { symbol: 'tok' } }),
  RemovePriceUnit: (ids) => ({ path: { id: ids.spare_price_unit } }),
  CreateEntitlement: (ids) => ({
    body: { entity_id: ids.subscription, entity_type: 'SUBSCRIPTION', feature_id: ids.feature },
  }),
  CreateEntitlements: (ids) => ({
    body: {
      items: [
        {
          entity_id: ids.subscription,
          entity_type: 'SUBSCRIPTION',
          feature_id: ids.feature,
          is_additional: true,
          usage_limit: 100,
        },
      ],
    },
  }),
  SearchEntitlements: (ids) => ({ body: { feature_ids: [ids.feature], limit: 1 } }),
  ReadEntitlement: (ids) => ({ path: { id: ids.entitlement } }),
  ChangeEntitlement: (ids) => ({ path: { id: ids.entitlement }, body: { usage_limit: 3 } }),
  ArchiveEntitlement: (ids) => ({ path: { id: ids.spare_entitlement } }),
};

const CUSTOMERS: Readonly<Record<string, Sample>> = {
  CreateCustomer: (_ids, suffix) => ({
    body: {
      external_id: `globex${suffix}`,
      name: 'Globex',
      timezone: 'America/New_York',
      integration_entity_mapping: [
        { provider_type: 'stripe', provider_entity_id: `cus_9s6XKzkNRiz8i3${suffix}` },
      ],
    },
  }),
  SearchCustomers: (ids) => ({ body: { customer_ids: [ids.customer] } }),
  ReadCustomer: (ids) => ({ path: { id: ids.customer } }),
  ReadCustomerByExternalId: (ids) => ({ path: { external_id: ids.external_customer } }),
  ChangeCustomer: (ids) => ({
    path: { id: ids.customer },
    body: { email: 'accounts@acme.example', address_line2: null },
  }),
  ChangeCustomerByExternalId: (ids) => ({
    query: { external_customer_id: ids.external_customer },
    body: { contact: '+49 30 901820' },
  }),
  ReadCustomerEntitlements: (ids) => ({
    path: { id: ids.customer },
    query: { feature_ids: ids.feature, subscription_ids: ids.subscription },
  }),
  ReadEntitlementsByExternalId: (ids) => ({ path: { external_id: ids.external_customer } }),
  ReadCustomerUsage: (ids) => ({ query: { external_customer_id: ids.external_customer } }),
  ListCustomerSubscriptions: (ids) => ({
    path: { external_id: ids.external_customer },
    query: { limit: '1', expand: 'plan' },
  }),
  ArchiveCustomer: (ids) => ({ path: { id: ids.spare_customer } }),
  CreateSubscription: (ids, suffix) => ({
    body: {
      customer_id: ids.customer,
      plan_id: ids.plan,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-01-15T00:00:00Z',
      lookup_key: `second-contract${suffix}`,
      coupons: [ids.coupon_code],
      tax_rate_overrides: [{ tax_rate_code: ids.tax_rate_code }],
    },
  }),
  SearchSubscriptions: (ids) => ({ body: { subscription_ids: [ids.subscription] } }),
  ReadSubscription: (ids) => ({ path: { id: ids.subscription } }),
  ReadSubscriptionUsage: (ids) => ({ body: { subscription_id: ids.subscription } }),
  PreviewInvoice: (ids) => ({ body: { subscription_id: ids.subscription } }),
  ListLineEvents: (ids) => ({ path: { id: ids.line_item }, query: { ...PERIOD, limit: '1' } }),
  DownloadLineEvents: (ids) => ({ path: { id: ids.line_item }, query: PERIOD }),
};

const EVENTS: Readonly<Record<string, Sample>> = {
  ListEvents: (ids) => ({
    query: { ...JANUARY, external_customer_id: ids.external_customer, page_size: '1' },
  }),
  QueryEvents: (ids) => ({ body: { ...JANUARY, event_id: ids.event } }),
  LookUpEvent: (ids) => ({ query: { id: ids.event } }),
  ListConflicts: () => ({ query: JANUARY }),
  ReadMonitoring: () => ({ query: { ...MORNING, window_size: 'HOUR' } }),
  ReadReconciliation: () => ({ query: MORNING }),
  ListDeadLetters: () => ({}),
  CreateCorrection: () => ({
    body: {
      type: 'amend',
      reason: 'the gateway had counted the region wrong',
      filter: { event_name: 'api.request', ...MORNING, property_filters: { region: ['eu'] } },
      change: { properties: { region: 'us' } },
    },
  }),
  ListCorrections: () => ({ query: { type: 'withdraw' } }),
  ReadCorrection: (ids) => ({ path: { id: ids.correction } }),
  ApplyCorrection: (ids) => ({ path: { id: ids.correction }, body: { token: CORRECTION_TOKEN } }),
  RevertCorrection: (ids) => ({
    path: { id: ids.applied_correction },
    body: { reason: 'the gateway was right' },
  }),
  ReplayDeadLetters: (ids) => ({ body: { ids: [ids.dead_letter] } }),
  ReadMeterUsage: (ids) => ({
    body: { ...JANUARY, meter_id: ids.meter, external_customer_id: ids.external_customer },
  }),
  ReadEventUsage: (ids) => ({
    body: {
      ...JANUARY,
      event_name: 'api.request',
      aggregation_type: 'COUNT',
      customer_id: ids.customer,
    },
  }),
  QueryMeterUsage: (ids) => ({
    body: {
      ...JANUARY,
      meter_ids: [ids.meter],
      external_customer_ids: [ids.external_customer],
    },
  }),
  ReadAnalytics: (ids) => ({
    body: { ...JANUARY, external_customer_id: ids.external_customer, feature_ids: [ids.feature] },
  }),
};

/** A sample for every operation that needs a key and that this program serves. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  ...CATALOG,
  ...ADJUSTMENTS,
  ...STORED_INVOICES,
  ...MONEY,
  ...CUSTOMERS,
  ...EVENTS,
  ...PLATFORM,
};

/** @throws when the operation has no sample yet: it needs one beside the others. */
export function sampleOf(
  operationId: string,
  { ids }: Pick<FilledEnvironment, 'ids'>,
  suffix = '',
): SampleRequest {
  const sample = SAMPLES[operationId];
  if (sample !== undefined) return sample(ids, suffix);
  throw new Error(`${operationId} has no sample request: add one to sample-requests.ts`);
}

/** Path and query of a sample, below the server's address. */
export function addressOf(template: string, { path = {}, query = {} }: SampleRequest): string {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const value = path[name];
    if (value === undefined) throw new Error(`the sample of ${template} has no ${name}`);
    return encodeURIComponent(value);
  });
  const text = new URLSearchParams(query).toString();
  return text === '' ? filled : `${filled}?${text}`;
}
