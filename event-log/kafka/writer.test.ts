import { describe, expect, test } from 'vitest';
import { DependencyError } from '../../runtime/failure.js';
import {
  BULK_EVENTS_MAX,
  RECORD_CHARACTERS_MAX,
  usageCharactersOf,
} from '../../contract/records-of-events.js';
import { encodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import { RECORD_BYTES_MAX, type AppendRequest } from '../interface/event-log.js';
import { GROUP_BYTES_MAX, KafkaLogWriter } from './writer.js';

const record = (value: string, partition = 0): AppendRequest => ({ partition, key: value, value });

type Sent = AppendRequest & { readonly end: (error?: Error) => void };

/** A writer of two partitions whose deliveries the test ends. */
function createSlowWriter() {
  const sent: Sent[] = [];
  const writer = new KafkaLogWriter(
    { logId: 'log', partitionCount: 2 },
    {
      deliver: (records) =>
        new Promise((resolve, reject) => {
          const [first = record('')] = records;
          const value = records.map((delivered) => delivered.value).join(' ');
          const end = (error?: Error): void => {
            if (error === undefined) resolve();
            else reject(error);
          };
          sent.push({ ...first, value, end });
        }),
      turn: () => Promise.resolve(),
      ping: () => Promise.resolve(),
      close: () => Promise.resolve(),
    },
    { produceTimeoutMs: 60_000, mergeValues: (values) => values.join('+') },
  );
  const delivered = async (index: number): Promise<Sent> => {
    await expect.poll(() => sent.length).toBeGreaterThan(index);
    const found = sent[index];
    if (found === undefined) throw new Error('unreachable');
    return found;
  };
  return { writer, sent, delivered };
}

describe('the writer of the log in Kafka', () => {
  test('merges no more events into a record than a bulk request may have', () => {
    const shortest: UsageEvent = {
      eventId: 'a',
      eventName: 'b',
      externalCustomerId: 'c',
      customerId: null,
      source: '',
      timestampMs: 0,
      isTimestampGiven: true,
      properties: {},
    };
    const environment = { tenantId: 't', environmentId: 'e' };
    const bytesOf = (events: readonly UsageEvent[]): number =>
      encodeEventRecord({ environment, receivedAtMs: 0, events }).length;
    const perEvent = bytesOf([shortest, shortest]) - bytesOf([shortest]);
    const events = Math.floor(GROUP_BYTES_MAX / perEvent);
    expect(events).toBeLessThanOrEqual(BULK_EVENTS_MAX);
    const characters = usageCharactersOf('x'.repeat(GROUP_BYTES_MAX), events);
    expect(characters).toBeLessThanOrEqual(RECORD_CHARACTERS_MAX);
  });

  test('merges what comes during a delivery into the next record of its partition, in order', async () => {
    const { writer, sent, delivered } = createSlowWriter();
    const first = writer.append([record('1')]);
    expect((await delivered(0)).value).toBe('1');
    const later = [writer.append([record('2'), record('3')]), writer.append([record('4')])];
    sent[0]?.end();
    await first;
    const next = await delivered(1);
    expect(next).toMatchObject({ value: '2+3+4', key: '2', partition: 0 });
    next.end();
    await Promise.all(later);
    expect(sent).toHaveLength(2);
  });

  test('a partition that does not answer holds up no other', async () => {
    const { writer, delivered } = createSlowWriter();
    const stuck = writer.append([record('stuck', 0)]);
    await delivered(0);
    const other = writer.append([record('other', 1)]);
    (await delivered(1)).end();
    await other;
    (await delivered(0)).end();
    await stuck;
  });

  test('an append resolves only when all of its partitions have acknowledged', async () => {
    const { writer, delivered } = createSlowWriter();
    let isDone = false;
    const append = writer.append([record('a', 0), record('b', 1)]).then(() => {
      isDone = true;
    });
    (await delivered(0)).end();
    const last = await delivered(1);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(isDone).toBe(false);
    last.end();
    await append;
  });

  test('a failed delivery fails exactly the appends that it holds a part of', async () => {
    const { writer, sent, delivered } = createSlowWriter();
    const first = writer.append([record('1', 0)]);
    await delivered(0);
    const failing = [writer.append([record('2', 0)]), writer.append([record('3', 0)])];
    const both = writer.append([record('4', 0), record('5', 1)]);
    const spared = writer.append([record('6', 1)]);
    const failed = Promise.all(
      [...failing, both].map((append) => expect(append).rejects.toThrow(DependencyError)),
    );
    (await delivered(1)).end();
    sent[0]?.end();
    await first;
    const group = await delivered(2);
    expect(group.value).toBe('2+3+4');
    group.end(new Error('not enough replicas'));
    await failed;
    await spared;
  });

  test('a large record is delivered as it is, beside the others of its append', async () => {
    const { writer, sent, delivered } = createSlowWriter();
    const large = 'x'.repeat(70_000);
    const append = writer.append([record(large), record('small')]);
    (await delivered(0)).end();
    await append;
    expect(sent.map(({ value }) => value)).toEqual([`${large} small`]);
  });

  test('delivers a large append of a partition as several batches, one after the other', async () => {
    const { writer, sent, delivered } = createSlowWriter();
    // With its key, which is the same, each has 302 KiB: three are a little too large for a batch.
    const values = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(151 * 1024));
    let isDone = false;
    const append = writer.append(values.map((value) => record(value))).then(() => {
      isDone = true;
    });
    for (const [index, letters] of [
      [0, 'a b'],
      [1, 'c d'],
      [2, 'e'],
    ] as const) {
      const { value, end } = await delivered(index);
      const delivery = value.split(' ').map(([letter]) => letter);
      expect(delivery.join(' ')).toBe(letters);
      await new Promise((resolve) => setTimeout(resolve, 10));
      expect(sent).toHaveLength(index + 1);
      expect(isDone).toBe(false);
      end();
    }
    await append;
  });

  test('delivers a record that is larger than a batch alone, in its place', async () => {
    const { writer, sent, delivered } = createSlowWriter();
    const large = 'x'.repeat(1024 * 1024);
    const append = writer.append(['a', 'b', large, 'c', 'd'].map((value) => record(value)));
    for (const index of [0, 1, 2]) (await delivered(index)).end();
    await append;
    expect(sent.map(({ value }) => value)).toEqual(['a b', large, 'c d']);
  });

  test('delivers nothing behind a batch that failed', async () => {
    const { writer, sent, delivered } = createSlowWriter();
    const half = 'x'.repeat(600 * 1024);
    const append = writer.append([record(half), record(half)]);
    const failed = expect(append).rejects.toThrow(DependencyError);
    (await delivered(0)).end(new Error('not enough replicas'));
    await failed;
    const next = writer.append([record('next')]);
    (await delivered(1)).end();
    await next;
    expect(sent[1]?.value).toBe('next');
  });

  test('refuses a whole append when too many bytes wait, and takes it when there is room', async () => {
    const { writer, sent, delivered } = createSlowWriter();
    const endThrough = async (last: number): Promise<void> => {
      for (let index = 0; index <= last; index += 1) (await delivered(index)).end();
    };
    // 34 MiB, which fit once and not twice; each record is a batch of its own.
    const large = 'x'.repeat(RECORD_BYTES_MAX);
    const half = Array.from({ length: 17 }, () => record(large, 0));
    const first = writer.append([record('1')]);
    await delivered(0);
    const waiting = writer.append(half);
    const refused = [record('a', 1), ...half];
    await expect(writer.append(refused)).rejects.toMatchObject({ isRetryable: true });
    expect(sent).toHaveLength(1);
    await endThrough(17);
    await Promise.all([first, waiting]);
    const again = writer.append(refused);
    await endThrough(17 + 18);
    await again;
  });
});
