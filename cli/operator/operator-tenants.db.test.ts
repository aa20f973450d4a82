import { describe, expect } from 'vitest';
import { sql } from 'slonik';
import { z } from 'zod';
import { test } from '../../load-tests/harness/fixtures.js';
import { makeKey } from '../../load-tests/harness/make-key.js';
import { ownerDatabase, ownerOf } from '../../load-tests/harness/owner.js';
import { systemClock } from '../../runtime/clock.js';
import { createApiKeyDirectory } from '../../sql/api-keys.js';
import { listOperatorTenants, setTenantStatus } from './operator-tenants.js';

describe('minutebook tenants', () => {
  test('suspends one tenant and no other, lets it go on, and leaves both in the audit trail', async ({
    database: { url, database },
  }) => {
    const owner = await ownerDatabase(url);
    const [one, other] = [await makeKey(database, {}), await makeKey(database, {})];
    const { tenantId } = one.environment;
    const isSuspended = async (key: typeof one): Promise<boolean | undefined> => {
      const caller = await createApiKeyDirectory(database, systemClock).find(key.apiKey);
      return caller?.isTenantSuspended;
    };
    await setTenantStatus(owner, tenantId, 'suspended');
    expect([await isSuspended(one), await isSuspended(other)]).toEqual([true, false]);
    expect(await listOperatorTenants(owner)).toMatchObject([
      { id: tenantId, status: 'suspended', environments: 1 },
      { id: other.environment.tenantId, status: 'active', environments: 1 },
    ]);
    await setTenantStatus(owner, tenantId, 'active');
    expect(await isSuspended(one)).toBe(false);
    const entries = await ownerOf(database).any(sql.type(z.object({ status: z.string() }))`
      SELECT after ->> 'status' AS status FROM audit_entries WHERE entity_id = ${tenantId}
      ORDER BY id`);
    expect(entries.map(({ status }) => status)).toEqual(['suspended', 'active']);
  });

  test('says that a tenant does not exist', async ({ database: { url } }) => {
    const unknown = setTenantStatus(await ownerDatabase(url), 'tenant_x', 'suspended');
    await expect(unknown).rejects.toThrow('tenant_x does not exist');
  });
});
