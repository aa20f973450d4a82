import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../load-tests/harness/fixtures.js';
import { ownerDatabase } from '../../load-tests/harness/owner.js';
import { bootstrap } from '../../sql/bootstrap.js';
import type { Database } from '../../sql/pool.js';
import { PLANS } from '../declarations/catalog/plan.resource.js';
import { notReferenced, updateRecord } from './change-record.js';
import { createRecord } from './create-record.js';
import { findPublished, findRecord, findRecords, lockRecord, lockRecords } from './find-record.js';
import { isRefusal } from './refusal.js';
import { writeUnit, type Unit } from './unit.js';
import { testOccasion } from '../testing/test-occasion.js';

const NOW = Date.UTC(2026, 10, 20);
const FOREIGN = { tenantId: 'tenant_other', environmentId: 'env_other' };

/** A unit of one environment in a session that row-level security does not bind. */
async function inUnboundUnit<T>(
  database: Database,
  environment: typeof FOREIGN,
  work: (unit: Unit) => Promise<T>,
): Promise<T> {
  const owner = await ownerDatabase(database.url);
  return owner.transaction(async (tx) => {
    const { is_bound: isBound } = await tx.one(sql.type(z.object({ is_bound: z.boolean() }))`
      SELECT row_security_active('plans') AS is_bound,
        set_config('minutebook.tenant_id', ${environment.tenantId}, true),
        set_config('minutebook.environment_id', ${environment.environmentId}, true)`);
    expect(isBound).toBe(false);
    return work({
      tx,
      ...testOccasion({ environment, userId: 'user_1' }),
      now: NOW,
      newId: (prefix) => `${prefix}_new`,
      changes: [],
      events: [],
    });
  });
}

describe('the functions of all resources', () => {
  test('touch no row of another environment where row-level security is bypassed', async ({
    database: { database },
  }) => {
    const { environment, userId } = await bootstrap(database.url, {
      apiKey: `sk_${'a'.repeat(40)}`,
    });
    const dependencies = {
      database,
      clock: { now: () => NOW },
      createId: (prefix: string) => `${prefix}_own`,
    };
    const values = { name: 'P', description: null, lookup_key: 'p', display_order: null };
    const made = await writeUnit(dependencies, testOccasion({ environment, userId }), (unit) =>
      createRecord(unit, PLANS, { ...values, metadata: {} }),
    );
    if (isRefusal(made)) throw new Error(made.message);
    const { id } = made;
    const look = (unit: Unit) =>
      Promise.all([
        findRecord(unit, PLANS, id),
        lockRecord(unit, PLANS, id),
        findRecords(unit, PLANS, [id]).then((found) => found.get(id) ?? null),
        lockRecords(unit, PLANS, [id]).then((found) => found.get(id) ?? null),
        findPublished(unit, PLANS, []).then((found) => found[0] ?? null),
        notReferenced({ table: 'plans', column: 'id' }, 'used')(unit, id),
      ]);
    const own = await inUnboundUnit(database, environment, look);
    expect(own.filter((found) => found === null)).toEqual([]);
    const foreign = await inUnboundUnit(database, FOREIGN, look);
    expect(foreign.filter((found) => found !== null)).toEqual([]);
    const changing = inUnboundUnit(database, FOREIGN, (unit) =>
      updateRecord(unit, PLANS, { row: made, patch: { name: 'stolen' } }),
    );
    await expect(changing).rejects.toThrow();
  });
});
