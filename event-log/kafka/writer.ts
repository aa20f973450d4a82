import { assertThat, codeOf, DependencyError } from '../../runtime/failure.js';
import {
  assertAppendable,
  type AppendRequest,
  type EventLogWriter,
  type LogIdentity,
} from '../event-log.js';
import { KAFKA_ERROR, kafkaFailureOf } from './failure.js';
import { loadRdKafka, type RdKafkaProducer } from './rdkafka.js';
import { producerSettings, producerTopicSettings } from './settings.js';
import { openKafkaTopic, type KafkaTopic } from './topic.js';

/** How the writing side is opened. */
export type KafkaWriterOptions = KafkaTopic & {
  /** Longest wait of one append. */
  readonly produceTimeoutMs: number;
};

/** Delivery reports are collected by polling, so this is the floor of every append's delay. */
const BUSY_POLL_MS = 1;
/** Without appends only errors are collected. */
const IDLE_POLL_MS = 200;
const CONNECT_TIMEOUT_MS = 5_000;
const PING_TIMEOUT_MS = 2_000;

/** An append whose records are not all reported yet. */
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

  /** Counts one report; the first failure decides, and later reports change nothing. */
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
      const question = { topic: this.options.topic, timeout: PING_TIMEOUT_MS };
      this.#producer.getMetadata(question, (error) => {
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
      this.#report(delivery, kafkaFailureOf(error, refusalOf(error)));
    }
  }

  #attach(producer: RdKafkaProducer): RdKafkaProducer {
    producer.on('delivery-report', (error, { opaque }) => {
      assertThat(opaque instanceof Delivery, 'a delivery report belongs to no append');
      this.#report(opaque, error ? kafkaFailureOf(error, refusalOf(error)) : null);
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
      // Thrown while the driver disconnects only; closing settles what is left.
    }
    if (this.#open.size > 0 || this.#busyPoll === null) return;
    clearInterval(this.#busyPoll);
    this.#busyPoll = null;
  }

  /**
   * A fatal error ends the life of an idempotent producer: what it still held is reported as
   * failed, and a new one takes its place.
   */
  async #reopen(): Promise<void> {
    if (this.#isReopening || this.#closing !== null) return;
    this.#isReopening = true;
    try {
      const old = this.#producer;
      this.#producer = this.#attach(await connectProducer(this.options));
      await closeProducer(old, PING_TIMEOUT_MS);
    } catch {
      // The brokers are away; the next refused record tries again.
    } finally {
      this.#isReopening = false;
    }
  }
}

function refusalOf(error: unknown): string {
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
      // It was not connected any more.
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
