import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Environment } from '../contract/environment.js';
import type { InstantMs } from '../contract/instant.js';
import type { Clock } from '../runtime/clock.js';
import { hashApiKey, hashNameOf, isApiKey, type ApiKeyType } from './api-key.js';
import { instantColumn } from './columns.js';
import type { Database } from './pool.js';
import { statement } from './statement.js';

/** Who calls, as told by an API key. */
export type ApiCaller = {
  readonly environment: Environment;
  readonly secretId: string;
  readonly keyType: ApiKeyType;
  readonly userId: string;
  readonly roles: readonly string[];
  /** A suspended tenant reads and does not write (api.md 1.2). */
  readonly isTenantSuspended: boolean;
};

/** Finds callers by API key. */
export type ApiKeyDirectory = {
  /**
   * The caller; null for an unknown, expired or revoked key.
   * @throws DependencyError when PostgreSQL cannot be asked.
   */
  find(apiKey: string): Promise<ApiCaller | null>;
};

/** How long an answer is believed: a revoked key stops working within this and one look-up. */
const BELIEVED_MS = 1_000;
/** Each cache holds at most about 5 MB. */
const CALLERS_MAX = 10_000;

type Known = { readonly caller: ApiCaller; readonly expiresAt: InstantMs | null };

const findApiKey = statement(
  'find-api-key',
  z.object({
    id: z.string(),
    tenant_id: z.string(),
    environment_id: z.string(),
    user_id: z.string(),
    type: z.enum(['private_key', 'publishable_key']),
    expires_at: instantColumn.nullable(),
    roles: z.array(z.string()),
    is_tenant_suspended: z.boolean(),
  }),
);

async function look(database: Database, hash: Buffer): Promise<Known | null> {
  const row = await database.slonik.maybeOne(findApiKey({ keyHash: hash }));
  if (row === null) return null;
  const caller: ApiCaller = {
    environment: { tenantId: row.tenant_id, environmentId: row.environment_id },
    secretId: row.id,
    keyType: row.type,
    userId: row.user_id,
    roles: row.roles,
    isTenantSuspended: row.is_tenant_suspended,
  };
  return { caller, expiresAt: row.expires_at };
}

/**
 * A directory that remembers answers for a second. Unknown keys are remembered apart from the
 * known, so that guessing cannot push the known ones out. Keys are held as hashes only, and
 * simultaneous questions about one key are asked once.
 */
export function createApiKeyDirectory(database: Database, clock: Clock): ApiKeyDirectory {
  const known = new LRUCache<string, Known>({ max: CALLERS_MAX, ttl: BELIEVED_MS });
  const unknown = new LRUCache<string, true>({ max: CALLERS_MAX, ttl: BELIEVED_MS });
  const asking = new Map<string, Promise<Known | null>>();

  const ask = async (hash: Buffer, name: string): Promise<Known | null> => {
    try {
      const answer = await look(database, hash);
      if (answer === null) unknown.set(name, true);
      else known.set(name, answer);
      return answer;
    } finally {
      asking.delete(name);
    }
  };

  const resolve = (apiKey: string): Known | null | Promise<Known | null> => {
    const name = hashNameOf(apiKey);
    const remembered = known.get(name);
    if (remembered !== undefined) return remembered;
    if (unknown.has(name)) return null;
    const question = asking.get(name) ?? ask(hashApiKey(apiKey), name);
    asking.set(name, question);
    return question;
  };

  return {
    find: async (apiKey) => {
      if (!isApiKey(apiKey)) return null;
      const answer = await resolve(apiKey);
      if (answer === null) return null;
      const isExpired = answer.expiresAt !== null && answer.expiresAt <= clock.now();
      return isExpired ? null : answer.caller;
    },
  };
}
