import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { completeStoredBatches } from '../../aggregator/ownership/end-begun-batches.js';
import { integerColumn } from '../../sql/columns.js';
import { endUseOfLog, readLogUse } from '../../sql/log-in-use.js';
import { statement } from '../../sql/statement.js';
import { VerbRefused } from '../stack/verb-refused.js';
import { batchStoresOf, type LogStores } from './log-stores.js';
import { endPostgresLog, refuseWhileAggregatorsLive, stillUncounted } from './postgres-log.js';

const positionRow = z.object({
  partition: z.number(),
  next_offset: integerColumn,
  intent_end: integerColumn.nullable(),
});
const listPositions = statement('list-positions', positionRow);

/** A program that still writes to the topic shows itself within this time, if events come. */
const WATCH_MS = 2_000;

export type ClosedLog = {
  readonly logId: string;
  readonly partitions: number;
  /** Batches that were begun, and completed now. */
  readonly completed: number;
  /** A topic cannot be barred from writers. */
  readonly isInKafka: boolean;
};

type Progress = {
  /** Records that no batch has reached. */
  readonly waiting: number;
  /** Partitions with a batch that was begun and not finished. */
  readonly begun: readonly number[];
};

/** How far each partition is counted; one that no aggregator has seen yet is not in it. */
export async function readPositions({
  database,
  log,
}: Pick<LogStores, 'database' | 'log'>): Promise<
  ReadonlyMap<number, z.output<typeof positionRow>>
> {
  const rows = await database.slonik.any(listPositions({ log: log.identity.logId }));
  return new Map(rows.map((row) => [row.partition, row]));
}

async function readProgress(stores: LogStores): Promise<Progress> {
  const { log } = stores;
  const positions = await readPositions(stores);
  let waiting = 0;
  for (let partition = 0; partition < log.identity.partitionCount; partition += 1) {
    const { startOffset, endOffset } = await log.bounds(partition);
    const position = positions.get(partition);
    const reached = position?.intent_end ?? position?.next_offset ?? startOffset;
    waiting += Math.max(0, endOffset - reached);
  }
  const begun = [...positions.values()].filter(({ intent_end: end }) => end !== null);
  return { waiting, begun: begun.map(({ partition }) => partition) };
}

/** @returns partitions with a begun batch. @throws VerbRefused when a record is not counted. */
async function refuseUncounted(stores: LogStores): Promise<readonly number[]> {
  const { waiting, begun } = await readProgress(stores);
  if (waiting > 0) throw stillUncounted(waiting);
  return begun;
}

async function completeBegun(stores: LogStores, begun: readonly number[]): Promise<void> {
  await completeStoredBatches(batchStoresOf(stores), stores.log.identity.logId);
  if (begun.length === 0) return;
  const left = await refuseUncounted(stores);
  if (left.length === 0) return;
  throw new VerbRefused(
    `partition ${left.join(', ')} has a batch that was begun and of which no event is stored: start an ` +
      'aggregator with the settings of this log until minutebook_partition_lag_records is 0, stop ' +
      'it, and run `minutebook log close` again',
  );
}

/** What the programs have in use may hold records that wait to be counted. */
async function refuseUnlessInUse({ database, log }: LogStores): Promise<void> {
  const { logId } = log.identity;
  const { inUse } = await readLogUse(database, logId);
  if (inUse === null || inUse === logId) return;
  throw new VerbRefused(
    `log ${inUse} is in use, and these settings are of log ${logId}: run \`minutebook log close\` with ` +
      `the settings of log ${inUse}; if it cannot be read any more, and never will, run ` +
      `\`minutebook log close --lost ${inUse}\``,
  );
}

/**
 * Ends the log of the settings before another takes its place (docs/operations.md 3.2): every
 * record of it is counted, every batch that was begun is complete, and nobody can add to it unseen.
 * @throws VerbRefused that says what is missing; nothing is lost then, and it can be repeated.
 */
export async function closeLog(stores: LogStores): Promise<ClosedLog> {
  const { config, database, log } = stores;
  await refuseWhileAggregatorsLive(database.slonik, 'log close');
  await refuseUnlessInUse(stores);
  const isInKafka = config.KAFKA_BROKERS !== undefined;
  const begun = await refuseUncounted(stores);
  await completeBegun(stores, begun);
  if (!isInKafka) await endPostgresLog(database);
  else {
    // Kafka has no lock, so a program that still writes can only be seen by what it writes.
    await delay(WATCH_MS);
    await refuseUncounted(stores);
    await refuseWhileAggregatorsLive(database.slonik, 'log close');
    await endUseOfLog(database.slonik, log.identity.logId);
  }
  const { logId, partitionCount: partitions } = log.identity;
  return { logId, partitions, completed: begun.length, isInKafka };
}
