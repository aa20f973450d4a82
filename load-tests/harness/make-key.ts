import { createHash } from 'node:crypto';
import { sql } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../contract/environment.js';
import { createId } from '../../runtime/ids.js';
import { ownerOf } from './owner.js';
import type { Database } from '../../sql/pool.js';

type KeyOptions = {
  readonly type?: 'private_key' | 'publishable_key';
  readonly roles?: readonly string[];
  readonly environment?: Environment;
};

/** Another key, of a new user; without an environment also of a new tenant. */
export async function makeKey(
  database: Pick<Database, 'url'>,
  options: KeyOptions,
): Promise<{ readonly apiKey: string; readonly environment: Environment }> {
  const environment = options.environment ?? {
    tenantId: createId('tenant'),
    environmentId: createId('env'),
  };
  const { tenantId, environmentId } = environment;
  const userId = createId('user');
  const type = options.type ?? 'private_key';
  const prefix = type === 'private_key' ? 'sk' : 'pk';
  const apiKey = `${prefix}_${userId.slice(5)}${'b'.repeat(40)}`.slice(0, 43);
  const hash = createHash('sha256').update(apiKey).digest();
  const run = sql.type(z.unknown());
  await ownerOf(database).query(run`
    INSERT INTO tenants (id, name) VALUES (${tenantId}, 'Other') ON CONFLICT DO NOTHING`);
  await ownerOf(database).query(run`
    INSERT INTO environments (id, tenant_id, name, type)
    VALUES (${environmentId}, ${tenantId}, 'Other', 'production') ON CONFLICT DO NOTHING`);
  await ownerOf(database).query(run`
    INSERT INTO users (id, tenant_id, roles)
    VALUES (${userId}, ${tenantId}, ${sql.array([...(options.roles ?? ['super_admin'])], 'text')})`);
  await ownerOf(database).query(run`
    INSERT INTO secrets (id, tenant_id, environment_id, user_id, name, type, key_hash, display_id)
    VALUES (${createId('secret')}, ${tenantId}, ${environmentId}, ${userId}, 'key', ${type},
      ${sql.binary(hash)}, 'x')`);
  return { apiKey, environment };
}
