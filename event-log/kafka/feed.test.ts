import { describe, expect, test } from 'vitest';
import { fetchedBytesOf, PartitionFeed } from './feed.js';
import type { RdKafkaMessage } from './rdkafka.js';

const MEGABYTE = 1_000_000;
const ALL = { partition: 0, fromOffset: 0, recordsMax: 1_000, bytesMax: 1e9, waitMs: 0 };

const message = (offset: number, value: Buffer | null = Buffer.from(`${offset}`)) =>
  ({ partition: 0, offset, value, timestamp: offset }) satisfies RdKafkaMessage;

const offsetsOf = (records: readonly { readonly offset: number }[]): readonly number[] =>
  records.map(({ offset }) => offset);

describe('feed of a partition', () => {
  test('gives each record once and in order, even if the driver gives some again', () => {
    const feed = new PartitionFeed(5);
    feed.add([message(3), message(4), message(5), message(6)]);
    feed.add([message(6), message(7)]);
    expect(offsetsOf(feed.take(ALL))).toEqual([5, 6, 7]);
    expect(feed.readOffset).toBe(8);
    expect(feed.take(ALL)).toEqual([]);
  });

  test('keeps the records that a read leaves for the next one', () => {
    const feed = new PartitionFeed(0);
    feed.add([message(0), message(1), message(2)]);
    expect(offsetsOf(feed.take({ ...ALL, recordsMax: 2 }))).toEqual([0, 1]);
    expect(feed.readOffset).toBe(2);
    expect(offsetsOf(feed.take(ALL))).toEqual([2]);
  });

  test('asks for a pause when it holds much, and to resume when most of it is read', () => {
    const feed = new PartitionFeed(0);
    const large = Buffer.alloc(MEGABYTE, 'x');
    feed.add(Array.from({ length: 8 }, (_none, offset) => message(offset, large)));
    expect(feed.shouldPause(8 * MEGABYTE)).toBe(false);
    feed.add([message(8, large)]);
    expect(feed.shouldPause(8 * MEGABYTE)).toBe(true);
    feed.isPaused = true;
    expect(feed.shouldPause(8 * MEGABYTE)).toBe(false);
    feed.take({ ...ALL, recordsMax: 6 });
    expect(feed.shouldResume(8 * MEGABYTE)).toBe(false);
    feed.take({ ...ALL, recordsMax: 1 });
    expect(feed.shouldResume(8 * MEGABYTE)).toBe(true);
  });

  test('partitions share what a process may hold, down to a mebibyte each', () => {
    const MEBIBYTE = 1024 * 1024;
    expect([1, 12, 24, 100].map((count) => fetchedBytesOf(count) / MEBIBYTE)).toEqual([
      12, 1, 1, 1,
    ]);
  });

  test('a waiting read ends when a record arrives', async () => {
    const feed = new PartitionFeed(0);
    const waiting = feed.wait(10_000);
    feed.add([message(0, null)]);
    await waiting;
    expect(feed.take(ALL)).toEqual([{ offset: 0, appendedAtMs: 0, value: '' }]);
  });
});
