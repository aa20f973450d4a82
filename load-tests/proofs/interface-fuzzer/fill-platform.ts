import type { KnownNames } from './known-names.js';
import type { Make } from './world.js';

const ROLES = ['super_admin', 'all_reader', 'all_writer', 'event_ingestor', 'event_reader'];
const SETTINGS = [
  'invoice_config',
  'subscription_auto_cancel',
  'wallet_bonus',
  'event_rejected',
  'tenant_limits',
];

/**
 * Makes a user, a service account and a key. An environment that shares its tenant with the one
 * that asks gets a key only, since users belong to the tenant.
 */
export async function fillPlatform(
  make: Make,
  { marker, isOfSameTenant }: { readonly marker: string; readonly isOfSameTenant: boolean },
): Promise<void> {
  const key = { name: `Key ${marker}`, type: 'publishable_key' };
  if (isOfSameTenant) {
    await make('/secrets/api/keys', key);
    return;
  }
  const email = `kim-${marker}@example.com`;
  await make('/users', { type: 'user', email, name: `Kim ${marker}`, roles: ['all_reader'] });
  const gateway = { type: 'service_account', name: `Gateway ${marker}`, roles: ['event_ingestor'] };
  const { id } = await make('/users', gateway);
  await make('/secrets/api/keys', { ...key, service_account_id: id });
}

/** What can be named without an id; the account belongs to a tenant of its own. */
export async function namePlatform(make: Make, names: KnownNames): Promise<void> {
  const account = { email: 'owner@example.com', password: 'correct horse battery' };
  await make('/auth/signup', { ...account, tenant_name: 'Own' });
  names.add('email', account.email);
  names.add('password', account.password);
  for (const role of ROLES) names.add('role', role);
  for (const setting of SETTINGS) names.add('setting', setting);
}
