import type { Environment } from '../../contract/environment.js';
import type { BillingUnderTest } from './billing-harness.js';

type PlatformIds = {
  readonly service_account: string;
  readonly spare_user: string;
  readonly key: string;
  readonly spare_key: string;
  readonly environment: string;
  readonly tenant: string;
};

export type PlatformKind = keyof PlatformIds;

/** Makes a record through the API. */
type Make = (path: string, body: object) => Promise<{ readonly id: string }>;

/** Users of the tenant, keys of the environment, and a setting. */
export async function fillPlatform(
  make: Make,
  call: BillingUnderTest['call'],
  { environmentId, tenantId }: Environment,
): Promise<PlatformIds> {
  const bot = { type: 'service_account', roles: ['event_ingestor'] };
  const account = await make('/v1/users', { ...bot, name: 'Gateway' });
  const spare = await make('/v1/users', { ...bot, name: 'Old gateway' });
  const makeKey = async (name: string): Promise<string> => {
    const made = await call('POST', '/v1/secrets/api/keys', {
      body: { name, type: 'private_key' },
    });
    return made.body.secret.id as string;
  };
  const value = { prefix: 'ACME' };
  await call('PUT', '/v1/settings/invoice_config', { body: { value } });
  return {
    service_account: account.id,
    spare_user: spare.id,
    key: await makeKey('Reports'),
    spare_key: await makeKey('Old reports'),
    environment: environmentId,
    tenant: tenantId,
  };
}
