import {
  assertAppendable,
  type AppendRequest,
  type EventLogWriter,
  type LogIdentity,
} from '../event-log.js';
import { byPartition } from '../by-partition.js';
import { bytesOf, GroupCommit, logOutage, type QueueUsage } from '../group-commit.js';
import { closedFailure, Deliveries } from './deliveries.js';
import { kafkaFailureOf } from './kafka-failure.js';
import { loadRdKafka, type RdKafkaProducer } from './rdkafka.js';
import { driverSecurity } from './security.js';
import { producerSettings, producerTopicSettings } from './settings.js';
import { openKafkaTopic, type KafkaTopic } from './topic.js';

/** How the log is opened for writing. */
export type KafkaWriterOptions = KafkaTopic & {
  /** How long one append may take. */
  readonly produceTimeoutMs: number;
  /** Makes one value of several; without it every record is written by itself. */
  readonly mergeValues?: (values: readonly string[]) => string;
};

const CONNECT_TIMEOUT_MS = 5_000;
/**
 * A merged record has no more events than a bulk request may have, since the rows that one record
 * makes must fit into one insert (docs/architecture.md 3.4), and the shortest event is 29 bytes.
 */
export const GROUP_BYTES_MAX = 28 * 1024;
const GROUP_RECORDS_MAX = 250;
/** What ingest may hold in memory while the log is slow. Beyond it, ingest answers 503. */
const QUEUE_BYTES_MAX = 64 * 1024 * 1024;
const QUEUE_RECORDS_MAX = 100_000;

/**
 * Each partition has one group of records under way, and what comes meanwhile forms its next group:
 * partitions do not wait for each other, and fewer, larger requests reach the broker.
 */
export class KafkaLogWriter implements EventLogWriter {
  readonly #waiting: QueueUsage = { records: 0, bytes: 0 };
  readonly #partitions: readonly GroupCommit[];
  #closing: Promise<void> | null = null;

  constructor(
    readonly identity: LogIdentity,
    private readonly deliveries: Pick<Deliveries, 'deliver' | 'ping' | 'close'>,
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
      () => new GroupCommit(commit, limits, this.#waiting),
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
    const appends = [...byPartition(records)].map(([partition, some]) =>
      this.#appendTo(partition, some),
    );
    return Promise.all(appends).then(() => undefined);
  }

  ping(): Promise<void> {
    return this.deliveries.ping();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all(this.#partitions.map((partition) => partition.close()));
    await this.deliveries.close();
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
  async #commit(records: readonly AppendRequest[]): Promise<void> {
    const merged = this.#merge(records);
    if (merged !== null) return this.deliveries.deliver(merged);
    await Promise.all(records.map((record) => this.deliveries.deliver(record)));
  }

  #merge(records: readonly AppendRequest[]): AppendRequest | null {
    const { mergeValues } = this.options;
    const [first] = records;
    if (mergeValues === undefined || first === undefined || records.length === 1) return null;
    if (bytesOf(records) > GROUP_BYTES_MAX) return null;
    return { ...first, value: mergeValues(records.map(({ value }) => value)) };
  }
}

async function connectProducer(options: KafkaWriterOptions): Promise<RdKafkaProducer> {
  const { brokers, produceTimeoutMs } = options;
  const rdkafka = await loadRdKafka();
  const security = driverSecurity(options.security, rdkafka.features);
  const producer = new rdkafka.Producer(
    producerSettings({ brokers, security }),
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
  const connect = (): Promise<RdKafkaProducer> => connectProducer(options);
  const { topic, produceTimeoutMs } = options;
  const deliveries = new Deliveries(await connect(), { topic, produceTimeoutMs, connect });
  return new KafkaLogWriter(identity, deliveries, options);
}
