import { FOLD_VERSION } from '../../aggregator/fold/fold-version.js';
import {
  createCheckpointStore,
  type CheckpointStore,
} from '../../aggregator/checkpoints/checkpoint-store.js';
import {
  completeStoredBatches,
  endLostBatch,
  type BatchStores,
} from '../../aggregator/ownership/end-begun-batches.js';
import { VerbRefused } from '../stack/verb-refused.js';
import { readPositions } from './close-log.js';
import { batchStoresOf, type LogStores } from './log-stores.js';
import { refuseWhileAggregatorsLive } from './postgres-log.js';

/** Records `[from, to)` of a partition that are given up. */
export type AcceptedGap = {
  readonly partition: number;
  readonly from: number;
  readonly to: number;
};

type Place = LogStores & {
  readonly stores: BatchStores;
  readonly checkpoints: CheckpointStore;
};

const READ_RECORDS = 1_000;
const READ_BYTES = 4_000_000;
const READ_WAIT_MS = 1_000;

const EMPTY_READS_MAX = 30;

/** Records of a batch that ends empty, and which the log still holds, are counted as later ones. */
async function appendAgain(
  { log, openWriter }: Place,
  { partition, from, to }: AcceptedGap,
): Promise<void> {
  const writer = await openWriter();
  let emptyReads = 0;
  for (let next = from; next < to;) {
    const bounds = { recordsMax: Math.min(READ_RECORDS, to - next), bytesMax: READ_BYTES };
    const read = { partition, fromOffset: next, ...bounds, waitMs: READ_WAIT_MS };
    const found = await log.read(read);
    const last = found.at(-1);
    if (last === undefined) {
      emptyReads += 1;
      if (emptyReads < EMPTY_READS_MAX) continue;
      throw new VerbRefused(
        `record ${next} of partition ${partition} cannot be read: run the command again when the log answers`,
      );
    }
    // The offsets of a log may have holes, so that a read may go beyond the end.
    const records = found.filter(({ offset }) => offset < to);
    // Its key only chooses the partition, which is known; an id that was counted counts no more.
    await writer.append(records.map(({ value }) => ({ partition, key: 'again', value })));
    next = last.offset + 1;
  }
}

/** The batch that was begun: completed from what it stored, or given up with what is gone of it. */
async function endBegun(place: Place, partition: number, start: number): Promise<void> {
  const { logId } = place.log.identity;
  await completeStoredBatches(place.stores, logId);
  const { intent, nextOffset: from } = await place.checkpoints.read(partition);
  if (intent === null) return;
  if (start < intent.end) await appendAgain(place, { partition, from: start, to: intent.end });
  const lost = { from, to: Math.min(start, intent.end) };
  await endLostBatch(place.stores, { log: logId, partition }, lost);
}

/** Goes on at the first record that the log holds, by an empty batch over those that are gone. */
async function skip(place: Place, gap: AcceptedGap): Promise<void> {
  const { partition, from, to } = gap;
  const { checkpoints, stores } = place;
  const { epoch, minVersion } = await checkpoints.read(partition);
  const { version: catalogVersion } = await stores.catalog.latest(minVersion);
  const intent = { end: to, catalogVersion, foldVersion: FOLD_VERSION, digest: 'an accepted gap' };
  const batch = { partition, epoch, start: from, intent, isReplacement: false };
  const intended = await checkpoints.intend([batch]);
  if (!intended.has(partition)) {
    throw new VerbRefused(`partition ${partition} has changed meanwhile: run the command again`);
  }
  await endLostBatch(stores, { log: place.log.identity.logId, partition }, { from, to });
}

/**
 * Goes on behind records that the log has lost before they were counted (docs/operations.md 8,
 * `log_start_beyond_checkpoint`). They are listed among the dead letters. It can be repeated when
 * it was cut short.
 * @returns what was given up. @throws VerbRefused while an aggregator lives, or when the partition
 *   has no gap.
 */
export async function acceptGap(stores: LogStores, partition: number): Promise<AcceptedGap> {
  const { database, log } = stores;
  await refuseWhileAggregatorsLive(database.slonik, `log accept-gap ${partition}`);
  const { logId, partitionCount } = log.identity;
  if (partition >= partitionCount) {
    throw new VerbRefused(`the log has the partitions 0 to ${partitionCount - 1}`);
  }
  const batches = batchStoresOf(stores);
  const { memberId } = batches;
  const checkpoints = createCheckpointStore(database, { log: logId, memberId });
  const place = { ...stores, stores: batches, checkpoints };
  const { startOffset: to } = await log.bounds(partition);
  const from = (await readPositions(stores)).get(partition)?.next_offset ?? to;
  if (from >= to) throw new VerbRefused(`partition ${partition} has no gap: nothing was changed`);
  const { intent } = await checkpoints.read(partition);
  if (intent !== null) await endBegun(place, partition, to);
  const { nextOffset } = await checkpoints.read(partition);
  if (nextOffset < to) await skip(place, { partition, from: nextOffset, to });
  return { partition, from, to };
}
