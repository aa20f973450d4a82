import { userInfo } from 'node:os';
import { describe, expect } from 'vitest';
import { test as base } from '../../load-tests/harness/fixtures.js';
import { makeKey } from '../../load-tests/harness/make-key.js';
import { ownerDatabase, ownerOf } from '../../load-tests/harness/owner.js';
import { systemClock } from '../../runtime/clock.js';
import { createApiKey } from '../../sql/api-key.js';
import { createApiKeyDirectory } from '../../sql/api-keys.js';
import { bootstrap, type FirstTenant } from '../../sql/bootstrap.js';
import { sql } from 'slonik';
import { z } from 'zod';
import type { Database } from '../../sql/pool.js';
import { createOperatorKey, listOperatorKeys, revokeOperatorKey } from './operator-keys.js';

const KEY = { name: 'Console', type: 'private_key' } as const;

const test = base.extend<{ owner: Database; first: FirstTenant }>({
  owner: async ({ database: { url } }, use) => use(await ownerDatabase(url)),
  first: async ({ database: { url } }, use) =>
    use(await bootstrap(url, { apiKey: createApiKey('private_key') })),
});

describe('minutebook keys', () => {
  test('makes a key of the first super_admin, lists it without its text, and revokes it', async ({
    owner,
    first,
    database: { database },
  }) => {
    const { id, apiKey } = await createOperatorKey(owner, KEY);
    const caller = await createApiKeyDirectory(database, systemClock).find(apiKey);
    expect(caller).toMatchObject({ ...first, roles: ['super_admin'], secretId: id });
    const listed = await listOperatorKeys(owner, undefined);
    expect(listed.map((key) => key.name)).toEqual(['Console', 'First key']);
    expect(JSON.stringify(listed)).not.toContain(apiKey.slice(5, -2));
    await revokeOperatorKey(owner, id);
    expect(await createApiKeyDirectory(database, systemClock).find(apiKey)).toBeNull();
    expect(await listOperatorKeys(owner, undefined)).toHaveLength(1);
    const entries = await ownerOf(database).any(sql.type(z.unknown())`
      SELECT action, actor_kind, actor_name, user_id, request_id FROM audit_entries
      WHERE entity_id = ${id} ORDER BY id`);
    const name = userInfo().username;
    const operator = { actor_kind: 'operator', actor_name: name, user_id: null, request_id: null };
    expect(entries).toEqual([
      { ...operator, action: 'created' },
      { ...operator, action: 'deleted' },
    ]);
  });

  test('works in the environment that is named, and finds that of a key', async ({
    owner,
    first,
    database: { database },
  }) => {
    expect(first.userId).toMatch(/^user_/);
    const other = await makeKey(database, {});
    const { environmentId } = other.environment;
    const { id, apiKey } = await createOperatorKey(owner, { ...KEY, environmentId });
    const caller = await createApiKeyDirectory(database, systemClock).find(apiKey);
    expect(caller?.environment).toEqual(other.environment);
    expect(await listOperatorKeys(owner, undefined)).toHaveLength(1);
    expect(await listOperatorKeys(owner, environmentId)).toHaveLength(2);
    await revokeOperatorKey(owner, id);
    expect(await listOperatorKeys(owner, environmentId)).toHaveLength(1);
  });

  test('says what does not exist, and why a key cannot be made', async ({
    owner,
    first,
    database: { database },
  }) => {
    expect(first.userId).toMatch(/^user_/);
    await expect(listOperatorKeys(owner, 'env_x')).rejects.toThrow('env_x does not exist');
    await expect(revokeOperatorKey(owner, 'secret_x')).rejects.toThrow('secret_x does not exist');
    const nobody = createOperatorKey(owner, { ...KEY, service_account_id: 'user_x' });
    await expect(nobody).rejects.toThrow('user user_x does not exist');
    // An operator names a service account, and no user whose rights the key would have.
    await makeKey(database, { environment: first.environment, roles: ['all_reader'] });
    const [reader] = await listOperatorKeys(owner, undefined);
    const named = { ...KEY, service_account_id: reader?.user_id ?? '' };
    const user = createOperatorKey(owner, named);
    await expect(user).rejects.toThrow('not for another user');
    await ownerOf(database).query(sql.type(z.unknown())`UPDATE users SET roles = '{}'`);
    const { tenantId } = first.environment;
    await expect(createOperatorKey(owner, KEY)).rejects.toThrow(`${tenantId} has no super_admin`);
  });
});
