import { sql, type CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../contract/environment.js';
import { assertThat } from '../runtime/failure.js';
import { createId } from '../runtime/ids.js';
import { displayIdOf, hashApiKey, isApiKey } from './api-key.js';
import { noRows } from './columns.js';
import { createDatabase } from './pool.js';
import { statement } from './statement.js';

export type FirstTenant = { readonly environment: Environment; readonly userId: string };

const lockBootstrap = statement('lock-bootstrap', z.unknown());
const findFirstTenant = statement(
  'find-first-tenant',
  z.object({ tenant_id: z.string(), environment_id: z.string(), user_id: z.string() }),
);
const insertFirstTenant = statement('insert-first-tenant', noRows);
const insertFirstKey = statement('insert-first-key', noRows);

async function findOrCreateTenant(connection: CommonQueryMethods): Promise<FirstTenant> {
  const found = await connection.maybeOne(findFirstTenant());
  if (found !== null) {
    const environment = { tenantId: found.tenant_id, environmentId: found.environment_id };
    return { environment, userId: found.user_id };
  }
  const environment = { tenantId: createId('tenant'), environmentId: createId('env') };
  const userId = createId('user');
  await connection.query(insertFirstTenant({ ...environment, userId }));
  return { environment, userId };
}

/**
 * Creates the first tenant, its production environment, a super_admin and their key, unless they
 * exist; the oldest tenant is the first one. A key that differs from the previous one is added; a
 * revoked key stays revoked. Safe to run at every start and in several processes at once. Needs the
 * owner's URL: no program may write these tables.
 * @throws AssertionFailed when `apiKey` is not a private key.
 * @throws DependencyError when PostgreSQL fails.
 */
export async function bootstrap(
  ownerUrl: string,
  options: { readonly apiKey: string },
): Promise<FirstTenant> {
  const { apiKey } = options;
  assertThat(isApiKey(apiKey) && apiKey.startsWith('sk_'), 'the first key must be a private key');
  const database = await createDatabase(ownerUrl, {
    poolSize: 1,
    role: 'owner',
  });
  // Not slonik's `transaction`, which switches on Node's async hooks for the rest of the process:
  // with `npm start` this is the one that serves events. An error closes the connection, which ends
  // the transaction.
  const creating = database.slonik.connect(async (connection) => {
    await connection.query(sql.type(noRows)`START TRANSACTION`);
    await connection.query(lockBootstrap());
    const first = await findOrCreateTenant(connection);
    await connection.query(
      insertFirstKey({
        ...first.environment,
        userId: first.userId,
        id: createId('secret'),
        keyHash: hashApiKey(apiKey),
        displayId: displayIdOf(apiKey),
      }),
    );
    await connection.query(sql.type(noRows)`COMMIT`);
    return first;
  });
  return creating.finally(() => database.close());
}
