import { describe, expect } from 'vitest';
import { sql } from 'slonik';
import { z } from 'zod';
import { test } from '../../load-tests/harness/fixtures.js';
import { makeKey } from '../../load-tests/harness/make-key.js';
import { ownerDatabase, ownerOf } from '../../load-tests/harness/owner.js';
import { runVerb } from '../../load-tests/harness/run-verb.js';
import { systemClock } from '../../runtime/clock.js';
import { createApiKeyDirectory } from '../../sql/api-keys.js';
import { createOperatorTenant } from './create-tenant.js';
import { listOperatorTenants, setTenantLimits, setTenantStatus } from './operator-tenants.js';

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
    const entries = await ownerOf(database).any(sql.type(z.unknown())`
      SELECT after ->> 'status' AS status, actor_kind, user_id FROM audit_entries
      WHERE entity_id = ${tenantId} ORDER BY id`);
    const operator = { actor_kind: 'operator', user_id: null };
    expect(entries).toEqual([
      { ...operator, status: 'suspended' },
      { ...operator, status: 'active' },
    ]);
  });

  test('makes a tenant as a sign-up does, whose first key works and is told once', async ({
    database: { url, database },
  }) => {
    const made = await runVerb({ DATABASE_URL: url }, 'tenants', 'create', ' Example Ltd ');
    expect(made.status).toBe(0);
    const [, tenantId, environmentId, apiKey] =
      /^(tenant_\w+) was made. Production: (env_\w+); .*\n.*\n(sk_\w{40})\n$/.exec(made.said) ?? [];
    const caller = await createApiKeyDirectory(database, systemClock).find(apiKey ?? '');
    expect(caller).toMatchObject({
      roles: ['super_admin'],
      environment: { tenantId, environmentId },
    });
    const listed = await runVerb({ DATABASE_URL: url }, 'tenants', 'list');
    expect(listed.said).toContain(`${tenantId}  active  Example Ltd\n  2 environments, since 20`);
    const entries = await ownerOf(database).any(sql.type(
      z.object({ entity_type: z.string(), action: z.string(), actor_kind: z.string() }),
    )`SELECT entity_type, action, actor_kind FROM audit_entries WHERE tenant_id = ${tenantId ?? ''}
      ORDER BY entity_type`);
    const kinds = ['environment', 'environment', 'secret', 'tenant', 'user'];
    expect(entries.map(({ entity_type: kind, action }) => [kind, action])).toEqual(
      kinds.map((kind) => [kind, 'created']),
    );
    expect(new Set(entries.map(({ actor_kind: kind }) => kind))).toEqual(new Set(['operator']));
  });

  test('makes no tenant of a name that a sign-up refuses', async ({ database: { url } }) => {
    const owner = await ownerDatabase(url);
    const refused = 'the tenant was not made: its name must';
    await expect(createOperatorTenant(owner, ' ')).rejects.toThrow(`${refused} not be empty`);
    const long = createOperatorTenant(owner, 'x'.repeat(256));
    await expect(long).rejects.toThrow(`${refused} have at most 255 characters`);
    expect(await listOperatorTenants(owner)).toEqual([]);
  });

  test('raises the limits of a tenant that are named, and leaves it in the audit trail', async ({
    database: { url, database },
  }) => {
    const { environment } = await makeKey(database, {});
    const limits = async (...options: string[]): Promise<string> => {
      const ran = await runVerb(
        { DATABASE_URL: url },
        'tenants',
        'limits',
        environment.tenantId,
        ...options,
      );
      expect(ran.status).toBe(0);
      return ran.said;
    };
    const said = (users: number, production: number) =>
      `users  ${users}\nproduction_environments  ${production}\ndevelopment_environments  2\n`;
    expect(await limits()).toBe(said(10, 1));
    expect(await limits('--users', '25')).toBe(said(25, 1));
    expect(await limits('--production-environments', '3')).toBe(said(25, 3));
    const owner = await ownerDatabase(url);
    expect(await setTenantLimits(owner, environment.tenantId, 'defaults')).toMatchObject({
      users: 10,
      production_environments: 1,
    });
    await expect(setTenantLimits(owner, environment.tenantId, { users: 0 })).rejects.toThrow(
      'value.users: ',
    );
    const entries = await ownerOf(database).any(sql.type(z.unknown())`
      SELECT action, actor_kind, after -> 'value' -> 'users' AS users FROM audit_entries
      WHERE entity_id = 'tenant_limits' AND tenant_id = ${environment.tenantId} ORDER BY id`);
    expect(entries).toEqual([
      { action: 'updated', actor_kind: 'operator', users: 25 },
      { action: 'updated', actor_kind: 'operator', users: 25 },
      { action: 'deleted', actor_kind: 'operator', users: 10 },
    ]);
  });

  test('says that a tenant does not exist', async ({ database: { url } }) => {
    const unknown = setTenantStatus(await ownerDatabase(url), 'tenant_x', 'suspended');
    await expect(unknown).rejects.toThrow('tenant_x does not exist');
  });
});
