import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { LogRecord } from './event-log.js';
import { BoundedRead, RecordBuffer } from './record-buffer.js';

type Fetched = { readonly offset: number; readonly bytes: Buffer };

const fetched = (offset: number): Fetched => ({ offset, bytes: Buffer.from(`record ${offset}`) });
const recordOf = ({ offset, bytes }: Fetched): LogRecord => ({
  offset,
  appendedAtMs: 0,
  value: bytes.toString(),
});

test('a record is made when it is read, not before', () => {
  const made: number[] = [];
  const buffer = new RecordBuffer((each: Fetched) => {
    made.push(each.offset);
    return recordOf(each);
  });
  buffer.add([fetched(3), fetched(4), fetched(5)]);
  expect(made).toEqual([]);
  const read = new BoundedRead({ recordsMax: 2, bytesMax: 1_000 });
  buffer.moveTo(read);
  expect(read.records.map(({ value }) => value)).toEqual(['record 3', 'record 4']);
  expect([made, buffer.firstOffset]).toEqual([[3, 4], 5]);
});

test('what was read is let go of while others are still there', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const buffer = new RecordBuffer(recordOf);
  const first = ((): WeakRef<Buffer> => {
    const [one, other] = [fetched(0), fetched(1)];
    buffer.add([one, other]);
    buffer.moveTo(new BoundedRead({ recordsMax: 1, bytesMax: 1_000 }));
    return new WeakRef(one.bytes);
  })();
  // What a WeakRef was made of lives until the end of this turn.
  await new Promise(setImmediate);
  collect();
  expect(first.deref()).toBeUndefined();
  expect(buffer.firstOffset).toBe(1);
});
