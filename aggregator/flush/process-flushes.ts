import type { ClickHouse } from '../../clickhouse/client.js';
import type { EventLogReader } from '../../event-log/interface/event-log.js';
import type { CatalogReader } from '../gather/catalog.js';
import { boundsOfPartition, type FlushLimits } from '../gather/gather-bounds.js';
import { ReadAhead } from '../gather/read-ahead.js';
import type { CheckpointStore } from '../checkpoints/checkpoint-store.js';
import { FlushMember } from './flush-member.js';
import { Flusher } from './flusher.js';
import { createWriteTogether } from './write-together.js';

type Sources = {
  readonly log: Pick<EventLogReader, 'read'>;
  readonly catalog: Pick<CatalogReader, 'latest'>;
  readonly checkpoints: CheckpointStore;
  readonly clickhouse: ClickHouse;
  readonly limits: FlushLimits;
  /** How many partitions this process runs now; they share the limits. */
  readonly partitionsRunning: () => number;
};

/** What the partitions of one process read and write together. */
export function createProcessFlushes(sources: Sources) {
  const { log, catalog, limits, partitionsRunning } = sources;
  const writeTogether = createWriteTogether(sources);
  const { flushDelayMs } = limits;
  const flusher = new Flusher({ catalog, flushDelayMs, writeTogether });
  return {
    /** The part of a partition, until the signal aborts. */
    memberOf: (partition: number, signal: AbortSignal): FlushMember => {
      const ahead = new ReadAhead({
        partition,
        log,
        bounds: () => boundsOfPartition(limits.eventsMax, partitionsRunning()),
        onChange: () => {
          flusher.reconsider();
        },
      });
      return new FlushMember({ partition, flusher, ahead, writeTogether, signal });
    },
  };
}
