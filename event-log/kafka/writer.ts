import { assertThat, codeOf, DependencyError } from '../../runtime/failure.js';
import {
  assertAppendable,
  type AppendRequest,
  type EventLogWriter,
  type LogIdentity,
} from '../event-log.js';
import { KAFKA_ERROR, kafkaFailureOf } from './kafka-failure.js';
import { loadRdKafka, type RdKafkaProducer } from './rdkafka.js';
import { producerSettings, producerTopicSettings } from './settings.js';
import { openKafkaTopic, type KafkaTopic } from './topic.js';

/** How the log is opened for writing. */
export type KafkaWriterOptions = KafkaTopic & {
  /** How long one append may take. */
  readonly produceTimeoutMs: number;
};

/** Delivery reports come by polling, so no append takes less than this. */
const BUSY_POLL_MS = 1;
/** The interval without appends, when only errors are collected. */
const IDLE_POLL_MS = 200;
const CONNECT_TIMEOUT_MS = 5_000;
const PING_TIMEOUT_MS = 2_000;

/** An append that waits for the delivery reports of its records. */
class Delivery {
  #missing: number;

  constructor(
    records: number,
    private readonly settle: (failure: DependencyError | null) => void,
  ) {
    this.#missing = records;
  }

  get isComplete(): boolean {
    return this.#missing === 0;
  }

  /** Counts one report. The first failure settles the append; later reports change nothing. */
  report(failure: DependencyError | null): void {
    this.#missing -= 1;
    if (failure !== null || this.isComplete) this.settle(failure);
  }

  abandon(failure: DependencyError): void {
    this.settle(failure);
  }
}

class KafkaLogWriter implements EventLogWriter {
  #producer: RdKafkaProducer;
  readonly #open = new Set<Delivery>();
  readonly #idlePoll: NodeJS.Timeout;
  #busyPoll: NodeJS.Timeout | null = null;
  #closing: Promise<void> | null = null;
  #isReopening = false;

  constructor(
    readonly identity: LogIdentity,
    producer: RdKafkaProducer,
    private readonly options: KafkaWriterOptions,
  ) {
    this.#producer = this.#attach(producer);
    this.#idlePoll = setInterval(() => {
      this.#collect();
    }, IDLE_POLL_MS).unref();
  }

  append(records: readonly AppendRequest[]): Promise<void> {
    for (const record of records) assertAppendable(record, this.identity);
    if (records.length === 0) return Promise.resolve();
    if (this.#closing !== null) return Promise.reject(closed());
    return new Promise((resolve, reject) => {
      const delivery = new Delivery(records.length, (failure) => {
        if (failure === null) resolve();
        else reject(failure);
      });
      this.#open.add(delivery);
      for (const record of records) this.#produce(record, delivery);
      this.#busyPoll ??= setInterval(() => {
        this.#collect();
      }, BUSY_POLL_MS);
    });
  }

  ping(): Promise<void> {
    return new Promise((resolve, reject) => {
      const options = { topic: this.options.topic, timeout: PING_TIMEOUT_MS };
      this.#producer.getMetadata(options, (error) => {
        if (error) reject(kafkaFailureOf(error, 'no broker answers'));
        else resolve();
      });
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await closeProducer(this.#producer, this.options.produceTimeoutMs);
    clearInterval(this.#idlePoll);
    if (this.#busyPoll !== null) clearInterval(this.#busyPoll);
    for (const delivery of this.#open) delivery.abandon(closed());
  }

  #produce({ partition, key, value }: AppendRequest, delivery: Delivery): void {
    const { topic } = this.options;
    try {
      const bytes = Buffer.from(value);
      this.#producer.produce(topic, partition, bytes, Buffer.from(key), null, delivery);
    } catch (error) {
      if (codeOf(error) === String(KAFKA_ERROR.fatal)) void this.#reopen();
      this.#report(delivery, kafkaFailureOf(error, describeFailure(error)));
    }
  }

  #attach(producer: RdKafkaProducer): RdKafkaProducer {
    producer.on('delivery-report', (error, { opaque }) => {
      assertThat(opaque instanceof Delivery, 'a delivery report belongs to no append');
      this.#report(opaque, error ? kafkaFailureOf(error, describeFailure(error)) : null);
    });
    producer.on('event.error', (error) => {
      if (error.code === KAFKA_ERROR.fatal && producer === this.#producer) void this.#reopen();
    });
    return producer;
  }

  #report(delivery: Delivery, failure: DependencyError | null): void {
    delivery.report(failure);
    if (delivery.isComplete) this.#open.delete(delivery);
  }

  #collect(): void {
    try {
      this.#producer.poll();
    } catch {
      // The driver throws only while it disconnects; `close` settles the remaining appends.
    }
    if (this.#open.size > 0 || this.#busyPoll === null) return;
    clearInterval(this.#busyPoll);
    this.#busyPoll = null;
  }

  /**
   * Replaces the producer. After a fatal error an idempotent producer is unusable; it reports the
   * records that it still holds as failed.
   */
  async #reopen(): Promise<void> {
    if (this.#isReopening || this.#closing !== null) return;
    this.#isReopening = true;
    try {
      const old = this.#producer;
      this.#producer = this.#attach(await connectProducer(this.options));
      await closeProducer(old, PING_TIMEOUT_MS);
    } catch {
      // The brokers are away; the next record that fails tries again.
    } finally {
      this.#isReopening = false;
    }
  }
}

function describeFailure(error: unknown): string {
  return codeOf(error) === String(KAFKA_ERROR.recordTooLarge)
    ? 'a record is larger than max.message.bytes of the topic allows'
    : 'a record was not acknowledged';
}

function closed(): DependencyError {
  return new DependencyError('event log in Kafka: the writer is closed', {
    dependency: 'event-log',
    isRetryable: true,
  });
}

async function connectProducer(options: KafkaWriterOptions): Promise<RdKafkaProducer> {
  const { brokers, produceTimeoutMs } = options;
  const rdkafka = await loadRdKafka();
  const producer = new rdkafka.Producer(
    producerSettings(brokers),
    producerTopicSettings(produceTimeoutMs),
  );
  return new Promise((resolve, reject) => {
    producer.connect({ timeout: CONNECT_TIMEOUT_MS }, (error) => {
      if (error) reject(kafkaFailureOf(error, 'the producer could not connect'));
      else resolve(producer);
    });
  });
}

/** Waits for the outstanding records, then disconnects. */
function closeProducer(producer: RdKafkaProducer, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    try {
      producer.disconnect(timeoutMs, resolve);
    } catch {
      // The producer was not connected any more.
      resolve();
    }
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
  const producer = await connectProducer(options);
  return new KafkaLogWriter(identity, producer, options);
}
