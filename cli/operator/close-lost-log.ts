import {
  endBatchesOfLostLog,
  listBegunBatches,
} from '../../aggregator/ownership/end-begun-batches.js';
import { endUseOfLog, isPostgresLog, readLogUse } from '../../sql/log-in-use.js';
import { VerbRefused } from '../stack/verb-refused.js';
import { batchStoresOf, type LogStores } from './log-stores.js';
import { refuseWhileAggregatorsLive } from './postgres-log.js';

/** @throws VerbRefused when the log is not lost, or when there is nothing to close. */
async function refuseUnlessLost({ database, log }: LogStores, lost: string): Promise<void> {
  const verb = `log close --lost ${lost}`;
  await refuseWhileAggregatorsLive(database.slonik, verb);
  if (lost === log.identity.logId) {
    throw new VerbRefused(`log ${lost} can be read: run \`minutebook log close\` without --lost`);
  }
  if (isPostgresLog(lost)) {
    throw new VerbRefused(
      `log ${lost} is in PostgreSQL, so it is not lost: run \`minutebook log close\` without ` +
        'KAFKA_BROKERS, or `minutebook log renew` when that says that the log has another id',
    );
  }
  const { inUse } = await readLogUse(database, lost);
  const begun = await listBegunBatches(database);
  if (inUse === lost || begun.some((batch) => batch.log === lost)) return;
  throw new VerbRefused(
    `log ${lost} is not in use, and no batch of it was begun: there is nothing to close`,
  );
}

/**
 * Ends a log that cannot be read any more, such as a deleted topic, so that another can take its
 * place (docs/operations.md 3.2). Batches are completed from the events that they have stored; the
 * records of one that has stored none are lost, and named as dead letters.
 * @returns how many batches were begun. @throws VerbRefused that says what to do instead.
 */
export async function closeLostLog(stores: LogStores, lost: string): Promise<number> {
  await refuseUnlessLost(stores, lost);
  const begun = await endBatchesOfLostLog(batchStoresOf(stores), lost);
  if ((await listBegunBatches(stores.database)).some(({ log }) => log === lost)) {
    throw new VerbRefused(
      `an aggregator took a partition of log ${lost} meanwhile: stop every aggregator and run ` +
        `\`minutebook log close --lost ${lost}\` again`,
    );
  }
  await endUseOfLog(stores.database.slonik, lost);
  return begun.length;
}
