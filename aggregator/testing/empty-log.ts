import { setTimeout as delay } from 'node:timers/promises';
import type { EventLogReader } from '../../event-log/interface/event-log.js';
import { PARTITIONS } from './aggregator-world.js';

/** A log of another place that holds nothing, as a process finds it that has wrong settings. */
export function emptyLog(logId: string): EventLogReader {
  return {
    identity: { logId, partitionCount: PARTITIONS },
    read: async ({ waitMs, signal }) => {
      await delay(waitMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
      return [];
    },
    bounds: () => Promise.resolve({ startOffset: 0, endOffset: 0 }),
    ends: () => Promise.resolve(Array.from({ length: PARTITIONS }, () => 0)),
    commit: () => Promise.resolve(),
    release: () => Promise.resolve(),
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
