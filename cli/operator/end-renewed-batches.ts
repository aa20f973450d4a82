import { sql } from 'slonik';
import { z } from 'zod';
import {
  endBatchesOfRenewedLog,
  listBegunBatches,
} from '../../aggregator/ownership/end-begun-batches.js';
import { isPostgresLog } from '../../sql/log-in-use.js';
import type { Database } from '../../sql/pool.js';
import { batchStoresOf, type LogStores } from './log-stores.js';

const presentLog = sql.type(z.object({ log_id: z.string() }))`SELECT log_id FROM event_logs`;

/** Whether a batch was begun on the log in PostgreSQL under an id that it has no more. */
export async function hasRenewedBatches(database: Database): Promise<boolean> {
  const logId = (await database.slonik.maybeOne(presentLog))?.log_id;
  const begun = await listBegunBatches(database);
  return begun.some(({ log }) => isPostgresLog(log) && log !== logId);
}

/**
 * Ends the batches that were begun on the log in PostgreSQL under earlier ids. Under its present id
 * all that it holds is read again, so nothing is lost.
 * @throws DependencyError when a store fails; AssertionFailed when the stores contradict one
 *   another.
 */
export async function endRenewedBatches(
  stores: Pick<LogStores, 'database' | 'clickhouse' | 'logger'>,
): Promise<void> {
  const present = await stores.database.slonik.maybeOne(presentLog);
  if (present !== null) await endBatchesOfRenewedLog(batchStoresOf(stores), present.log_id);
}
