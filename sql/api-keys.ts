import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Environment } from '../contract/environment.js';
import type { InstantMs } from '../contract/instant.js';
import type { Clock } from '../runtime/clock.js';
import { DependencyError } from '../runtime/failure.js';
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
   * @throws DependencyError when PostgreSQL fails and the key may not be used stale.
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

/** A look-up that takes longer is not awaited for a key that may be used stale. */
const LATE_MS = 1_000;

/** How keys are used that cannot be looked up any more, because PostgreSQL is away. */
export type StaleKeys = {
  /** For how long after the time of the cache. */
  readonly forMs: number;
  /** Is told of a stale key that is used for the next second. */
  readonly noteUse: () => void;
};

export type ApiKeyOptions = {
  /** Is told of every look-up that finds a key: at most once a second for each. */
  readonly noteUse?: (secretId: string) => void;
  /** Absent where a request needs PostgreSQL for more than its key. */
  readonly staleKeys?: StaleKeys;
};

type LookUp = {
  readonly result: Promise<KnownKey | null>;
  /** Resolves when it has taken long. */
  readonly late: Promise<null>;
};

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
 * What look-ups have found, by the hash of the key. Unknown keys have a cache of their own, so that
 * guessed keys cannot evict valid ones.
 */
function createKeyCache(staleKeys: StaleKeys | undefined) {
  const known = new LRUCache<string, KnownKey>({ max: CALLERS_MAX, ttl: CACHED_MS });
  const unknown = new LRUCache<string, true>({ max: CALLERS_MAX, ttl: CACHED_MS });
  const found = new LRUCache<string, true>({ max: CALLERS_MAX });
  const staleMs = staleKeys?.forMs ?? 0;
  const lastRead = new LRUCache<string, KnownKey>({ max: CALLERS_MAX, ttl: CACHED_MS + staleMs });
  return {
    /** Undefined for a key that must be looked up. */
    get: (name: string): KnownKey | null | undefined =>
      known.get(name) ?? (unknown.has(name) ? null : undefined),
    wasFound: (name: string): boolean => found.has(name),
    mayBeStale: (name: string): boolean => staleMs > 0 && lastRead.has(name),
    keep: (name: string, key: KnownKey | null): void => {
      if (key === null) {
        unknown.set(name, true);
        for (const cache of [known, found, lastRead]) cache.delete(name);
      } else {
        known.set(name, key);
        found.set(name, true);
        if (staleMs > 0) lastRead.set(name, key);
      }
    },
    /** The key as it was last read, for another second; null when that is too long ago. */
    useStale: (name: string): KnownKey | null => {
      const key = lastRead.get(name);
      if (key === undefined) return null;
      if (known.get(name) === key) return key;
      const ttl = Math.min(CACHED_MS, lastRead.getRemainingTTL(name));
      known.set(name, key, { ttl: Math.max(1, ttl) });
      staleKeys?.noteUse();
      return key;
    },
    clear: (): void => {
      for (const cache of [known, unknown, lastRead]) cache.clear();
    },
  };
}

type KeyCache = ReturnType<typeof createKeyCache>;

/**
 * What a look-up finds. A key that may be stale is taken as it was last read when the look-up fails
 * or takes long; what PostgreSQL answers later counts from then on.
 */
async function answerOf(look: LookUp, name: string, cache: KeyCache): Promise<KnownKey | null> {
  if (!cache.mayBeStale(name)) return look.result;
  try {
    const first = await Promise.race([look.result.then((key) => ({ key })), look.late]);
    if (first !== null) return first.key;
  } catch (error) {
    const stale = error instanceof DependencyError ? cache.useStale(name) : null;
    if (stale === null) throw error;
    return stale;
  }
  return cache.useStale(name) ?? look.result;
}

/**
 * A directory that caches look-ups for a second. Only hashes of keys are held, and simultaneous
 * look-ups of one key become one statement. A revoked key is refused from the next look-up on
 * that PostgreSQL answers, at most a second apart; while it does not answer, a key that may be used
 * stale is accepted until its time is over.
 */
export function createApiKeyDirectory(
  database: Database,
  clock: Clock,
  { noteUse, staleKeys }: ApiKeyOptions = {},
): ApiKeyDirectory {
  const cache = createKeyCache(staleKeys);
  const running = new Map<string, LookUp>();
  /** A look-up that began before `forget` may have read what has changed since. */
  let beginnings = 0;

  const lookUp = async (hash: Buffer, name: string): Promise<KnownKey | null> => {
    const beginning = beginnings;
    try {
      const key = await readKey(database, hash);
      if (beginning === beginnings) cache.keep(name, key);
      if (key !== null) noteUse?.(key.caller.secretId);
      return key;
    } finally {
      if (beginning === beginnings) running.delete(name);
    }
  };

  const begin = (hash: Buffer, name: string): LookUp => {
    const result = lookUp(hash, name);
    return cache.mayBeStale(name)
      ? { result, late: delay(LATE_MS, null, { ref: false }) }
      : { result, late: new Promise(() => undefined) };
  };

  const resolve = (apiKey: string): KnownKey | null | Promise<KnownKey | null> => {
    const name = hashNameOf(apiKey);
    const cached = cache.get(name);
    if (cached !== undefined) return cached;
    const lookingUp = running.get(name) ?? begin(hashApiKey(apiKey), name);
    running.set(name, lookingUp);
    return answerOf(lookingUp, name, cache);
  };

  const callerOf = (key: KnownKey | null): ApiCaller | null => {
    const isExpired = key !== null && key.expiresAt !== null && key.expiresAt <= clock.now();
    return isExpired ? null : (key?.caller ?? null);
  };

  return {
    forget: () => {
      beginnings += 1;
      cache.clear();
      running.clear();
    },
    wasFound: (apiKey) => cache.wasFound(hashNameOf(apiKey)),
    find: (apiKey) => {
      if (!isApiKey(apiKey)) return null;
      const key = resolve(apiKey);
      return key instanceof Promise ? key.then(callerOf) : callerOf(key);
    },
  };
}
