import { describe, expect, it } from 'vitest';
import { encodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import {
  OffsetOutOfRange,
  type LogRecord,
  type ReadRequest,
} from '../../event-log/interface/event-log.js';
import type { DecodedRecord } from '../fold/candidate.js';
import { boundsOfPartition, charactersOfPartition } from './gather-bounds.js';
import { ReadAhead } from './read-ahead.js';

const event = (eventId: string): UsageEvent => ({
  eventId,
  eventName: 'request',
  externalCustomerId: 'acme',
  customerId: null,
  source: '',
  timestampMs: 60_000,
  isTimestampGiven: true,
  properties: {},
});

function recordAt(offset: number, events: number): LogRecord {
  const value = encodeEventRecord({
    environment: { tenantId: 't', environmentId: 'e' },
    receivedAtMs: 7,
    events: Array.from({ length: events }, (_, index) => event(`${offset}-${index}`)),
  });
  return { offset, appendedAtMs: 9, value };
}

/** A log in memory, to which records can be appended while it is read. */
class MemoryLog {
  readonly handedOut: number[] = [];
  failure: Error | null = null;
  #records: LogRecord[] = [];
  #wake: () => void = () => undefined;

  /** A record with as many events as each number says. */
  append(...eventCounts: readonly number[]): void {
    for (const count of eventCounts) this.#records.push(recordAt(this.#records.length, count));
    this.#wake();
  }

  fail(failure: Error): void {
    this.failure = failure;
    this.#wake();
  }

  read = async (request: ReadRequest): Promise<readonly LogRecord[]> => {
    const { fromOffset, recordsMax, waitMs, signal } = request;
    if (this.#records.length <= fromOffset && waitMs > 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal?.addEventListener('abort', () => {
          resolve();
        });
      });
    }
    const { failure } = this;
    this.failure = null;
    if (failure !== null) throw failure;
    const given = this.#records.slice(fromOffset, fromOffset + recordsMax);
    this.handedOut.push(...given.map(({ offset }) => offset));
    return given;
  };
}

function readAhead(log: MemoryLog, eventsMax: number) {
  let changes = 0;
  const ahead = new ReadAhead({
    partition: 0,
    log,
    bounds: () => ({ eventsMax, bytesMax: 1_000_000 }),
    onChange: () => (changes += 1),
  });
  return { ahead, changed: (times: number) => expect.poll(() => changes).toBe(times) };
}

const offsetsOf = (records: readonly DecodedRecord[]) => records.map(({ offset }) => offset);

describe('reading ahead', () => {
  it('ends before the record that would be too much, and asks the log for no more', async () => {
    const log = new MemoryLog();
    log.append(4, 4, 4, 4);
    const { ahead, changed } = readAhead(log, 11);
    await ahead.seek(0);
    await changed(1);
    expect(ahead.isFull).toBe(true);
    expect(offsetsOf(ahead.take())).toEqual([0, 1]);
    await changed(2);
    expect(log.handedOut).toEqual([0, 1, 2, 3]);
    expect(offsetsOf(ahead.take())).toEqual([2, 3]);
    await ahead.stop();
  });

  it('takes a first record of any size', async () => {
    const log = new MemoryLog();
    log.append(20, 1);
    const { ahead, changed } = readAhead(log, 12);
    await ahead.seek(0);
    await changed(1);
    expect(offsetsOf(ahead.take())).toEqual([0]);
    await ahead.stop();
  });

  it('waits for a first record, and adds later ones when it is refreshed', async () => {
    const log = new MemoryLog();
    const { ahead, changed } = readAhead(log, 100);
    await ahead.seek(0);
    expect(ahead.isReady).toBe(false);
    log.append(1);
    await changed(1);
    expect(ahead.isReady).toBe(true);
    expect(ahead.isFull).toBe(false);
    log.append(1, 1);
    await ahead.refresh();
    expect(offsetsOf(ahead.take())).toEqual([0, 1, 2]);
    await ahead.stop();
  });

  it('gives the records again that a batch has left over, before later ones', async () => {
    const log = new MemoryLog();
    log.append(1, 1, 1);
    const { ahead, changed } = readAhead(log, 100);
    await ahead.seek(0);
    await changed(1);
    await ahead.refresh();
    expect(offsetsOf(ahead.take())).toEqual([0, 1, 2]);
    log.append(1);
    await changed(3);
    await ahead.seek(1);
    expect(offsetsOf(ahead.take())).toEqual([1, 2, 3]);
    await ahead.seek(4);
    expect(ahead.isReady).toBe(false);
    expect(log.handedOut).toEqual([0, 1, 2, 3]);
    await ahead.stop();
  });

  it('reads anew from another offset after it was stopped', async () => {
    const log = new MemoryLog();
    log.append(1, 1, 1);
    const { ahead, changed } = readAhead(log, 100);
    await ahead.seek(0);
    await changed(1);
    await ahead.refresh();
    expect(offsetsOf(ahead.take())).toEqual([0, 1, 2]);
    await ahead.stop();
    await ahead.seek(1);
    await expect.poll(() => ahead.isReady).toBe(true);
    await ahead.refresh();
    expect(offsetsOf(ahead.take())).toEqual([1, 2]);
    await ahead.stop();
  });

  it('tells of a failed read once, and then reads on', async () => {
    const log = new MemoryLog();
    const { ahead, changed } = readAhead(log, 100);
    await ahead.seek(0);
    const failure = new OffsetOutOfRange(0, 0, { startOffset: 5, endOffset: 9 });
    log.fail(failure);
    await changed(1);
    expect(() => ahead.take()).toThrow(failure);
    log.append(1);
    await ahead.seek(0);
    await changed(2);
    expect(offsetsOf(ahead.take())).toEqual([0]);
    await ahead.stop();
  });
});

describe('what a partition may gather', () => {
  const MIB = 1024 * 1024;

  it.each([
    [0, 50_000, 16],
    [1, 50_000, 16],
    [4, 12_500, 16],
    [5, 10_000, 12.8],
    [50, 1_000, 1.28],
    [100, 1_000, 1],
  ])('is its share of what the process may: %i partitions', (partitions, eventsMax, mebibytes) => {
    const bytesMax = Math.floor(mebibytes * MIB);
    expect(boundsOfPartition(50_000, partitions)).toEqual({ eventsMax, bytesMax });
  });

  it.each([
    [0, 256],
    [1, 256],
    [8, 32],
    [64, 4],
    [100, 4],
  ])('makes its share of the rows that are in memory: %i partitions', (partitions, mebibytes) => {
    expect(charactersOfPartition(partitions)).toBe(mebibytes * MIB);
  });

  it('is never more than is allowed', () => {
    expect(boundsOfPartition(100, 4).eventsMax).toBe(100);
  });
});
