import type { Environment } from '../../contract/environment.js';
import { API_KEY, type BillingUnderTest } from './billing-harness.js';
import { fillPlatform, type PlatformKind } from './fill-platform.js';
import {
  adjustmentsOf,
  makeAdjustments,
  makeAlertSettings,
  type AdjustmentIdKind,
} from './filled-adjustments.js';
import { setTestClock } from './set-test-clock.js';
import { makeMoney, type MoneyIdKind } from './filled-money.js';
import { makeOutward, type OutwardIdKind } from './filled-outward.js';
import { makeDrafts, type InvoiceIdKind } from './filled-invoices.js';
import { makeCorrections } from './filled-corrections.js';
import { storeEarlierCredit, storeLateUsageRow, storeUnreadCorrection } from './filled-rows.js';
import { storeErasure } from './filled-erasure.js';
import { storeParkedJob } from './filled-job.js';
import { storeDeadLetter, storeUsage, type Place, type UsageStores } from './filled-usage.js';

/** The instant at which everything is made; the clock of the API must stand there. */
export const FILLED_AT = '2026-01-20T10:00:00.000Z';

/** The API and the engines through which an environment is filled. */
type FillingTools = UsageStores & { readonly api: BillingUnderTest };

export type FilledEnvironment = {
  readonly environment: Environment;
  readonly apiKey: string;
  /** One id, or key of the client's own, for everything that a request can name. */
  readonly ids: Readonly<Record<IdKind, string>>;
  /** As `api.call`, with the key of the environment. */
  readonly call: BillingUnderTest['call'];
};

export type IdKind =
  | 'meter'
  | 'test_clock'
  | 'spare_meter'
  | 'feature'
  | 'spare_feature'
  | 'group'
  | 'spare_group'
  | 'plan'
  | 'spare_plan'
  | 'addon'
  | 'addon_key'
  | 'spare_addon'
  | 'credit_grant'
  | 'spare_credit_grant'
  | 'price'
  | 'price_key'
  | 'spare_price'
  | 'ending_price'
  | 'price_unit'
  | 'price_unit_code'
  | 'spare_price_unit'
  | 'customer'
  | 'spare_customer'
  | 'external_customer'
  | 'subscription'
  | 'line_item'
  | 'invoice'
  | InvoiceIdKind
  | MoneyIdKind
  | OutwardIdKind
  | AdjustmentIdKind
  | 'entitlement'
  | 'spare_entitlement'
  | 'event'
  | 'system_event'
  | 'user'
  | PlatformKind
  | 'dead_letter'
  | 'correction'
  | 'applied_correction'
  | 'parked_job';

type Ids = Partial<Record<IdKind, string>>;

/** Makes a record through the API. */
type Make = (path: string, body: object) => Promise<{ readonly id: string }>;

async function makeCatalog(make: Make, suffix: string): Promise<Ids> {
  const calls = { event_name: 'api.request', aggregation: { type: 'COUNT' } };
  const filters = [{ key: 'region', values: ['eu', 'us'] }];
  const meter = await make('/v1/meters', { name: 'API calls', ...calls, filters });
  const spareMeter = await make('/v1/meters', { name: 'Exports', ...calls, event_name: 'export' });
  const feature = await make('/v1/features', {
    name: 'API calls',
    lookup_key: `api-calls${suffix}`,
    type: 'metered',
    meter_id: meter.id,
    unit_singular: 'call',
    unit_plural: 'calls',
  });
  const unused = { name: 'Reports', lookup_key: `reports${suffix}`, type: 'boolean' };
  const spareFeature = await make('/v1/features', unused);
  const storage = { name: 'Traffic', entity_type: 'feature', lookup_key: `traffic${suffix}` };
  const group = await make('/v1/groups', storage);
  const spareGroup = await make('/v1/groups', { ...storage, lookup_key: `old${suffix}` });
  const plan = await make('/v1/plans', {
    name: 'Pro',
    description: 'For growing teams',
    lookup_key: `pro${suffix}`,
  });
  const sparePlan = await make('/v1/plans', { name: 'Trial', lookup_key: `trial${suffix}` });
  const owned = { entity_id: plan.id, currency: 'usd' };
  const priceKey = `pro-calls${suffix}`;
  const price = await make('/v1/prices', {
    ...owned,
    meter_id: meter.id,
    amount: '0.25',
    display_name: 'API calls',
    lookup_key: priceKey,
  });
  await make('/v1/prices', { ...owned, amount: '49', display_name: 'Base fee' });
  const advance = { amount: '9', invoice_cadence: 'ADVANCE', display_name: 'Support hours' };
  await make('/v1/prices', { ...owned, ...advance });
  // In another currency, so that the subscription does not have them.
  const euros = { ...owned, currency: 'eur', amount: '45' };
  const sparePrice = await make('/v1/prices', { ...euros, display_name: 'Base fee' });
  const endingPrice = await make('/v1/prices', { ...euros, display_name: 'Support' });
  const groups = { group: group.id, spare_group: spareGroup.id };
  const features = { feature: feature.id, spare_feature: spareFeature.id, ...groups };
  const ids = {
    meter: meter.id,
    spare_meter: spareMeter.id,
    ...features,
    plan: plan.id,
    spare_plan: sparePlan.id,
  };
  const prices = { price: price.id, price_key: priceKey, spare_price: sparePrice.id };
  return { ...ids, ...prices, ending_price: endingPrice.id };
}

