import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { IdList } from './known-ids.js';
import { PreviousLogIds, type LimitReads } from './previous-log-ids.js';
import type { PreviousShard } from './previous-logs.js';

const IDS_OF_PARTITION = 1_000;
const CHUNK = 1_600;
const LIVING = new AbortController().signal;
const limit: LimitReads = async (work, signal) => (signal.aborted ? null : work());

/** The ids of one earlier log, 1,000 for each partition, and what was read of them. */
class EarlierLog {
  readonly partitions: readonly Buffer[];
  chunksRead = 0;
  idsRead = 0;
  /** What a read waits for before each chunk. */
  beforeChunk: () => Promise<void> = () => Promise.resolve();

  constructor(readonly partitionCount: number) {
    this.partitions = Array.from({ length: partitionCount }, () =>
      randomBytes(16 * IDS_OF_PARTITION),
    );
  }

  readonly ids = {
    ofPreviousLog: (shard: PreviousShard): IdList => {
      const of = 'log' in shard ? shard.partitions : [];
      const bytes = Buffer.concat(of.map((index) => this.partitions[index] ?? Buffer.alloc(0)));
      const log = this;
      return {
        count: () => Promise.resolve(bytes.length / 16),
        stream: async function* () {
          for (let at = 0; at < bytes.length; at += CHUNK) {
            await log.beforeChunk();
            log.chunksRead += 1;
            log.idsRead += CHUNK / 16;
            yield bytes.subarray(at, at + CHUNK);
          }
        },
      };
    },
  };

  /** Of a process whose log has so many partitions. */
  idsFor(partitionCount: number): PreviousLogIds {
    return new PreviousLogIds({
      falsePositiveRate: 0.0001,
      ids: this.ids,
      limit,
      keptBytesMax: 10_000_000,
      present: { log: 'now', partitionCount },
      previousLogs: () => Promise.resolve([{ log: 'before', partitionCount: this.partitionCount }]),
    });
  }

  known(ids: PreviousLogIds, partition: number, of: number): number {
    const bytes = this.partitions[of] ?? Buffer.alloc(0);
    let known = 0;
    for (let at = 0; at < bytes.length; at += 16) {
      if (ids.mayContain(partition, bytes, at)) known += 1;
    }
    return known;
  }
}

describe('the ids of earlier logs in a process', () => {
  it('are those of its own partitions, when both logs have as many', async () => {
    const log = new EarlierLog(12);
    const ids = log.idsFor(12);
    expect([await ids.refresh(3, LIVING), await ids.refresh(7, LIVING)]).toEqual([true, true]);
    expect(ids.size).toBe(2 * IDS_OF_PARTITION);
    expect(log.known(ids, 3, 3)).toBe(IDS_OF_PARTITION);
    expect(log.known(ids, 7, 7)).toBe(IDS_OF_PARTITION);
    expect(log.known(ids, 3, 7)).toBeLessThan(10);
  });

  it('are read and held once for partitions that need the same ones', async () => {
    const log = new EarlierLog(4);
    const ids = log.idsFor(9);
    await Promise.all([0, 5, 8].map((partition) => ids.refresh(partition, LIVING)));
    expect([ids.size, log.idsRead]).toEqual([4 * IDS_OF_PARTITION, 4 * IDS_OF_PARTITION]);
    for (const of of [0, 1, 2, 3]) expect(log.known(ids, 5, of)).toBe(IDS_OF_PARTITION);
  });

  it('are read no further once no partition waits for them', async () => {
    const log = new EarlierLog(4);
    const ids = log.idsFor(9);
    const [first, second] = [new AbortController(), new AbortController()];
    log.beforeChunk = async () => {
      if (log.chunksRead === 3) first.abort();
      if (log.chunksRead === 5) second.abort();
      await new Promise(setImmediate);
    };
    const waiting = [ids.refresh(0, first.signal), ids.refresh(1, second.signal)];
    expect(await Promise.all(waiting)).toEqual([false, false]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(log.chunksRead).toBeLessThan(10);
    log.beforeChunk = () => Promise.resolve();
    expect(await ids.refresh(0, LIVING)).toBe(true);
    expect(log.known(ids, 0, 2)).toBe(IDS_OF_PARTITION);
  });

  it('go on being read for a partition that still waits', async () => {
    const log = new EarlierLog(4);
    const ids = log.idsFor(9);
    const first = new AbortController();
    log.beforeChunk = async () => {
      if (log.chunksRead === 3) first.abort();
      await new Promise(setImmediate);
    };
    const waiting = [ids.refresh(0, first.signal), ids.refresh(1, LIVING)];
    expect(await Promise.all(waiting)).toEqual([false, true]);
    expect(log.idsRead).toBe(4 * IDS_OF_PARTITION);
  });

  it('are kept for a while when their partition is given up, and held no more', async () => {
    const log = new EarlierLog(12);
    const ids = log.idsFor(12);
    await ids.refresh(3, LIVING);
    ids.release(3);
    expect([ids.size, log.known(ids, 3, 3)]).toEqual([0, 0]);
    await ids.refresh(3, LIVING);
    expect([ids.size, log.idsRead]).toEqual([IDS_OF_PARTITION, IDS_OF_PARTITION]);
  });

  it('are not complete when reading them fails', async () => {
    const log = new EarlierLog(12);
    const ids = log.idsFor(12);
    log.beforeChunk = () => Promise.reject(new Error('the server failed'));
    await expect(ids.refresh(3, LIVING)).rejects.toThrow('the server failed');
    log.beforeChunk = () => Promise.resolve();
    expect(await ids.refresh(3, LIVING)).toBe(true);
  });
});
