import {
  assertAppendable,
  type AppendRequest,
  type EventLogWriter,
  type LogIdentity,
} from '../interface/event-log.js';
import { groupBy } from '../../runtime/group-by.js';
import { bytesOf, GroupCommit, logOutage, type QueueUsage } from '../interface/group-commit.js';
import { describeTopic } from './describe-topic.js';
import { kafkaFailureOf } from './kafka-failure.js';
import { closedFailure, Producer } from './producer.js';
import { loadRdKafka, type RdKafka, type RdKafkaProducer } from './rdkafka.js';
import { driverSecurity } from './security.js';
import { producerSettings, producerTopicSettings } from './settings.js';
import { assertSameLog, openKafkaTopic, type KafkaTopic } from './topic.js';

/** How the log is opened for writing. */
export type KafkaWriterOptions = KafkaTopic & {
  /** How long one append may take. */
  readonly produceTimeoutMs: number;
  /** Makes one value of several; without it every record is written by itself. */
  readonly mergeValues?: (values: readonly string[]) => string;
};

/**
 * A merged record has no more events than a bulk request may have, since the rows that one record
 * makes must fit into one insert (docs/internals/architecture.md 3.4), and the shortest event is 29
 * bytes.
 */
export const GROUP_BYTES_MAX = 28 * 1024;
const GROUP_RECORDS_MAX = 250;
/** A larger record is a batch of its own. */
const BATCH_BYTES_MAX = 900 * 1024;
/** What ingest may hold in memory while the log is slow. Beyond it, ingest answers 503. */
const QUEUE_BYTES_MAX = 64 * 1024 * 1024;
const QUEUE_RECORDS_MAX = 100_000;
const CONNECT_TIMEOUT_MS = 5_000;
const ASK_TIMEOUT_MS = 2_000;

function batchesOf(records: readonly AppendRequest[]): readonly (readonly AppendRequest[])[] {
  const batches: AppendRequest[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const size = bytesOf([record]);
    if (bytes + size > BATCH_BYTES_MAX) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)?.push(record);
    bytes += size;
  }
  return batches;
}

/**
 * Each partition sends one group of records at a time, and what comes meanwhile forms its next
 * group: partitions do not wait for each other, and few requests reach the brokers.
 */
export class KafkaLogWriter implements EventLogWriter {
  readonly #waiting: QueueUsage = { records: 0, bytes: 0 };
  readonly #partitions: readonly GroupCommit[];
  #closing: Promise<void> | null = null;

  constructor(
    readonly identity: LogIdentity,
    private readonly producer: Pick<Producer, 'turn' | 'deliver' | 'ping' | 'close'>,
    private readonly options: Pick<KafkaWriterOptions, 'produceTimeoutMs' | 'mergeValues'>,
  ) {
    const limits = {
      groupRecordsMax: GROUP_RECORDS_MAX,
      groupBytesMax: GROUP_BYTES_MAX,
      // An append is refused as a whole, before a part of it waits.
      queueRecordsMax: Infinity,
      queueBytesMax: Infinity,
      appendTimeoutMs: options.produceTimeoutMs,
    };
    const commit = (records: readonly AppendRequest[]): Promise<void> => this.#commit(records);
    this.#partitions = Array.from(
      { length: identity.partitionCount },
      () =>
        new GroupCommit(commit, limits, {
          usage: this.#waiting,
          turn: () => this.producer.turn(),
        }),
    );
  }

  append(records: readonly AppendRequest[]): Promise<void> {
    for (const record of records) assertAppendable(record, this.identity);
    if (this.#closing !== null) return Promise.reject(closedFailure());
    if (this.#isFull(records)) {
      return Promise.reject(logOutage(`the queue is full: ${this.#waiting.records} records wait`));
    }
    const [only] = records;
    if (only !== undefined && records.length === 1) return this.#appendTo(only.partition, records);
    const appends = [...groupBy(records, (record) => record.partition)].map(([partition, some]) =>
      this.#appendTo(partition, some),
    );
    return Promise.all(appends).then(() => undefined);
  }

  ping(): Promise<void> {
    return this.producer.ping();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all(this.#partitions.map((partition) => partition.close()));
    await this.producer.close();
  }

  #appendTo(partition: number, records: readonly AppendRequest[]): Promise<void> {
    const group = this.#partitions[partition];
    return group === undefined ? Promise.reject(closedFailure()) : group.append(records);
  }

  /** An empty queue takes an append of any size, since a large one would never fit otherwise. */
  #isFull(records: readonly AppendRequest[]): boolean {
    const { records: waiting, bytes } = this.#waiting;
    if (waiting === 0) return false;
    return (
      waiting + records.length > QUEUE_RECORDS_MAX || bytes + bytesOf(records) > QUEUE_BYTES_MAX
    );
  }

  /** Delivers the records of one partition, as one record when they are small together. */
  #commit(records: readonly AppendRequest[]): Promise<void> {
    const merged = this.#merge(records);
    return this.#deliver(merged === null ? records : [merged]);
  }

  /**
   * In the order of the records, one batch after the other: topics that others made bound the size
   * of a batch, by default at a megabyte.
   */
  async #deliver(records: readonly AppendRequest[]): Promise<void> {
    const deadlineMs = performance.now() + this.options.produceTimeoutMs;
    for (const batch of batchesOf(records)) await this.producer.deliver(batch, deadlineMs);
  }

  #merge(records: readonly AppendRequest[]): AppendRequest | null {
    const { mergeValues } = this.options;
    const [first] = records;
    if (mergeValues === undefined || first === undefined || records.length === 1) return null;
    if (bytesOf(records) > GROUP_BYTES_MAX) return null;
    return { ...first, value: mergeValues(records.map(({ value }) => value)) };
  }
}

async function connectProducer(
  rdkafka: RdKafka,
  options: KafkaWriterOptions,
): Promise<RdKafkaProducer> {
  const { brokers, produceTimeoutMs } = options;
  const security = driverSecurity(options.security, rdkafka.features);
  const producer = new rdkafka.Producer(
    producerSettings({ brokers, security }, produceTimeoutMs),
    producerTopicSettings(produceTimeoutMs),
  );
  return new Promise((resolve, reject) => {
    producer.connect({ timeout: CONNECT_TIMEOUT_MS }, (error) => {
      if (error) reject(kafkaFailureOf(error, 'the producer could not connect'));
      else resolve(producer);
    });
  });
}

/**
 * Opens the log in Kafka for writing, and creates its topic when there is none.
 * @throws ConfigError when the driver is missing or the topic cannot serve as the log.
 * @throws DependencyError when Kafka cannot be reached.
 */
export async function openKafkaWriter(options: KafkaWriterOptions): Promise<EventLogWriter> {
  const rdkafka = await loadRdKafka();
  const identity = await openKafkaTopic(rdkafka, options);
  const connect = (): Promise<RdKafkaProducer> => connectProducer(rdkafka, options);
  const { topic, produceTimeoutMs } = options;
  const checkLog = async (): Promise<void> => {
    const found = await describeTopic(options, ASK_TIMEOUT_MS);
    // A broker that has just started may not know it yet.
    if (found.topic === null) throw logOutage(`the brokers do not know the topic ${topic}`);
    assertSameLog(identity.logId, found);
  };
  const producer = new Producer(await connect(), { topic, produceTimeoutMs, connect, checkLog });
  return new KafkaLogWriter(identity, producer, options);
}
