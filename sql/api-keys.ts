import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Environment } from '../contract/environment.js';
import type { InstantMs } from '../contract/instant.js';
import type { Clock } from '../runtime/clock.js';
import { hashApiKey, hashNameOf, isApiKey, type ApiKeyType } from './api-key.js';
import { instantColumn } from './columns.js';
import type { Database } from './pool.js';
import { statement } from './statement.js';

/** The caller whom an API key identifies. */
export type ApiCaller = {
  readonly environment: Environment;
  readonly secretId: string;
  readonly keyType: ApiKeyType;
  readonly userId: string;
  readonly roles: readonly string[];
  /** A suspended tenant may read and not write (docs/http.md 1.2). */
  readonly isTenantSuspended: boolean;
};

/** Finds callers by API key. */
export type ApiKeyDirectory = {
  /**
   * The caller; null for an unknown, expired or revoked key. A promise only when it must be looked
   * up, because most requests come with a known key and a promise costs them more than the rest.
   * @throws DependencyError when PostgreSQL fails.
   */
  find(apiKey: string): ApiCaller | null | Promise<ApiCaller | null>;
  /** Whether the last look-up of this key found it; false when it has not been looked up yet. */
  wasFound(apiKey: string): boolean;
  /**
   * Forgets all look-ups, those that run included: the next request with any key is looked up. For
   * whoever has just changed keys, users or a tenant.
   */
  forget(): void;
};

/** How long a look-up is cached. A revoked key stops working after this time and one look-up. */
const CACHED_MS = 1_000;
/** Each cache holds at most about 5 MB. */
const CALLERS_MAX = 10_000;

type KnownKey = { readonly caller: ApiCaller; readonly expiresAt: InstantMs | null };

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

async function readKey(database: Database, hash: Buffer): Promise<KnownKey | null> {
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
 * A directory that caches look-ups for a second. Unknown keys have a cache of their own, so that
 * guessed keys cannot evict valid ones. Only hashes of keys are held, and simultaneous look-ups of
 * one key become one statement.
 * @param noteUse is told of every look-up that finds a key: at most once a second for each.
 */
export function createApiKeyDirectory(
  database: Database,
  clock: Clock,
  noteUse: (secretId: string) => void = () => undefined,
): ApiKeyDirectory {
  const known = new LRUCache<string, KnownKey>({ max: CALLERS_MAX, ttl: CACHED_MS });
  const unknown = new LRUCache<string, true>({ max: CALLERS_MAX, ttl: CACHED_MS });
  const found = new LRUCache<string, true>({ max: CALLERS_MAX });
  const running = new Map<string, Promise<KnownKey | null>>();
  /** A look-up that began before `forget` may have read what has changed since. */
  let beginnings = 0;

  const keep = (name: string, key: KnownKey | null): void => {
    if (key === null) {
      unknown.set(name, true);
      found.delete(name);
    } else {
      known.set(name, key);
      found.set(name, true);
    }
  };

  const lookUp = async (hash: Buffer, name: string): Promise<KnownKey | null> => {
    const beginning = beginnings;
    try {
      const key = await readKey(database, hash);
      if (beginning === beginnings) keep(name, key);
      if (key !== null) noteUse(key.caller.secretId);
      return key;
    } finally {
      if (beginning === beginnings) running.delete(name);
    }
  };

  const resolve = (apiKey: string): KnownKey | null | Promise<KnownKey | null> => {
    const name = hashNameOf(apiKey);
    const cached = known.get(name);
    if (cached !== undefined) return cached;
    if (unknown.has(name)) return null;
    const lookingUp = running.get(name) ?? lookUp(hashApiKey(apiKey), name);
    running.set(name, lookingUp);
    return lookingUp;
  };

  const callerOf = (key: KnownKey | null): ApiCaller | null => {
    const isExpired = key !== null && key.expiresAt !== null && key.expiresAt <= clock.now();
    return isExpired ? null : (key?.caller ?? null);
  };

  return {
    forget: () => {
      beginnings += 1;
      for (const cache of [known, unknown, running]) cache.clear();
    },
    wasFound: (apiKey) => found.has(hashNameOf(apiKey)),
    find: (apiKey) => {
      if (!isApiKey(apiKey)) return null;
      const key = resolve(apiKey);
      return key instanceof Promise ? key.then(callerOf) : callerOf(key);
    },
  };
}
