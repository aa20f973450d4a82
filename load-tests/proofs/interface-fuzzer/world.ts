import { sql } from 'slonik';
import { z } from 'zod';
import { makeKey } from '../../harness/make-key.js';
import { closeOwner, ownerOf } from '../../harness/owner.js';
import { createId } from '../../../runtime/ids.js';
import { fillPlatform, namePlatform } from './fill-platform.js';
import { KnownNames } from './known-names.js';

/** A product that answers, and two environments whose records must stay out of its answers. */
export type FuzzedProduct = {
  readonly url: string;
  readonly apiKey: string;
  readonly ownerDatabaseUrl: string;
};

export type FilledEnvironment = {
  readonly apiKey: string;
  readonly names: KnownNames;
  /** What no answer to another environment may hold. */
  readonly secrets: readonly string[];
  /** Whether it shares users and tenant with the environment that asks. */
  readonly isOfSameTenant: boolean;
};

/** A record as the interface answers it. */
export type Made = { readonly id: string };

/** Makes a record by a call, and keeps the ids in the answer. */
export type Make = (path: string, body: object) => Promise<Made>;

type Asked = { readonly url: string; readonly apiKey: string };

async function ask(
  { url, apiKey }: Asked,
  path: string,
  { method, body }: { readonly method: string; readonly body: object | null },
): Promise<Made> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const sent = body === null ? null : JSON.stringify(body);
  const answer = await fetch(`${url}/v1${path}`, { method, headers, body: sent });
  const made = (await answer.json()) as Made;
  if (answer.status < 300) return made;
  throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(made)}`);
}

const get = (asked: Asked, path: string): Promise<Made> =>
  ask(asked, path, { method: 'GET', body: null });

const post = (asked: Asked, path: string, body: object): Promise<Made> =>
  ask(asked, path, { method: 'POST', body });

/** What the tenant tells in each of its environments, so that it is no secret among them. */
const OF_THE_TENANT = ['user', 'env', 'tenant'];

/** The marker of the environment that asks. */
const OWN = 'own';

/**
 * Makes a record of every kind, all of whose names end with the marker. The user who asks has no
 * name here: the fuzzer would take its roles away.
 */
async function fillEnvironment(
  product: FuzzedProduct,
  { apiKey, isOfSameTenant }: { readonly apiKey: string; readonly isOfSameTenant: boolean },
  marker: string,
): Promise<FilledEnvironment> {
  const asked = { ...product, apiKey };
  const me = await get(asked, '/users/me');
  const names = new KnownNames(isOfSameTenant ? OF_THE_TENANT : [me.id]);
  const make: Make = async (path, body) => {
    const made = await post(asked, path, body);
    names.addAllOf(made);
    return made;
  };
  const counted = { event_name: 'call', aggregation: { type: 'COUNT' } };
  const meter = await make('/meters', { name: `Calls ${marker}`, ...counted });
  const plan = await make('/plans', { name: `Pro ${marker}`, lookup_key: `pro-${marker}` });
  const owned = { entity_id: plan.id, currency: 'usd' };
  await make('/prices', { ...owned, meter_id: meter.id, amount: '0.25', lookup_key: marker });
  await make('/prices', { ...owned, amount: '49' });
  const metered = { type: 'metered', meter_id: meter.id };
  const feature = await make('/features', { name: `Calls ${marker}`, ...metered });
  const allowance = { plan_id: plan.id, feature_id: feature.id, usage_limit: 2 };
  await make('/entitlements', allowance);
  const unit = { symbol: 'T', base_currency: 'usd', conversion_rate: '0.01' };
  await make('/prices/units', { name: `Tokens ${marker}`, code: `T_${marker}`, ...unit });
  names.add('unit code', `T_${marker}`);
  const addon = await make('/addons', { name: `Calls ${marker}`, lookup_key: `more-${marker}` });
  await make('/prices', { entity_id: addon.id, currency: 'usd', amount: '5' });
  const grouped = { entity_type: 'price', lookup_key: `fees-${marker}` };
  await make('/groups', { name: `Fees ${marker}`, ...grouped });
  const credits = { scope: 'PLAN', plan_id: plan.id, credits: '10', cadence: 'ONETIME' };
  await make('/creditgrants', { name: `Welcome ${marker}`, ...credits });
  const off = { type: 'percentage', cadence: 'forever', percentage_off: '10' };
  await make('/coupons', { name: `Spring ${marker}`, coupon_code: `S_${marker}`, ...off });
  names.add('coupon code', `S_${marker}`);
  const rate = { code: `V_${marker}`, percentage_value: '19' };
  await make('/taxes/rates', { name: `VAT ${marker}`, ...rate });
  names.add('tax rate code', `V_${marker}`);
  const customer = await make('/customers', { external_id: `acme-${marker}` });
  await make('/subscriptions', {
    customer_id: customer.id,
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    // Those of others begin now, so that no billing run changes them while they are compared.
    ...(marker === OWN ? { start_date: '2026-01-01T00:00:00Z' } : {}),
    addons: [{ addon_id: addon.id }],
    coupons: [`S_${marker}`],
    tax_rate_overrides: [{ tax_rate_code: `V_${marker}` }],
  });
  const event = { event_name: 'call', external_customer_id: `acme-${marker}`, source: marker };
  await post({ ...product, apiKey }, '/events', { ...event, event_id: `event-${marker}` });
  names.add('external', `acme-${marker}`);
  names.add('event', `event-${marker}`);
  for (const key of [`more-${marker}`, `pro-${marker}`, marker]) names.add('key', key);
  await fillPlatform(make, { marker, isOfSameTenant });
  const value = { prefix: marker };
  await ask(asked, '/settings/invoice_config', { method: 'PUT', body: { value } });
  return { apiKey, names, secrets: [...names.all, marker], isOfSameTenant };
}

const FIRST_TENANT = sql.fragment`SELECT id FROM tenants ORDER BY created_at, id LIMIT 1`;

/** The environment that asks; its tenant may have many users and environments. */
export async function fillOwnEnvironment(product: FuzzedProduct): Promise<FilledEnvironment> {
  const asking = { apiKey: product.apiKey, isOfSameTenant: false };
  const own = await fillEnvironment(product, asking, OWN);
  const limits = JSON.stringify({ users: 10_000, development_environments: 100 });
  await ownerOf({ url: product.ownerDatabaseUrl }).query(sql.type(z.unknown())`
    UPDATE tenants SET limits = ${limits}::jsonb WHERE id = (${FIRST_TENANT})`);
  // The ids of the account's tenant are not those of the environment that asks.
  await namePlatform((path, body) => post(product, path, body), own.names);
  return own;
}

/** A key of a new environment: of a new tenant, or of the first one. */
async function makeForeignKey(product: FuzzedProduct, isSameTenant: boolean) {
  const owner = { url: product.ownerDatabaseUrl };
  const first = await ownerOf(owner).one(sql.type(z.object({ id: z.string() }))`${FIRST_TENANT}`);
  const tenantId = isSameTenant ? first.id : createId('tenant');
  // Without the marker, since a tenant is told the ids of all its environments.
  const environment = { tenantId, environmentId: createId('env') };
  const { apiKey } = await makeKey(owner, { environment });
  return apiKey;
}

/** Another environment of the first tenant, and one of another tenant. */
export async function makeForeignEnvironments(
  product: FuzzedProduct,
): Promise<readonly FilledEnvironment[]> {
  const markers = [
    ['zqsibling', true],
    ['zqstranger', false],
  ] as const;
  const filled: FilledEnvironment[] = [];
  for (const [marker, isOfSameTenant] of markers) {
    const apiKey = await makeForeignKey(product, isOfSameTenant);
    filled.push(await fillEnvironment(product, { apiKey, isOfSameTenant }, marker));
  }
  await closeOwner(product.ownerDatabaseUrl);
  return filled;
}

const LISTS = [
  'addons',
  'coupons',
  'customers',
  'entitlements',
  'features',
  'groups',
  'plans',
  'prices',
  'prices/units',
];

/** All records of an environment as they are answered to itself. */
export async function readRecords(
  product: FuzzedProduct,
  { apiKey, isOfSameTenant }: FilledEnvironment,
): Promise<string> {
  const asked = { ...product, apiKey };
  const answers: unknown[] = [await get(asked, '/settings/invoice_config')];
  if (!isOfSameTenant) answers.push(await get(asked, '/environments'));
  for (const list of [...LISTS, 'subscriptions', ...(isOfSameTenant ? [] : ['users'])]) {
    answers.push(await post(asked, `/${list}/search`, { limit: 1000 }));
  }
  return JSON.stringify(answers);
}