/** An addon with a price and an entitlement, and one without. */
async function makeAddons(make: Make, { meter, feature }: Ids, suffix: string): Promise<Ids> {
  const key = `extra-calls${suffix}`;
  const addon = await make('/v1/addons', { name: 'Extra calls', lookup_key: key });
  await make('/v1/prices', { addon_id: addon.id, currency: 'usd', meter_id: meter, amount: '0.1' });
  const allowance = { entity_id: addon.id, feature_id: feature, usage_limit: 1 };
  await make('/v1/entitlements', allowance);
  const spare = await make('/v1/addons', { name: 'Faxes', lookup_key: `faxes${suffix}` });
  return { addon: addon.id, addon_key: key, spare_addon: spare.id };
}

async function makeCreditGrants(make: Make, { plan }: Ids): Promise<Ids> {
  const terms = { scope: 'PLAN', plan_id: plan, credits: '100', cadence: 'ONETIME' };
  const grant = await make('/v1/creditgrants', { ...terms, name: 'Welcome credits' });
  const spare = await make('/v1/creditgrants', { ...terms, name: 'Season credits' });
  return { credit_grant: grant.id, spare_credit_grant: spare.id };
}

async function makePriceUnits(make: Make, suffix: string): Promise<Ids> {
  const terms = { symbol: 'T', base_currency: 'usd', conversion_rate: '0.01' };
  const ending = suffix.replaceAll('-', '_');
  const unit = await make('/v1/prices/units', { name: 'Tokens', code: `TOK${ending}`, ...terms });
  const spare = await make('/v1/prices/units', { name: 'Credits', code: `CR${ending}`, ...terms });
  const code = `TOK${ending}`;
  return { price_unit: unit.id, price_unit_code: code, spare_price_unit: spare.id };
}

async function makeEntitlements(make: Make, { plan, feature }: Ids, suffix: string): Promise<Ids> {
  const entitlement = await make('/v1/entitlements', {
    plan_id: plan,
    feature_id: feature,
    usage_limit: 2,
  });
  const boolean = await make('/v1/features', {
    name: 'Single sign-on',
    lookup_key: `single-sign-on${suffix}`,
    type: 'boolean',
  });
  const spare = await make('/v1/entitlements', { plan_id: plan, feature_id: boolean.id });
  return { entitlement: entitlement.id, spare_entitlement: spare.id };
}

async function makeCustomer(make: Make, suffix: string): Promise<Ids> {
  const externalId = `acme${suffix}`;
  const customer = await make('/v1/customers', {
    external_id: externalId,
    name: 'Acme Ltd',
    email: 'billing@acme.example',
    address_country: 'DE',
    timezone: 'Europe/Berlin',
    integration_entity_mapping: [
      { provider_type: 'stripe', provider_entity_id: `cus_NffrFeUfNV2Hib${suffix}` },
    ],
  });
  const spare = await make('/v1/customers', { external_id: `left${suffix}` });
  return { customer: customer.id, external_customer: externalId, spare_customer: spare.id };
}

function withKey(api: BillingUnderTest, apiKey: string): BillingUnderTest['call'] {
  return (method, path, options = {}) =>
    api.call(method, path, { ...options, headers: { 'x-api-key': apiKey, ...options.headers } });
}

function makeWith(call: BillingUnderTest['call']): Make {
  return async (path, body) => {
    const answer = await call('POST', path, { body });
    if (answer.status === 200 || answer.status === 201)
      return answer.body as { readonly id: string };
    throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  };
}

