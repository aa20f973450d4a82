import { createKey } from '../../billing-api/platform/keys/create-key.js';
import type {
  CreateKeyBody,
  SecretDto,
} from '../../billing-api/declarations/platform/key.resource.js';
import { listKeys, revokeKey } from '../../billing-api/platform/keys/key-operations.js';
import type { Database } from '../../sql/pool.js';
import { VerbRefused } from '../stack/verb-refused.js';
import { done, operatorsOccasion, writing } from './as-operator.js';

const KEYS_MAX = 1_000;

/** The keys of an environment, newest first, at most 1,000. */
export async function listOperatorKeys(
  database: Database,
  environmentId: string | undefined,
): Promise<readonly SecretDto[]> {
  const occasion = await operatorsOccasion(database, { environmentId });
  const page = done(await listKeys(writing(database), occasion, { limit: KEYS_MAX }));
  return page.items;
}

/**
 * Makes a key of a service account or, where none is named, of the oldest super_admin. The answer
 * is the only place where it can be read.
 */
export async function createOperatorKey(
  database: Database,
  key: CreateKeyBody & { readonly environmentId?: string | undefined },
): Promise<{ readonly id: string; readonly apiKey: string }> {
  const { environmentId, ...body } = key;
  const occasion = await operatorsOccasion(database, { environmentId });
  const { tenantId } = occasion.environment;
  const owner = body.service_account_id ?? occasion.administratorId;
  if (owner === null) throw new VerbRefused(`${tenantId} has no super_admin`);
  const named = { ...body, service_account_id: owner };
  const { row, apiKey } = done(await createKey(writing(database), occasion, named));
  return { id: row.id, apiKey };
}

/** Revokes a key of any environment. */
export async function revokeOperatorKey(database: Database, secretId: string): Promise<void> {
  const occasion = await operatorsOccasion(database, { secretId });
  done(await revokeKey(writing(database), occasion, secretId));
}
