import { HOUR_MS } from '../../../contract/instant.js';
import type { Clock } from '../../../runtime/clock.js';
import type { Log } from '../../../runtime/log.js';
import { removeExpiredKeys } from './idempotency-store.js';
import type { BillingDatabase } from '../../records/unit.js';

/**
 * Removes stored answers of Idempotency-Keys that are older than 24 hours, once an hour. An expired
 * answer is never sent, even before it is removed; this only keeps the table small. Safe in any
 * number of processes.
 * @returns a function that stops it and waits for a removal in progress.
 */
export function startKeyRemoval(dependencies: {
  readonly database: BillingDatabase;
  readonly clock: Clock;
  readonly log: Log;
}): () => Promise<void> {
  const { database, clock, log } = dependencies;
  let running: Promise<void> = Promise.resolve();
  const remove = (): void => {
    running = removeExpiredKeys(database, clock.now()).catch((error: unknown) => {
      log.warn({ err: error }, 'expired idempotency keys not removed; next attempt in an hour');
    });
  };
  const timer = setInterval(remove, HOUR_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    return running;
  };
}
