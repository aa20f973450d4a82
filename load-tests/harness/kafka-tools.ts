import { Admin } from '@platformatic/kafka';
import { AGGREGATOR_GROUP } from '../../contract/topics.js';
import {
  loadRdKafka,
  type RdKafkaAdmin,
  type RdKafkaError,
} from '../../event-log/kafka/rdkafka.js';

// What tests do to a topic from outside the product.

const TIMEOUT_MS = 10_000;

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

/** Asks over the administration client, which is closed afterwards. */
async function withAdminClient<T>(brokers: string, ask: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = new Admin({ clientId: 'minutebook-tests', bootstrapBrokers: brokers.split(',') });
  try {
    return await ask(admin);
  } finally {
    await admin.close();
  }
}

/** Removes the records of a partition below the offset, as retention would. */
export async function deleteRecords(
  brokers: string,
  at: { readonly topic: string; readonly partition: number; readonly offset: number },
): Promise<void> {
  const partitions = [{ partition: at.partition, offset: BigInt(at.offset) }];
  await withAdminClient(brokers, (admin) =>
    admin.deleteRecords({ topics: [{ name: at.topic, partitions }] }),
  );
}

/** The offset of partition 0 that the aggregator's group has committed; -1 when none. */
export async function committedOffset(brokers: string, topic: string): Promise<number> {
  const group = { groupId: AGGREGATOR_GROUP, topics: [{ name: topic, partitionIndexes: [0] }] };
  const [found] = await withAdminClient(brokers, (admin) =>
    admin.listConsumerGroupOffsets({ groups: [group] }),
  );
  return Number(found?.topics[0]?.partitions[0]?.committedOffset ?? -1);
}
