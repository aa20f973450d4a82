import { sql } from 'slonik';
import { z } from 'zod';
import { integerColumn } from '../../../sql/columns.js';
import { isOfTenant } from '../../records/conditions.js';
import { Refusal, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { limitsOf } from '../settings/tenant-limits.js';
import { lockOwnTenant } from '../tenants/tenants-store.js';
import type { EnvironmentType } from '../../declarations/platform/environment.resource.js';

const countRow = z.object({ count: integerColumn });

/** Environments of a type that the tenant has. */
async function countEnvironments({ tx }: Unit, type: EnvironmentType): Promise<number> {
  const { count } = await tx.one(sql.type(countRow)`
    SELECT count(*) AS count FROM environments WHERE type = ${type} AND ${isOfTenant}`);
  return count;
}

/** Refuses one environment of a type too many; nobody else adds one meanwhile. */
export async function refuseBeyondLimit(unit: Unit, type: EnvironmentType): Promise<void> {
  const max = limitsOf(await lockOwnTenant(unit))[`${type}_environments`];
  if ((await countEnvironments(unit, type)) < max) return;
  const message = `the tenant may have ${max} of type ${type}: ask the operator of the installation for a higher limit`;
  throw new Refused(new Refusal('invalid_operation', message));
}
