import { z } from 'zod';
import type { CallerWithRoles } from '../billing-api/edge/request-context.js';
import { createKey } from '../billing-api/platform/keys/create-key.js';
import type { CreateKeyBody, SecretDto } from '../billing-api/platform/keys/key.resource.js';
import { listKeys, revokeKey } from '../billing-api/platform/keys/key-operations.js';
import { isRefusal, type Refusal } from '../billing-api/records/refusal.js';
import { systemClock } from '../runtime/clock.js';
import { ConfigError } from '../runtime/config.js';
import { createId } from '../runtime/ids.js';
import type { Database } from '../sql/pool.js';
import { statement } from '../sql/statement.js';

const KEYS_MAX = 1_000;

const findOperator = statement(
  'find-operator',
  z.object({ tenant_id: z.string(), environment_id: z.string(), user_id: z.string() }),
);

type Place = { readonly environmentId?: string | undefined; readonly secretId?: string };

/** The super_admin in whose name the verb works, so that the audit trail has what it does. */
async function operatorOf(database: Database, place: Place): Promise<CallerWithRoles> {
  const { environmentId = null, secretId = null } = place;
  const found = await database.slonik.maybeOne(findOperator({ environmentId, secretId }));
  if (found === null) {
    const what = secretId ?? environmentId ?? 'a first environment (run npm start once)';
    throw new ConfigError([`${what} does not exist, or its tenant has no super_admin`]);
  }
  return {
    environment: { tenantId: found.tenant_id, environmentId: found.environment_id },
    userId: found.user_id,
    roles: ['super_admin'],
    apiKeyId: null,
    requestId: createId('req'),
    claim: null,
  };
}

/** @throws ConfigError with the reason why the operation was refused. */
function done<T>(result: T | Refusal): T {
  if (isRefusal(result)) throw new ConfigError([result.message]);
  return result;
}

const writing = (database: Database) => ({
  database,
  clock: systemClock,
  createId,
  // Programs that run look a key up anew within a second.
  forgetCallers: () => undefined,
});

/** The keys of an environment, newest first, at most 1,000. */
export async function listOperatorKeys(
  database: Database,
  environmentId: string | undefined,
): Promise<readonly SecretDto[]> {
  const operator = await operatorOf(database, { environmentId });
  const page = done(await listKeys({ database }, operator, { limit: KEYS_MAX }));
  return page.items;
}

/** Makes a key; the answer is the only place where it can be read. */
export async function createOperatorKey(
  database: Database,
  key: CreateKeyBody & { readonly environmentId?: string | undefined },
): Promise<{ readonly id: string; readonly apiKey: string }> {
  const { environmentId, ...body } = key;
  const operator = await operatorOf(database, { environmentId });
  const { row, apiKey } = done(await createKey(writing(database), operator, body));
  return { id: row.id, apiKey };
}

/** Revokes a key of any environment. */
export async function revokeOperatorKey(database: Database, secretId: string): Promise<void> {
  const operator = await operatorOf(database, { secretId });
  done(await revokeKey(writing(database), operator, secretId));
}
