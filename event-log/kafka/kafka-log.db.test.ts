import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, test as plain } from 'vitest';
import { partitionOf } from '../../contract/event-key.js';
import { obtainKafka } from '../../load-tests/harness/kafka.js';
import {
  committedOffset,
  deleteRecords,
  produceRaw,
  withAdmin,
} from '../../load-tests/harness/kafka-tools.js';
import {
  CONTRACT_PARTITIONS,
  readAll,
  registerContract,
  registerOutageContract,
  text,
  valuesOf,
  type LogUnderTest,
  type Outage,
} from '../testing/event-log.contract.js';
import { openKafkaReader } from './reader.js';
import { openKafkaWriter } from './writer.js';

const { kafka, skipReason } = await obtainKafka();
const brokers = kafka?.brokers ?? '';
const outage = kafka?.outage ?? null;
const title = kafka === null ? `event log in Kafka (skipped: ${skipReason})` : 'event log in Kafka';
const PRODUCE_TIMEOUT_MS = 4_000;

afterAll(() => kafka?.stop());

type KafkaLogUnderTest = LogUnderTest & { readonly topic: string };

const test = plain.extend<{ log: KafkaLogUnderTest; outage: Outage }>({
  // Vitest reads from the first parameter which other fixtures a fixture needs; these need none.
  log: async ({}, use) => {
    const topic = `test-${randomBytes(6).toString('hex')}`;
    const at = { brokers, topic, partitionCount: CONTRACT_PARTITIONS };
    const deleteTopic = (): Promise<void> =>
      withAdmin(brokers, (admin, done) => {
        admin.deleteTopic(topic, 20_000, done);
      });
    await use({
      topic,
      openWriter: () => openKafkaWriter({ ...at, produceTimeoutMs: PRODUCE_TIMEOUT_MS }),
      openReader: () => openKafkaReader(at),
      removeBelow: (offset) => deleteRecords(brokers, { topic, partition: 0, offset }),
      recreate: deleteTopic,
    });
    // A test that could not create the topic leaves nothing to delete.
    await deleteTopic().catch(() => undefined);
  },
  outage: async ({}, use) => {
    if (outage === null) throw new Error('this broker is not ours to kill');
    await use(outage);
  },
});

