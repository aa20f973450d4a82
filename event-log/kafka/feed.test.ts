import { describe, expect, test } from 'vitest';
import { PartitionFeed } from './feed.js';
import type { RdKafkaMessage } from './rdkafka.js';

const MEGABYTE = 1_000_000;
const ALL = { partition: 0, fromOffset: 0, recordsMax: 1_000, bytesMax: 1e9, waitMs: 0 };

const message = (offset: number, value: Buffer | null = Buffer.from(`${offset}`)) =>
  ({ partition: 0, offset, value, timestamp: offset }) satisfies RdKafkaMessage;

const offsetsOf = (records: readonly { readonly offset: number }[]): readonly number[] =>
  records.map(({ offset }) => offset);

describe('feed of a partition', () => {
  test('gives records once, in order, whatever the driver gives again', () => {
    const feed = new PartitionFeed(5);
    feed.add([message(3), message(4), message(5), message(6)]);
    feed.add([message(6), message(7)]);
    expect(offsetsOf(feed.take(ALL))).toEqual([5, 6, 7]);
    expect(feed.readOffset).toBe(8);
    expect(feed.take(ALL)).toEqual([]);
  });

  test('keeps what a read leaves for the next one', () => {
    const feed = new PartitionFeed(0);
    feed.add([message(0), message(1), message(2)]);
    expect(offsetsOf(feed.take({ ...ALL, recordsMax: 2 }))).toEqual([0, 1]);
    expect(feed.readOffset).toBe(2);
    expect(offsetsOf(feed.take(ALL))).toEqual([2]);
  });

  test('asks for a pause when it holds much, and to go on when most of it is read', () => {
    const feed = new PartitionFeed(0);
    const large = Buffer.alloc(MEGABYTE, 'x');
    feed.add(Array.from({ length: 8 }, (_none, offset) => message(offset, large)));
    expect(feed.shouldPause).toBe(false);
    feed.add([message(8, large)]);
    expect(feed.shouldPause).toBe(true);
    feed.isPaused = true;
    expect(feed.shouldPause).toBe(false);
    feed.take({ ...ALL, recordsMax: 6 });
    expect(feed.shouldResume).toBe(false);
    feed.take({ ...ALL, recordsMax: 1 });
    expect(feed.shouldResume).toBe(true);
  });

  test('a waiting read goes on when a record comes', async () => {
    const feed = new PartitionFeed(0);
    const waiting = feed.wait(10_000);
    feed.add([message(0, null)]);
    await waiting;
    expect(feed.take(ALL)).toEqual([{ offset: 0, appendedAtMs: 0, value: '' }]);
  });
});
