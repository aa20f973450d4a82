import { z } from 'zod';
import {
  changeSetting,
  readSetting,
  resetSetting,
} from '../../billing-api/platform/settings/setting-operations.js';
import type { TenantLimits } from '../../billing-api/platform/settings/tenant-limits.js';
import { recordTenant } from '../../billing-api/platform/tenants/tenant-operations.js';
import type { TenantRow } from '../../billing-api/declarations/platform/tenant.js';
import {
  lockOwnTenant,
  updateOwnTenant,
} from '../../billing-api/platform/tenants/tenants-store.js';
import { mustWrite } from '../../billing-api/records/unit.js';
import { instantColumn } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';
import { done, operatorsOccasion, writing } from './as-operator.js';

const tenantRow = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  environments: z.number().int(),
  created_at: instantColumn,
});
export type ListedTenant = z.output<typeof tenantRow>;

const listTenants = statement('list-tenants', tenantRow);

/** Every tenant of the installation, oldest first. */
export function listOperatorTenants({ slonik }: Database): Promise<readonly ListedTenant[]> {
  return slonik.any(listTenants());
}

/**
 * Suspends a tenant, which may then read and not write (docs/http.md 1.2), or lets it write again.
 * Programs that run notice within a second and one look-up. @throws VerbRefused when there is no
 * such tenant.
 */
export async function setTenantStatus(
  database: Database,
  tenantId: string,
  status: 'active' | 'suspended',
): Promise<TenantRow> {
  const occasion = await operatorsOccasion(database, { tenantId });
  return done(
    await mustWrite(writing(database), occasion, async (unit) => {
      const before = await lockOwnTenant(unit);
      const after = await updateOwnTenant(unit, before, { status });
      recordTenant(unit, before, after);
      return after;
    }),
  );
}

/** What an operator asks of the limits of a tenant: some of them, or the defaults again. */
export type LimitsChange = Partial<TenantLimits> | 'defaults';

const LIMITS = 'tenant_limits';

/**
 * Changes what a tenant may have (docs/http.md 2.2) and answers what applies then. Limits that are
 * not named stay as they are. @throws VerbRefused when there is no such tenant, or a limit is none.
 */
export async function setTenantLimits(
  database: Database,
  tenantId: string,
  change: LimitsChange,
): Promise<Readonly<Record<string, unknown>>> {
  const occasion = await operatorsOccasion(database, { tenantId });
  if (change === 'defaults') {
    return done(await resetSetting(writing(database), occasion, LIMITS)).value;
  }
  const now = done(await readSetting(writing(database), occasion, LIMITS)).value;
  if (Object.keys(change).length === 0) return now;
  const body = { value: { ...now, ...change } };
  return done(await changeSetting(writing(database), occasion, { key: LIMITS, body })).value;
}
