import { z } from 'zod';
import { createCheckpointStore } from '../../aggregator/checkpoints/checkpoint-store.js';
import { takeForOperator, type Taken } from '../../aggregator/ownership/end-begun-batches.js';
import type { Presence } from '../../aggregator/protocol/state.js';
import { assertPresent } from '../../runtime/failure.js';
import { integerColumn } from '../../sql/columns.js';
import { statement } from '../../sql/statement.js';
import { VerbRefused } from '../stack/verb-refused.js';
import { batchStoresOf, type LogStores } from './log-stores.js';
import { refuseWhileAggregatorsLive } from './postgres-log.js';

/** Records `[from, to)` of a partition, of which these events are stored. */
export type TakenOver = { readonly from: number; readonly to: number; readonly events: number };

const skipUsedGenerations = statement('skip-used-generations', z.unknown());
const greatestRow = z.object({ found: integerColumn });

/** What is written is not what whole batches have written, so it cannot be taken over. */
function incomplete(partition: number, what: string): VerbRefused {
  return new VerbRefused(
    `partition ${partition} was not changed: ${what}. Restore PostgreSQL and ClickHouse to one ` +
      'moment (docs/operations.md 8)',
  );
}

type Found = {
  readonly from: number;
  readonly to: number;
  /** Where the batches that PostgreSQL knows end. */
  readonly known: number;
  readonly logEnd: number;
  readonly rowsBehind: number;
  readonly stored: Presence;
};

/** What is not complete of `[from, to)`; null when all of it is. */
function missingOf({ from, to, known, logEnd, rowsBehind, stored }: Found): string | null {
  if (to <= known) {
    return `events are stored from record ${from} on, but the usage of no batch beyond ${to}`;
  }
  const records = `records ${from} to ${to - 1}`;
  if (rowsBehind > 0) {
    return `${records} are complete, but events or ids of the next batch are stored without usage`;
  }
  if (stored.ids !== stored.events) {
    return `${stored.events} events but ${stored.ids} ids are stored of ${records}`;
  }
  if (stored.marker !== 1) return `the usage of ${records} is not written once`;
  return logEnd < to ? `the log ends at record ${logEnd}, before the batches (${to})` : null;
}

/**
 * The batches beyond the checkpoint, once they are found to be complete; null for none. Usage is
 * written last, so its marker says how far; events and ids must be as many, with nothing behind
 * them.
 */
async function completeBeyond(
  { writer, checkpoint }: Taken,
  { partition, logEnd }: { readonly partition: number; readonly logEnd: number },
): Promise<TakenOver | null> {
  const { nextOffset: from, intent } = checkpoint;
  const { rowsBeyond } = await writer.inspect(checkpoint);
  if (rowsBeyond === 0) return null;
  const to = await writer.markerEnd();
  const lastBatch = { start: from, rows: 0, erased: 0, appendedAtMs: null };
  const moved = { ...checkpoint, nextOffset: to, intent: null, lastBatch };
  const { rowsBeyond: rowsBehind, lastBatch: found } = await writer.inspect(moved);
  const stored = assertPresent(found, 'what is stored of the batches');
  const known = intent?.end ?? from;
  const missing = missingOf({ from, to, known, logEnd, rowsBehind, stored });
  if (missing !== null) throw incomplete(partition, missing);
  return { from, to, events: stored.events };
}

/** PostgreSQL may have lost that it gave a generation, too. */
async function skipGenerations({ database, clickhouse }: LogStores): Promise<void> {
  const select = 'SELECT max(generation) AS found FROM usage_minute_v1';
  const [row] = await clickhouse.query(select, {}, greatestRow);
  await database.slonik.query(skipUsedGenerations({ greatest: row?.found ?? 0 }));
}

async function takeOverOne(stores: LogStores, partition: number): Promise<TakenOver | null> {
  const { database, log } = stores;
  const { logId } = log.identity;
  const batches = batchStoresOf(stores);
  const taken = await takeForOperator(batches, { log: logId, partition });
  // No aggregator has seen the partition yet.
  if (taken === null) return null;
  const { endOffset: logEnd } = await log.bounds(partition);
  const found = await completeBeyond(taken, { partition, logEnd });
  if (found === null) return null;
  await skipGenerations(stores);
  const { epoch } = taken.checkpoint;
  const { from: start, to: end, events: rows } = found;
  const checkpoints = createCheckpointStore(database, { log: logId, memberId: batches.memberId });
  const batch = { partition, epoch, start, end, rows, appendedAtMs: null };
  if (await checkpoints.takeOver(batch)) return found;
  throw incomplete(
    partition,
    'a meter was made or changed since the last batch that PostgreSQL knows, and nobody can tell ' +
      `whether records ${start} to ${end - 1} are counted on it`,
  );
}

/**
 * Takes over batches that ClickHouse holds whole and of which PostgreSQL has lost the checkpoint,
 * as in a failover to a standby without its last commits (docs/operations.md 8,
 * `rows_beyond_checkpoint`). A partition with nothing beyond its checkpoint stays as it is.
 * @returns what was taken over, by partition. @throws VerbRefused while an aggregator lives; and
 *   when something is not complete, after the other partitions were taken over: its message has a
 *   line for each such partition, which stays as it is.
 */
export async function takeOver(stores: LogStores): Promise<ReadonlyMap<number, TakenOver>> {
  const { database, log } = stores;
  await refuseWhileAggregatorsLive(database.slonik, 'log take-over');
  const done = new Map<number, TakenOver>();
  const refused: string[] = [];
  for (let partition = 0; partition < log.identity.partitionCount; partition += 1) {
    try {
      const found = await takeOverOne(stores, partition);
      if (found !== null) done.set(partition, found);
    } catch (error) {
      if (!(error instanceof VerbRefused)) throw error;
      refused.push(error.message);
    }
  }
  if (refused.length === 0) return done;
  const others = [...done.keys()];
  if (others.length > 0) refused.push(`partitions ${others.join(', ')} were taken over`);
  throw new VerbRefused(refused.join('\n'));
}