/** The subscription that requests name, with an addon, coupons, taxes and a credit grant. */
function subscribe(
  call: BillingUnderTest['call'],
  suffix: string,
  { customer, plan, addon, ...adjustments }: Readonly<Record<string, unknown>>,
) {
  return call('POST', '/v1/subscriptions', {
    headers: { 'idempotency-key': `subscribe${suffix}` },
    body: {
      customer_id: customer,
      plan_id: plan,
      currency: 'usd',
      billing_period: 'MONTHLY',
      billing_cycle: 'calendar',
      start_date: '2026-01-01T00:00:00.000Z',
      lookup_key: `contract${suffix}`,
      ...adjustments,
      addons: [{ addon_id: addon }],
      credit_grants: [{ name: 'Start credits', credits: '10', cadence: 'ONETIME' }],
    },
  });
}

/**
 * Makes at least one row of everything that an environment can hold, through the API where it has
 * an operation for it.
 * @param place `suffix` ends every key that the client chooses; `partition` is one of its own.
 */
export async function fillEnvironment(
  tools: FillingTools,
  key: { readonly environment: Environment; readonly apiKey?: string },
  place: Place,
): Promise<FilledEnvironment> {
  const { environment, apiKey = API_KEY } = key;
  const { suffix } = place;
  const call = withKey(tools.api, apiKey);
  const make = makeWith(call);
  await setTestClock(tools.database, environment, Date.parse(FILLED_AT));
  const catalog = await makeCatalog(make, suffix);
  const addons = await makeAddons(make, catalog, suffix);
  const grants = await makeCreditGrants(make, catalog);
  const units = await makePriceUnits(make, suffix);
  const customer = await makeCustomer(make, suffix);
  const entitlements = await makeEntitlements(make, catalog, suffix);
  const adjustments = await makeAdjustments(make, suffix, customer.customer ?? '');
  const named = { customer: customer.customer, plan: catalog.plan, addon: addons.addon };
  const subscription = await subscribe(call, suffix, { ...named, ...adjustmentsOf(adjustments) });
  const billed = { customerId: customer.customer ?? '', meterId: catalog.meter ?? '' };
  const drafts = await makeDrafts(tools, call, { environment, ...billed, at: FILLED_AT });
  const money = await makeMoney(call, make, { ...customer, ...catalog });
  const stores = { database: tools.database, environment, invoiceId: money.payable };
  const outward = await makeOutward(stores, call, make);
  const platform = await fillPlatform(make, call, environment);
  const usagePlace = { ...place, environment, meterId: catalog.meter ?? '' };
  const usage = await storeUsage(tools, usagePlace);
  const letters = {
    ...(await storeDeadLetter(tools, environment, place)),
    ...(await storeParkedJob(tools.database, environment)),
    ...(await makeCorrections(tools.database, environment, make)),
  };
  await storeErasure(tools.database, environment);
  await storeEarlierCredit(tools.database, environment);
  await storeLateUsageRow(tools.database, environment);
  await storeUnreadCorrection(tools.clickhouse, environment);
  await call('POST', '/v1/events/dead-letters/replay', { body: { ids: [letters.dead_letter] } });
  // A change of filters makes a second version of the meter and its backfill.
  const change = { filters: [{ key: 'region', values: ['eu'] }] };
  await call('PUT', `/v1/meters/${catalog.spare_meter}`, { body: change });
  const isUsed = (item: { price_id: string }): boolean => item.price_id === catalog.price;
  const line = subscription.body.line_items.find(isUsed);
  const alerts = await makeAlertSettings(make, subscription.body.id, catalog.group ?? '');
  const happened = await call('GET', '/v1/webhooks/events?limit=1');
  const user = await call('GET', '/v1/users/me');
  const made: Ids = {
    user: user.body.id,
    subscription: subscription.body.id,
    line_item: line.id,
    invoice: subscription.body.latest_invoice.id,
    coupon_association: subscription.body.coupon_associations[0].id,
    system_event: happened.body.items[0].id,
    // Drafts have moved the clock.
    test_clock: await setTestClock(tools.database, environment, Date.parse(FILLED_AT)),
  };
  const sold = { ...catalog, ...addons, ...grants, ...units, ...entitlements, ...adjustments };
  const ids = {
    ...sold,
    ...customer,
    ...alerts,
    ...made,
    ...usage,
    ...letters,
    ...drafts,
    ...money,
    ...outward,
    ...platform,
  };
  return { environment, apiKey, ids: ids as FilledEnvironment['ids'], call };
}
