import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../contract/instant.js';
import type { Clock } from '../runtime/clock.js';
import { messageOf } from '../runtime/failure.js';
import type { Log } from '../runtime/log.js';
import { startRepeated } from '../runtime/repeated.js';
import type { Database } from './pool.js';
import { statement } from './statement.js';

/** Gathers when keys are used, and writes it beside the requests. */
export type KeyUses = {
  /** Costs a look at the clock: nothing is written on the way of a request. */
  readonly note: (secretId: string) => void;
  /** Writes what is gathered, and ends. */
  readonly stop: () => Promise<void>;
};

/** A key's last use is known this long after it; nobody needs it sooner. */
const WRITE_EVERY_MS = 10_000;
/** As note_keys_used() takes at once; what does not fit is written with the next use of the key. */
const KEYS_MAX = 1_000;

const noteKeysUsed = statement('note-keys-used', z.unknown());

/**
 * Writes `last_used_at` of keys every ten seconds. This is no job: each process writes what it has
 * in memory. A failed attempt is logged, and its uses are
 * dropped: the next use of a key is as good.
 */
export function startKeyUses(
  {
    database,
    clock,
    log,
  }: { readonly database: Database; readonly clock: Clock; readonly log: Log },
  everyMs = WRITE_EVERY_MS,
): KeyUses {
  let uses = new Map<string, InstantMs>();

  const write = async (): Promise<void> => {
    if (uses.size === 0) return;
    const used = [...uses];
    uses = new Map();
    const ids = sql.array(
      used.map(([id]) => id),
      'text',
    );
    const usedAt = sql.array(
      used.map(([, at]) => formatInstant(at)),
      'text',
    );
    await database.slonik.query(noteKeysUsed({ ids, usedAt }));
  };
  const failure = 'the last uses of API keys were not written';
  const stop = startRepeated({ failure, everyMs, firstDelayMs: everyMs, work: write, log });
  return {
    note: (secretId) => {
      if (uses.size < KEYS_MAX || uses.has(secretId)) uses.set(secretId, clock.now());
    },
    stop: async () => {
      await stop();
      await write().catch((error: unknown) => {
        log.warn({ error: messageOf(error) }, failure);
      });
    },
  };
}
