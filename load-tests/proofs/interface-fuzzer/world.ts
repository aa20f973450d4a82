import { sql } from 'slonik';
import { z } from 'zod';
import { makeKey } from '../../harness/make-key.js';
import { closeOwner, ownerOf } from '../../harness/owner.js';
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
  const customer = await make('/customers', { external_id: `acme-${marker}` });
  await make('/subscriptions', {
    customer_id: customer.id,
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: '2026-01-01T00:00:00Z',
  });
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
  const environment = { tenantId, environmentId: `env_${marker}` };
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

const LISTS = ['customers', 'entitlements', 'features', 'plans', 'prices', 'prices/units'];

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
