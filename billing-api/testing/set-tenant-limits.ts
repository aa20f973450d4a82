import type { Environment } from '../../contract/environment.js';
import { systemClock } from '../../runtime/clock.js';
import { createId } from '../../runtime/ids.js';
import type { Database } from '../../sql/pool.js';
import type { TenantLimits } from '../platform/settings/tenant-limits.js';
import { changeSetting } from '../platform/settings/setting-operations.js';
import { isRefusal } from '../records/refusal.js';

/** Sets what a tenant may have, as an operator does; what is left out has its default. */
export async function setTenantLimits(
  database: Database,
  environment: Environment,
  value: Partial<TenantLimits>,
): Promise<void> {
  const occasion = { environment, actor: { kind: 'operator', name: 'test' } } as const;
  const change = { key: 'tenant_limits', body: { value } };
  const done = await changeSetting({ database, clock: systemClock, createId }, occasion, change);
  if (isRefusal(done)) throw new Error(done.message);
}
