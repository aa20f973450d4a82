import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DependencyError } from '../../runtime/failure.js';
import type { AppendRequest } from '../event-log.js';
import {
  createSteeredProducer,
  INTERVAL_MS,
  LONGEST_MS,
  never,
  pass,
  record,
  RETRY_MS,
  soon,
  stateOf,
  TIMEOUT_MS,
} from '../testing/steered-producer.js';
import type { ProducerId } from './produce-cluster.js';
import { KafkaLogWriter } from './writer.js';

const MEBIBYTE = 1024 * 1024;

/** Stands for as many records as a test names; only the first can be looked at. */
function countlessRecords(count: number): readonly AppendRequest[] {
  const only = record(0, 'many');
  const records = [only];
  records.length = count;
  records.map = () => [];
  records[Symbol.iterator] = () => [only][Symbol.iterator]();
  return records;
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('requests', () => {
  test('the partitions of a broker share a request, and those of another have their own', async () => {
    const { append, requests, lines } = createSteeredProducer();
    const appends = [append(0, ['x']), append(1, ['y', 'z']), append(2, ['w'])];
    await soon();
    expect(lines()).toEqual(['a 1: 0/0=x 1/0=y+z', 'b 1: 2/0=w']);
    for (const { answer } of requests) answer();
    await Promise.all(appends);
  });

  test('a broker that hangs does not hold up another one', async () => {
    const { append, requests } = createSteeredProducer();
    const hung = append(0, ['hung']);
    for (const value of ['x', 'y', 'z']) {
      const other = append(2, [value]);
      await pass(INTERVAL_MS);
      requests.at(-1)?.answer();
      await other;
    }
    expect(requests.map(({ at }) => at).toSorted()).toEqual(['a', 'b', 'b', 'b']);
    expect(await stateOf(hung)).toBe('open');
  });

  test('what comes while a request is under way forms the next one', async () => {
    const { append, requests, lines } = createSteeredProducer();
    const first = append(0, ['1']);
    await soon();
    const values = ['2'];
    const next = [append(1, values)];
    await pass(10 * INTERVAL_MS);
    values.push('3');
    requests[0]?.answer();
    await first;
    next.push(append(0, ['4']));
    await pass(INTERVAL_MS);
    requests[1]?.answer();
    await pass(INTERVAL_MS);
    requests[2]?.answer();
    await Promise.all(next);
    expect(lines().join(' ')).toMatch(/^a 1: 0\/0=1 a 1: 1\/0=2\+3 .*0\/1=4$/);
  });

  test('begin at the interval, so that more records share one', async () => {
    const { append, requests, lines } = createSteeredProducer();
    const first = append(0, ['1']);
    await soon();
    requests[0]?.answer();
    await first;
    const values = ['2'];
    void append(1, values);
    await pass(INTERVAL_MS - 2);
    values.push('3');
    expect(requests).toHaveLength(1);
    await pass(2);
    expect(lines()[1]).toBe('a 1: 1/0=2+3');
  });

  test('stay below what a broker takes', async () => {
    const { append, requests, lines } = createSteeredProducer();
    const appends = [0, 1].map((partition) => append(partition, ['x'.repeat(20 * MEBIBYTE)]));
    await soon();
    requests[0]?.answer();
    await pass(INTERVAL_MS);
    requests[1]?.answer();
    await Promise.all(appends);
    expect(lines()).toEqual(['a 1: 0/0=long', 'a 1: 1/0=long']);
  });

  test('a broker that hangs when it is asked for an id does not hold up another one', async () => {
    const asked: ((error: Error) => void)[] = [];
    let ids = 0n;
    const { append, answerAfter } = createSteeredProducer({
      newProducerId: (at) =>
        at === 'a'
          ? new Promise((_resolve, reject) => asked.push(reject))
          : Promise.resolve({ producerId: (ids += 1n), producerEpoch: 0 }),
      disconnect: (from) => {
        if (from === 'a') for (const fail of asked) fail(new Error('disconnected'));
      },
    });
    answerAfter(1);
    for (let round = 0; round < 4; round += 1) {
      const hung = append(0, ['hung']);
      const other = append(2, ['x']);
      await pass(LONGEST_MS);
      expect([await stateOf(hung), await stateOf(other)]).toEqual([
        round === 0 ? 'failed' : 'done',
        'done',
      ]);
    }
    expect(asked.length).toBeGreaterThan(0);
  });

  test('partitions that are busy share requests', async () => {
    const { producer, requests, lead, answerAfter } = createSteeredProducer();
    lead(['a', 'a', 'a', 'a']);
    answerAfter(10);
    const writer = new KafkaLogWriter({ logId: 'log', partitionCount: 4 }, producer, {
      ...{ produceTimeoutMs: TIMEOUT_MS, mergeValues: (values) => values.join() },
    });
    const appends: Promise<void>[] = [];
    for (let ms = 0; ms < 500; ms += 1) {
      for (let partition = 0; partition < 4; partition += 1) {
        const isNext = (ms + partition) % 2 === 0;
        if (isNext) appends.push(writer.append([record(partition, String(ms))]));
      }
      await pass(1);
    }
    const sizes = requests.map(({ batches }) => batches.length);
    expect(sizes.length).toBeGreaterThan(30);
    expect(new Set(sizes.slice(10))).toEqual(new Set([4]));
    await pass(50);
    await Promise.all(appends);
  });
});

describe('sequence numbers', () => {
  test('an unknown outcome is sent again under the same id and number', async () => {
    const { append, requests, lines } = createSteeredProducer();
    const appended = append(0, ['x', 'y']);
    await soon();
    requests[0]?.fail(new Error('connection lost'));
    await pass(RETRY_MS - 1);
    expect(requests).toHaveLength(1);
    await pass(2);
    expect(await stateOf(appended)).toBe('open');
    requests[1]?.answer();
    await appended;
    expect(lines()).toEqual(['a 1: 0/0=x+y', 'a 1: 0/0=x+y']);
  });

  test.for([2, 3, 5, 6, 7, 9, 13, 14, 19, 20, 34, 56, 74, 75])(
    'so is the passing failure %i',
    async (code) => {
      const { append, requests, lines } = createSteeredProducer();
      const appends = [append(0, ['x']), append(1, ['y'])];
      await soon();
      requests[0]?.answer({ 0: code });
      await appends[1];
      await pass(RETRY_MS + 1);
      requests[1]?.answer();
      await appends[0];
      expect(lines()).toEqual(['a 1: 0/0=x 1/0=y', 'a 1: 0/0=x']);
    },
  );

  test('go on by the number of records, of each partition by itself', async () => {
    const { append, requests, lines } = createSteeredProducer();
    for (const [partition, values] of [
      [0, ['u', 'v', 'w']],
      [0, ['x']],
      [1, ['y']],
      [0, ['z']],
    ] as const) {
      const appended = append(partition, values);
      await pass(INTERVAL_MS);
      requests.at(-1)?.answer();
      await appended;
    }
    expect(lines()).toEqual(['a 1: 0/0=u+v+w', 'a 1: 0/3=x', 'a 1: 1/0=y', 'a 1: 0/4=z']);
  });

  test('begin again at 0 after 2^31 - 1', async () => {
    const { producer, append, requests, lines } = createSteeredProducer();
    const many = producer.deliver(countlessRecords(2 ** 31 - 1));
    await soon();
    requests[0]?.answer();
    await many;
    for (const values of [['x', 'y'], ['z']]) {
      const appended = append(0, values);
      await pass(INTERVAL_MS);
      requests.at(-1)?.answer();
      await appended;
    }
    expect(lines().slice(1)).toEqual(['a 1: 0/2147483647=x+y', 'a 1: 0/1=z']);
  });

  test.for([45, 46, 47, 59])('code %i takes a new id and goes on', async (code) => {
    const { append, requests, lines } = createSteeredProducer();
    const appends = [append(0, ['x']), append(2, ['y'])];
    await soon();
    requests[0]?.answer({ 0: code });
    requests[1]?.answer();
    await appends[1];
    await pass(RETRY_MS + 1);
    requests[2]?.answer();
    await appends[0];
    void append(2, ['z']);
    await pass(INTERVAL_MS);
    expect(lines()).toEqual(['a 1: 0/0=x', 'b 1: 2/0=y', 'a 2: 0/0=x', 'b 2: 2/0=z']);
  });

  test('an acknowledgement whose offset is not above the last one is not believed', async () => {
    const { append, requests, lines } = createSteeredProducer();
    const first = append(0, ['x']);
    await soon();
    requests[0]?.answer({}, { 0: 7 });
    await first;
    const next = append(0, ['y']);
    for (const offset of [7, 6]) {
      await pass(RETRY_MS + INTERVAL_MS);
      requests.at(-1)?.answer({}, { 0: offset });
      expect(await stateOf(next)).toBe('open');
    }
    await pass(RETRY_MS + INTERVAL_MS);
    requests.at(-1)?.answer({}, { 0: 8 });
    await next;
    expect(lines()).toEqual(['a 1: 0/0=x', 'a 1: 0/1=y', 'a 2: 0/0=y', 'a 3: 0/0=y']);
  });
});

describe('a batch that is given up', () => {
  test('leaves its id, so that the next one of any partition has a new one', async () => {
    const { append, requests, lines } = createSteeredProducer();
    const stored = append(2, ['stored']);
    const overdue = append(0, ['overdue']);
    await soon();
    requests.find(({ at }) => at === 'b')?.answer();
    await stored;
    await pass(LONGEST_MS);
    await expect(overdue).rejects.toMatchObject({ isRetryable: true });
    void append(0, ['x']);
    await pass(RETRY_MS);
    void append(2, ['y']);
    await pass(INTERVAL_MS);
    expect(lines().slice(2)).toEqual(['a 2: 0/0=x', 'b 2: 2/0=y']);
  });

  test('leaves others their id, under which they may be stored already', async () => {
    const { append, requests, lines } = createSteeredProducer();
    void append(0, ['overdue']);
    await pass(TIMEOUT_MS / 2);
    const other = append(2, ['x']);
    await pass(TIMEOUT_MS / 2);
    requests[1]?.fail(new Error('connection lost'));
    await pass(100 + RETRY_MS);
    requests[2]?.answer();
    await other;
    expect(lines()).toEqual(['a 1: 0/0=overdue', 'b 1: 2/0=x', 'b 1: 2/0=x']);
  });

  test('before it had a number takes none, which its successor gets', async () => {
    const ids: ((id: ProducerId) => void)[] = [];
    const { append, requests, lines } = createSteeredProducer({
      newProducerId: () => new Promise((resolve) => ids.push(resolve)),
    });
    const overdue = append(0, ['overdue']);
    await pass(LONGEST_MS);
    expect(await stateOf(overdue)).toBe('failed');
    const next = append(0, ['next']);
    for (const give of ids) give({ producerId: 7n, producerEpoch: 0 });
    await pass(RETRY_MS);
    expect(lines()).toEqual(['a 7: 0/0=next']);
    requests[0]?.answer();
    await next;
  });

  test('and is answered later does not touch its successor', async () => {
    const { producer, append, requests, lines } = createSteeredProducer({
      disconnect: () => undefined,
    });
    void append(0, ['overdue']);
    await pass(LONGEST_MS);
    const next = producer.deliver([record(0, 'next')]);
    requests[0]?.answer();
    await pass(INTERVAL_MS);
    expect(lines()).toEqual(['a 1: 0/0=overdue', 'a 2: 0/0=next']);
    requests[1]?.answer();
    await next;
  });

  test('ends the connection, so that what waits for the broker goes on', async () => {
    const { append, requests, disconnected } = createSteeredProducer();
    void append(0, ['overdue']);
    await pass(TIMEOUT_MS - 100);
    const next = append(1, ['next']);
    await pass(200 + RETRY_MS);
    expect(disconnected).toContain('a');
    requests[1]?.answer();
    await next;
  });
});

describe('a delivery', () => {
  test.for([
    ['leaders', { leaders: never<never> }],
    ['a new id', { newProducerId: never<never> }],
    ['a request', { produce: never<never>, disconnect: () => undefined }],
    ['anything in time', { leaders: () => Promise.reject(new Error('no broker answers')) }],
  ] as const)('ends in time when no broker answers %s', async ([, replaced]) => {
    const { producer } = createSteeredProducer(replaced);
    for (const value of ['first', 'second']) {
      const begunMs = performance.now();
      const delivered = [0, 2].map((partition) => producer.deliver([record(partition, value)]));
      const failed = Promise.all(
        delivered.map((one) => expect(one).rejects.toMatchObject({ isRetryable: true })),
      );
      await pass(LONGEST_MS);
      await failed;
      expect(performance.now() - begunMs).toBeLessThanOrEqual(LONGEST_MS);
    }
  });

  test('of too large a record fails at once, and alone', async () => {
    const { append, requests } = createSteeredProducer();
    const appends = [append(0, ['large']), append(1, ['small'])];
    await soon();
    requests[0]?.answer({ 0: 10 });
    await expect(appends[0]).rejects.toMatchObject({
      isRetryable: false,
      message: expect.stringContaining('max.message.bytes'),
    });
    await appends[1];
    await pass(RETRY_MS);
    expect(requests).toHaveLength(1);
  });

  test('fails when the producer is closed, whether it was sent or not', async () => {
    const { producer, append } = createSteeredProducer();
    const sent = append(0, ['sent']);
    await soon();
    const waiting = append(1, ['waiting']);
    await producer.close();
    const all = [sent, waiting, producer.deliver([record(2, 'later')])];
    expect(await Promise.all(all.map(stateOf))).toEqual(['failed', 'failed', 'failed']);
    for (const one of all) await expect(one).rejects.toThrow('closed');
    await pass(10 * TIMEOUT_MS);
    expect(vi.getTimerCount()).toBe(0);
  });

  test.for(['newProducerId', 'produce'] as const)(
    'fails at once when a lasting failure ends %s',
    async (call) => {
      const refused = new DependencyError('the broker cannot be used', {
        ...{ dependency: 'event-log', isRetryable: false },
      });
      const { append } = createSteeredProducer({ [call]: () => Promise.reject(refused) });
      const appended = append(0, ['x']);
      await pass(INTERVAL_MS);
      expect(await stateOf(appended)).toBe('failed');
      await expect(appended).rejects.toBe(refused);
    },
  );
});

describe('a turn', () => {
  test('comes after the close, too', async () => {
    const { producer } = createSteeredProducer();
    await producer.close();
    expect(await stateOf(producer.turn(0))).toBe('done');
  });

  /** A producer whose id was given up, so that the next request needs another one. */
  async function createWithoutId() {
    const asked: string[] = [];
    const { producer, append } = createSteeredProducer({
      newProducerId: (at) => {
        asked.push(at);
        return Promise.resolve({ producerId: BigInt(asked.length), producerEpoch: 0 });
      },
    });
    void append(0, ['overdue']);
    await pass(LONGEST_MS + RETRY_MS);
    return { producer, asked };
  }

  test('with nothing to send asks for no id', async () => {
    const { producer, asked } = await createWithoutId();
    const before = asked.length;
    const turn = producer.turn(1).then(() => producer.deliver([]));
    await pass(RETRY_MS);
    await turn;
    expect(asked).toHaveLength(before);
  });

  test('in which the producer is closed asks for no id', async () => {
    const { producer, asked } = await createWithoutId();
    const before = asked.length;
    const turn = producer.turn(1).then(() => {
      void producer.deliver([record(1, 'x')]).catch(() => undefined);
      return producer.close();
    });
    await pass(RETRY_MS);
    await turn;
    expect(asked).toHaveLength(before);
  });
});
