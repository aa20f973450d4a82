import { z } from 'zod';
import { HOUR_MS } from '../../contract/instant.js';
import { defineJob } from '../../sql/jobs/job.js';
import { removeExpiredKeys } from '../edge/idempotency/idempotency-store.js';

/** A batch of stored answers takes well below a second, and other jobs come in between. */
const BATCH_ROWS = 1_000;

/**
 * Removes stored answers of Idempotency-Keys that are older than 24 hours: once an hour, in
 * batches, however many there are. An expired answer is never sent, even before it is removed; this
 * only keeps the table small.
 */
export const REMOVE_EXPIRED_KEYS = defineJob({
  name: 'remove-expired-keys',
  schedule: { everyMs: HOUR_MS },
  input: z.object({}),
  inTransaction: async (tx, { run }) => {
    const removed = await removeExpiredKeys(tx, { now: run.now, rowsMax: BATCH_ROWS });
    return { hasMore: removed === BATCH_ROWS };
  },
});
