import { HOUR_MS } from '../../../contract/instant.js';
import type { Clock } from '../../../runtime/clock.js';
import type { Log } from '../../../runtime/log.js';
import { removeExpiredKeys } from './idempotency-store.js';
import type { BillingDatabase } from '../../records/unit.js';

/** Soon after the start, so that programs that are restarted every hour remove keys as well. */
const FIRST_DELAY_MS = 10_000;
/** A batch of stored answers takes well below a second, and other statements come in between. */
const BATCH_ROWS = 1_000;

type RemovalDependencies = {
  readonly database: BillingDatabase;
  readonly clock: Clock;
  readonly log: Log;
};

/**
 * Removes stored answers of Idempotency-Keys that are older than 24 hours, soon after the start and
 * then once an hour, in batches, however many there are. An expired answer is never sent, even
 * before it is removed; this only keeps the table small. Safe in any number of processes.
 * @returns a function that stops it and waits for the batch in progress.
 */
export function startKeyRemoval(
  { database, clock, log }: RemovalDependencies,
  {
    firstDelayMs = FIRST_DELAY_MS,
    batchRows = BATCH_ROWS,
  }: { readonly firstDelayMs?: number; readonly batchRows?: number } = {},
): () => Promise<void> {
  let isStopping = false;
  let running: Promise<void> = Promise.resolve();

  const removeAll = async (): Promise<void> => {
    const now = clock.now();
    let removed = batchRows;
    while (removed === batchRows && !isStopping) {
      removed = await removeExpiredKeys(database, { now, rowsMax: batchRows });
    }
  };
  const remove = (): void => {
    running = removeAll().catch((error: unknown) => {
      log.warn({ err: error }, 'expired idempotency keys not removed; next attempt in an hour');
    });
  };
  const first = setTimeout(remove, firstDelayMs);
  const timer = setInterval(remove, HOUR_MS);
  first.unref();
  timer.unref();
  return () => {
    isStopping = true;
    clearTimeout(first);
    clearInterval(timer);
    return running;
  };
}
