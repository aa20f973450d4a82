import type { Environment } from '../../contract/environment.js';
import { decodeRecordParts } from '../../contract/records/record-parts.js';
import type { EventRecord } from '../../contract/usage-event.js';
import {
  OffsetOutOfRange,
  type EventLogReader,
  type LogIdentity,
} from '../../event-log/interface/event-log.js';
import { DependencyError } from '../../runtime/failure.js';
import { FairQueue, type FairQueueLimits } from '../../runtime/fair-queue.js';
import type { Checkpoints } from '../usage/watermark/checkpoints.js';
import type { LazyEventLog } from '../usage/watermark/log-access.js';
import type { EventPosition } from './event-positions.js';

/** What one answer may read of the log: half a second of a busy one, some seconds of decoding. */
export type ScanLimits = {
  readonly recordsMax: number;
  readonly bytesMax: number;
  readonly durationMs: number;
};
const LIMITS: ScanLimits = {
  recordsMax: 50_000,
  bytesMax: 64 * 1024 * 1024,
  durationMs: 5_000,
};
/**
 * Scans of one environment that wait, and how long: a scan waits for at most one of each other
 * environment before its own turn, so an environment delays another by one scan, however many it
 * sends.
 */
const QUEUE: FairQueueLimits = {
  runningMax: 1,
  runningPerKeyMax: 1,
  waitingPerKeyMax: 4,
  waitMsMax: 10_000,
};
const READ_BYTES_MAX = 4 * 1024 * 1024;
const READ_WAIT_MS = 1_000;

/** A record that is not finished, with where it stands; undecodable ones are left out. */
export type PendingRecord = {
  readonly place: Omit<EventPosition, 'index'>;
  readonly record: EventRecord;
  /** Position of its first event inside the value of the log, which may hold several records. */
  readonly firstIndex: number;
};

export type ScanEnd = 'complete' | 'lag-too-large';

/** The part of the log that the aggregator has not finished. */
export type PendingLog = {
  readonly identity: () => Promise<LogIdentity>;
  /** Records between the checkpoints and the ends of all partitions. @throws DependencyError. */
  readonly lag: (checkpoints: Checkpoints) => Promise<number>;
  /**
   * Shows the records of one environment at or above the checkpoints, of one partition or of all.
   * @returns `lag-too-large` when there is more than one answer may read; what was shown is a part.
   * @throws DependencyError when the log cannot be read; NotBegun when too many scans wait.
   */
  readonly scan: (range: ScanRange, show: (pending: PendingRecord) => void) => Promise<ScanEnd>;
};

/** What a scan reads, and on whose behalf. */
export type ScanRange = {
  readonly environment: Environment;
  readonly checkpoints: Checkpoints;
  readonly partition: number | null;
};

type Range = { readonly partition: number; readonly from: number; readonly end: number };

async function rangeOf(
  reader: EventLogReader,
  checkpoints: Checkpoints,
  partition: number,
): Promise<Range> {
  const { startOffset, endOffset } = await reader.bounds(partition);
  const from = checkpoints.nextOffset(reader.identity.logId, partition) ?? startOffset;
  // Retention never overtakes a checkpoint; a lower start means that there is nothing to skip.
  return { partition, from: Math.max(from, startOffset), end: endOffset };
}

function allRanges(reader: EventLogReader, checkpoints: Checkpoints): Promise<Range[]> {
  const partitions = Array.from({ length: reader.identity.partitionCount }, (_, index) => index);
  return Promise.all(partitions.map((partition) => rangeOf(reader, checkpoints, partition)));
}

const lengthOf = ({ from, end }: Range): number => Math.max(0, end - from);

type Budget = { bytes: number; readonly deadlineMs: number; readonly bytesMax: number };

/** Reads one range to its end; false when the budget is used up before. */
async function scanRange(
  reader: EventLogReader,
  range: Range,
  to: { readonly budget: Budget; readonly show: (pending: PendingRecord) => void },
): Promise<boolean> {
  const { partition, end } = range;
  const { logId } = reader.identity;
  let { from } = range;
  while (from < end) {
    if (to.budget.bytes > to.budget.bytesMax || performance.now() > to.budget.deadlineMs) {
      return false;
    }
    const records = await reader.read({
      partition,
      fromOffset: from,
      recordsMax: end - from,
      bytesMax: READ_BYTES_MAX,
      waitMs: READ_WAIT_MS,
    });
    for (const { offset, value } of records) {
      if (offset >= end) break;
      to.budget.bytes += value.length;
      // What cannot be decoded holds no event; the aggregator makes it a dead letter.
      let firstIndex = 0;
      for (const record of decodeRecordParts(value).parts) {
        to.show({ place: { logId, partition, offset }, record, firstIndex });
        firstIndex += record.events.length;
      }
    }
    from = (records.at(-1)?.offset ?? from - 1) + 1;
  }
  return true;
}

/** A position outside the log: retention or another log than the checkpoints speak of. */
function outageOf(error: unknown): unknown {
  if (!(error instanceof OffsetOutOfRange)) return error;
  const facts = { dependency: 'event-log', isRetryable: false, cause: error } as const;
  return new DependencyError(error.message, facts);
}

const isOf = (record: EventRecord, { tenantId, environmentId }: Environment): boolean =>
  record.environment.tenantId === tenantId && record.environment.environmentId === environmentId;

/**
 * Reads what is pending, one scan at a time, since a reader has one position a partition. The
 * tenants take turns.
 */
export function createPendingLog(eventLog: LazyEventLog, limits: ScanLimits = LIMITS): PendingLog {
  const queue = new FairQueue(QUEUE);

  const scanAll = async (
    reader: EventLogReader,
    ranges: readonly Range[],
    show: (pending: PendingRecord) => void,
  ): Promise<ScanEnd> => {
    const { recordsMax, bytesMax, durationMs } = limits;
    const records = ranges.reduce((sum, range) => sum + lengthOf(range), 0);
    if (records > recordsMax) return 'lag-too-large';
    const budget = { bytes: 0, deadlineMs: performance.now() + durationMs, bytesMax };
    for (const range of ranges) {
      if (lengthOf(range) === 0) continue;
      try {
        if (!(await scanRange(reader, range, { budget, show }))) return 'lag-too-large';
      } catch (error) {
        throw outageOf(error);
      } finally {
        await reader.release(range.partition);
      }
    }
    return 'complete';
  };

  return {
    identity: async () => (await eventLog.reader()).identity,
    lag: async (checkpoints) => {
      const ranges = await allRanges(await eventLog.reader(), checkpoints);
      return ranges.reduce((sum, range) => sum + lengthOf(range), 0);
    },
    scan: ({ environment, checkpoints, partition }, show) =>
      queue.run(environment.tenantId, async () => {
        const reader = await eventLog.reader();
        const ranges =
          partition === null
            ? await allRanges(reader, checkpoints)
            : [await rangeOf(reader, checkpoints, partition)];
        return scanAll(reader, ranges, (pending) => {
          if (isOf(pending.record, environment)) show(pending);
        });
      }),
  };
}
