import { createKey } from '../../billing-api/platform/keys/create-key.js';
import type {
  CreateKeyBody,
  SecretDto,
} from '../../billing-api/declarations/platform/key.resource.js';
import { listKeys, revokeKey } from '../../billing-api/platform/keys/key-operations.js';
import type { Database } from '../../sql/pool.js';
import { done, operatorOf, writing } from './in-whose-name.js';

const KEYS_MAX = 1_000;

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