describe.skipIf(kafka === null)(title, () => {
  registerContract(test);

  describe('topic', () => {
    test('is created with the time of the append and a limit for large records', async ({
      log,
    }) => {
      const writer = await log.openWriter();
      // A record dated by its producer would carry 1970 here.
      const dated = { topic: log.topic, partition: 0, value: Buffer.from('dated'), timestamp: 1 };
      await produceRaw(brokers, [dated]);
      const reader = await log.openReader();
      const [record] = await readAll(reader, { count: 1 });
      expect(Math.abs((record?.appendedAtMs ?? 0) - Date.now())).toBeLessThan(60_000);
      await Promise.all([writer.close(), reader.close()]);
    });

    test('is refused when records keep the time of their producer', async ({ log }) => {
      await withAdmin(brokers, (admin, done) => {
        const topic = { topic: log.topic, num_partitions: 4, replication_factor: 1, config: {} };
        admin.createTopic(topic, 10_000, done);
      });
      await expect(log.openReader()).rejects.toThrow('alter it to LogAppendTime');
    });

    test('is refused when it could lose acknowledged records, with what to run', async ({
      log,
    }) => {
      await withAdmin(brokers, (admin, done) => {
        const config = {
          'message.timestamp.type': 'LogAppendTime',
          'unclean.leader.election.enable': 'true',
        };
        const topic = { topic: log.topic, num_partitions: 4, replication_factor: 1, config };
        admin.createTopic(topic, 10_000, done);
      });
      const opening = openKafkaReader({ brokers, topic: log.topic, replicas: 3 });
      const problems = await opening.then(
        () => '',
        (error: unknown) => String(error),
      );
      expect(problems).toContain(`topic ${log.topic} has unclean.leader.election.enable=true`);
      expect(problems).toContain('has 1 replicas, but MINUTEBOOK_LOG_REPLICAS is 3');
      expect(problems).toContain(
        `kafka-configs.sh --bootstrap-server ${brokers} --alter --entity-type topics --entity-name ${log.topic} --add-config min.insync.replicas=2`,
      );
      // One broker can hold one replica, and needs no setting.
      await expect(openKafkaReader({ brokers, topic: log.topic })).rejects.toThrow(
        /^(?!.*replicas).*unclean/s,
      );
    });

    test('is refused when its number of partitions differs from the setting', async ({ log }) => {
      await (await log.openWriter()).close();
      await expect(
        openKafkaReader({ brokers, topic: log.topic, partitionCount: 7 }),
      ).rejects.toThrow(`topic ${log.topic} has 4 partitions`);
      const reader = await openKafkaReader({ brokers, topic: log.topic });
      expect(reader.identity.partitionCount).toBe(4);
      await reader.close();
    });

    test('tells what the topic removes by itself', async ({ log }) => {
      await withAdmin(brokers, (admin, done) => {
        const config = {
          'message.timestamp.type': 'LogAppendTime',
          'retention.ms': '3600000',
          'retention.bytes': '1000000',
        };
        const topic = { topic: log.topic, num_partitions: 4, replication_factor: 1, config };
        admin.createTopic(topic, 10_000, done);
      });
      const reader = await log.openReader();
      expect(await reader.removal?.()).toEqual({ afterMs: 3_600_000, isByBytes: true });
      await reader.close();
    });

    test('programs that start together create one topic', async ({ log }) => {
      const writers = await Promise.all([1, 2, 3].map(() => log.openWriter()));
      expect(new Set(writers.map(({ identity }) => identity.logId)).size).toBe(1);
      await Promise.all(writers.map((writer) => writer.close()));
    });

    test('a reader fails when its topic was created again', async ({ log }) => {
      const [writer, reader] = await Promise.all([log.openWriter(), log.openReader()]);
      await writer.append([text('a'), text('b')]);
      await readAll(reader, { count: 2 });
      await writer.close();
      await log.recreate();
      await (await log.openWriter()).close();
      const read = async (): Promise<void> => {
        for (;;) {
          await reader.read({
            partition: 0,
            fromOffset: 2,
            recordsMax: 1,
            bytesMax: 1,
            waitMs: 500,
          });
        }
      };
      await expect(read()).rejects.toThrow(/outside the log|its id changed/);
      await reader.close();
    });
  });

  describe('a writer', () => {
    test('acknowledges nothing that goes to a topic that was made anew', async ({ log }) => {
      const writer = await log.openWriter();
      await writer.append([text('a')]);
      await log.recreate();
      await (await log.openWriter()).close();
      for (const value of ['b', 'c']) {
        await expect(writer.append([text(value)])).rejects.toThrow('its id changed');
      }
      await writer.close();
    });

    test('writes records that are large together to a topic with the usual limit', async ({
      log,
    }) => {
      await withAdmin(brokers, (admin, done) => {
        const config = { 'message.timestamp.type': 'LogAppendTime' };
        const topic = { topic: log.topic, num_partitions: 4, replication_factor: 1, config };
        admin.createTopic(topic, 10_000, done);
      });
      const [writer, reader] = await Promise.all([log.openWriter(), log.openReader()]);
      const values = ['a', 'b', 'c'].map((letter) => letter.repeat(440 * 1024));
      await writer.append(values.map((value) => text(value)));
      expect(valuesOf(await readAll(reader, { count: 3 }))).toEqual(values);
      await Promise.all([writer.close(), reader.close()]);
    });
  });

  describe('records', () => {
    test('places keys as the murmur2_random partitioner of Kafka clients does', async ({ log }) => {
      const writer = await log.openWriter();
      const keys = Array.from(
        { length: 200 },
        (_none, index) => `t|e|é😀${'x'.repeat(index % 9)}${index}`,
      );
      await produceRaw(
        brokers,
        keys.map((key) => ({ topic: log.topic, value: Buffer.from(key), key })),
      );
      const reader = await log.openReader();
      for (let partition = 0; partition < CONTRACT_PARTITIONS; partition += 1) {
        const expected = keys.filter((key) => partitionOf(key, CONTRACT_PARTITIONS) === partition);
        const found = await readAll(reader, { partition, count: expected.length });
        expect(valuesOf(found)).toEqual(expected);
      }
      await Promise.all([writer.close(), reader.close()]);
    });

    test('concurrent appends share records, and each of their values is read once and in order', async ({
      log,
    }) => {
      const options = { brokers, topic: log.topic, produceTimeoutMs: PRODUCE_TIMEOUT_MS };
      const mergeValues = (values: readonly string[]): string => values.join('\n');
      const writer = await openKafkaWriter({ ...options, partitionCount: 4, mergeValues });
      const values = Array.from({ length: 400 }, (_none, index) => String(index));
      await Promise.all(values.map((value) => writer.append([text(value)])));
      const reader = await log.openReader();
      const { endOffset } = await reader.bounds(0);
      expect(endOffset).toBeLessThan(values.length / 10);
      const records = valuesOf(await readAll(reader, { count: endOffset }));
      expect(records.flatMap((value) => value.split('\n'))).toEqual(values);
      await Promise.all([writer.close(), reader.close()]);
    });

    test('all ends are known once an append is acknowledged', async ({ log }) => {
      const [writer, reader] = [await log.openWriter(), await log.openReader()];
      const none = Array.from({ length: CONTRACT_PARTITIONS }, () => 0);
      expect(await reader.ends()).toEqual(none);
      for (let appended = 1; appended <= 20; appended += 1) {
        await writer.append([text('one', 1)]);
        expect(await reader.ends()).toEqual(none.with(1, appended));
      }
      await Promise.all([writer.close(), reader.close()]);
    });

    test('bytes that are not UTF-8 and empty records are read, and the records after them too', async ({
      log,
    }) => {
      const writer = await log.openWriter();
      const { topic } = log;
      await produceRaw(brokers, [
        { topic, value: Buffer.of(0x7b, 0xff, 0xfe, 0x7d), partition: 0 },
        { topic, value: null, partition: 0 },
      ]);
      await writer.append([text('fine')]);
      const reader = await log.openReader();
      const values = valuesOf(await readAll(reader, { count: 3 }));
      expect(values).toEqual(['{\uFFFD\uFFFD}', '', 'fine']);
      await Promise.all([writer.close(), reader.close()]);
    });

    test('a partition that was paused with much to read is read from another offset too', async ({
      log,
    }) => {
      const writer = await log.openWriter();
      // More than a process fetches ahead, so fetching is paused before all of it is there.
      const value = 'x'.repeat(1024 * 1024);
      for (let n = 0; n < 60; n += 1) await writer.append([{ partition: 0, key: 'k', value }]);
      const reader = await log.openReader();
      const readFrom = async (fromOffset: number) => {
        const bounds = { recordsMax: 1, bytesMax: 1, waitMs: 10_000 };
        return (await reader.read({ partition: 0, fromOffset, ...bounds })).length;
      };
      expect(await readFrom(0)).toBe(1);
      // Until so much has been fetched that the partition is paused.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      expect(await readFrom(0)).toBe(1);
      await Promise.all([writer.close(), reader.close()]);
    });

    test('batches larger than what is asked of a partition come from all partitions', async ({
      log,
    }) => {
      const writer = await log.openWriter();
      const partitions = Array.from({ length: CONTRACT_PARTITIONS }, (_none, index) => index);
      // Random, so that compression leaves more than the 256 KiB of settings.ts.
      const drawn = Array.from({ length: 12 }, () => randomBytes(400 * 1024).toString('base64'));
      for (const value of drawn) {
        await writer.append(partitions.map((partition) => text(value, partition)));
      }
      const reader = await log.openReader();
      const { length: count } = drawn;
      const found = await Promise.all(
        partitions.map((partition) => readAll(reader, { partition, count })),
      );
      for (const records of found) expect(valuesOf(records)).toEqual(drawn);
      await Promise.all([writer.close(), reader.close()]);
    });

    test('the committed offset is the one that lag tools see', async ({ log }) => {
      const [writer, reader] = await Promise.all([log.openWriter(), log.openReader()]);
      await writer.append([text('a'), text('b')]);
      await reader.commit(0, 2);
      await expect.poll(() => committedOffset(brokers, log.topic), { timeout: 20_000 }).toBe(2);
      await Promise.all([writer.close(), reader.close()]);
    });
  });
});

describe.skipIf(outage === null)('event log in Kafka without a broker', () => {
  registerOutageContract(test, PRODUCE_TIMEOUT_MS);

  test('opening fails while no broker answers', async ({ outage: broker, log }) => {
    await broker.kill();
    try {
      await expect(log.openWriter()).rejects.toMatchObject({
        name: 'DependencyError',
        isRetryable: true,
      });
    } finally {
      await broker.restart();
    }
  });
});
