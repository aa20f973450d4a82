import { sql } from 'slonik';
import { z } from 'zod';
import { makeKey } from '../../harness/make-key.js';
import { closeOwner, ownerOf } from '../../harness/owner.js';
import { createId } from '../../../runtime/ids.js';
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
};

type Made = { readonly id: string };

type Asked = { readonly url: string; readonly apiKey: string };

async function post({ url, apiKey }: Asked, path: string, body: object): Promise<Made> {
  const answer = await fetch(`${url}/v1${path}`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const made = (await answer.json()) as Made;
  if (answer.status < 300) return made;
  throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(made)}`);
}

/** Makes a record of every kind, all of whose names end with the marker. */
export async function fillEnvironment(
  product: FuzzedProduct,
  apiKey: string,
  marker: string,
): Promise<FilledEnvironment> {
  const names = new KnownNames();
  const make = async (path: string, body: object): Promise<Made> => {
    const made = await post({ ...product, apiKey }, path, body);
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
    start_date: '2026-01-01T00:00:00Z',
    addons: [{ addon_id: addon.id }],
    coupons: [`S_${marker}`],
    tax_rate_overrides: [{ tax_rate_code: `V_${marker}` }],
  });
  names.add('key', `more-${marker}`);
  const event = { event_name: 'call', external_customer_id: `acme-${marker}`, source: marker };
  await post({ ...product, apiKey }, '/events', { ...event, event_id: `event-${marker}` });
  names.add('external', `acme-${marker}`);
  names.add('event', `event-${marker}`);
  names.add('key', `pro-${marker}`);
  names.add('key', marker);
  return { apiKey, names, secrets: [...names.all, marker] };
}

/** A key of a new environment: of a new tenant, or of the first one. */
async function makeForeignKey(product: FuzzedProduct, marker: string, isSameTenant: boolean) {
  const owner = { url: product.ownerDatabaseUrl };
  const first = await ownerOf(owner).one(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM tenants ORDER BY created_at, id LIMIT 1`);
  const tenantId = isSameTenant ? first.id : `tenant_${marker}`;
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
  for (const [marker, isSameTenant] of markers) {
    const apiKey = await makeForeignKey(product, marker, isSameTenant);
    filled.push(await fillEnvironment(product, apiKey, marker));
  }
  await closeOwner(product.ownerDatabaseUrl);
  return filled;
}

const LISTS = [
  ...['addons', 'coupons', 'customers', 'entitlements', 'features', 'groups', 'plans', 'prices'],
  'prices/units',
];

/** All records of an environment as they are answered to itself. */
export async function readRecords(
  product: FuzzedProduct,
  { apiKey }: FilledEnvironment,
): Promise<string> {
  const answers: unknown[] = [];
  for (const list of [...LISTS, 'subscriptions']) {
    answers.push(await post({ ...product, apiKey }, `/${list}/search`, { limit: 1000 }));
  }
  return JSON.stringify(answers);
}
