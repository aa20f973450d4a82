import { AGGREGATOR_GROUP } from '../../contract/topics.js';
import { brokerAddresses } from '../../event-log/kafka/describe.js';
import {
  loadRdKafka,
  type RdKafkaAdmin,
  type RdKafkaError,
} from '../../event-log/kafka/rdkafka.js';
import {
  askBroker,
  WireWriter,
  type RequestKind,
  type WireReader,
} from '../../event-log/kafka/wire.js';
import { assertPresent } from '../../runtime/failure.js';

// What tests do to a topic from outside the product. Their cluster has one broker.

const TIMEOUT_MS = 10_000;
const DELETE_RECORDS = { apiKey: 21, version: 1, isCompact: false } as const;
const OFFSET_FETCH = { apiKey: 9, version: 5, isCompact: false } as const;

/** Runs one call of the driver's admin client. */
export async function withAdmin(
  brokers: string,
  call: (admin: RdKafkaAdmin, done: (error?: RdKafkaError) => void) => void,
): Promise<void> {
  const { AdminClient } = await loadRdKafka();
  const admin = AdminClient.create({ 'metadata.broker.list': brokers });
  try {
    await new Promise<void>((resolve, reject) => {
      call(admin, (error) => {
        if (error) reject(new Error(error.message));
        else resolve();
      });
    });
  } finally {
    admin.disconnect();
  }
}

type RawRecord = {
  readonly topic: string;
  readonly value: Buffer | null;
  readonly key?: string;
  /** Chosen by the driver's murmur2_random from the key when absent. */
  readonly partition?: number;
  readonly timestamp?: number;
};

/** Produces records as some other program would, and waits until all are acknowledged. */
export async function produceRaw(brokers: string, records: readonly RawRecord[]): Promise<void> {
  const { Producer } = await loadRdKafka();
  const producer = new Producer(
    { 'metadata.broker.list': brokers, dr_cb: true, 'enable.idempotence': true },
    { partitioner: 'murmur2_random' },
  );
  await new Promise<void>((resolve, reject) => {
    producer.connect({ timeout: TIMEOUT_MS }, (error) => {
      if (error) reject(new Error(error.message));
      else resolve();
    });
  });
  for (const { topic, value, key, partition = -1, timestamp = null } of records) {
    const keyBytes = key === undefined ? null : Buffer.from(key);
    producer.produce(topic, partition, value, keyBytes, timestamp, undefined);
  }
  await new Promise<void>((resolve) => {
    producer.disconnect(TIMEOUT_MS, resolve);
  });
}

function ask(brokers: string, kind: RequestKind, body: WireWriter): Promise<WireReader> {
  const address = assertPresent(brokerAddresses(brokers)[0], 'a broker');
  return askBroker(address, { ...kind, body: body.toBuffer(), timeoutMs: TIMEOUT_MS });
}

function int64(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigInt64BE(BigInt(value));
  return buffer;
}

/** Removes the records of a partition below the offset, as retention would. */
export async function deleteRecords(
  brokers: string,
  at: { readonly topic: string; readonly partition: number; readonly offset: number },
): Promise<void> {
  const body = new WireWriter().int32(1).string(at.topic).int32(1);
  body.int32(at.partition).bytes(int64(at.offset)).int32(TIMEOUT_MS);
  await ask(brokers, DELETE_RECORDS, body);
}

/** The offset of partition 0 that the aggregator's group has committed; -1 when none. */
export async function committedOffset(brokers: string, topic: string): Promise<number> {
  const body = new WireWriter().string(AGGREGATOR_GROUP).int32(1).string(topic).int32(1).int32(0);
  const answer = await ask(brokers, OFFSET_FETCH, body);
  answer.int32();
  const [offset = -1] = answer
    .array(() => {
      answer.string();
      return answer.array(() => {
        answer.int32();
        const committed = Number(answer.bytes(8).readBigInt64BE());
        answer.int32();
        answer.string();
        answer.int16();
        return committed;
      });
    })
    .flat();
  return offset;
}
