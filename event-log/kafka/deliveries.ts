import { assertThat, codeOf, DependencyError } from '../../runtime/failure.js';
import type { AppendRequest } from '../event-log.js';
import { KAFKA_ERROR, kafkaFailureOf } from './kafka-failure.js';
import type { RdKafkaProducer } from './rdkafka.js';

export type DeliveryOptions = {
  readonly topic: string;
  /** How long one append may take. */
  readonly produceTimeoutMs: number;
  /** @throws DependencyError when no broker can be reached. */
  readonly connect: () => Promise<RdKafkaProducer>;
};

/** Delivery reports come by polling, so no append takes less than this. */
const BUSY_POLL_MS = 1;
/** The interval without appends, when only errors are collected. */
const IDLE_POLL_MS = 200;
const PING_TIMEOUT_MS = 2_000;
/** The driver reports every record within the time of an append; a report this late never comes. */
const REPORT_SLACK_MS = 1_000;

/** A record whose delivery report is due. */
class Delivery {
  constructor(
    readonly deadlineMs: number,
    readonly settle: (failure: DependencyError | null) => void,
  ) {}
}

/**
 * Hands records to the producer and waits for their delivery reports. A producer that has failed
 * for good is replaced. Every delivery ends, also when its report never comes.
 */
export class Deliveries {
  #producer: RdKafkaProducer;
  /** Oldest first. */
  readonly #open = new Set<Delivery>();
  readonly #idlePoll: NodeJS.Timeout;
  #busyPoll: NodeJS.Timeout | null = null;
  #isClosing = false;
  #isReopening = false;

  constructor(
    producer: RdKafkaProducer,
    private readonly options: DeliveryOptions,
  ) {
    this.#producer = this.#attach(producer);
    this.#idlePoll = setInterval(() => {
      this.#collect();
    }, IDLE_POLL_MS).unref();
  }

  /**
   * Resolves when the record is acknowledged. Records of a partition keep the order of the calls.
   * @throws DependencyError when it was not acknowledged in time; the log may have it nevertheless.
   */
  deliver({ partition, key, value }: AppendRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      const deadlineMs = performance.now() + this.options.produceTimeoutMs + REPORT_SLACK_MS;
      const delivery = new Delivery(deadlineMs, (failure) => {
        this.#open.delete(delivery);
        if (failure === null) resolve();
        else reject(failure);
      });
      this.#open.add(delivery);
      try {
        const [bytes, keyBytes] = [Buffer.from(value), Buffer.from(key)];
        this.#producer.produce(this.options.topic, partition, bytes, keyBytes, null, delivery);
      } catch (error) {
        if (codeOf(error) === String(KAFKA_ERROR.fatal)) void this.#reopen();
        delivery.settle(kafkaFailureOf(error, describeFailure(error)));
      }
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

  async close(): Promise<void> {
    this.#isClosing = true;
    await closeProducer(this.#producer, this.options.produceTimeoutMs);
    clearInterval(this.#idlePoll);
    if (this.#busyPoll !== null) clearInterval(this.#busyPoll);
    this.#fail(this.#open, closedFailure());
  }

  #attach(producer: RdKafkaProducer): RdKafkaProducer {
    producer.on('delivery-report', (error, { opaque }) => {
      assertThat(opaque instanceof Delivery, 'a delivery report belongs to no append');
      opaque.settle(error ? kafkaFailureOf(error, describeFailure(error)) : null);
    });
    producer.on('event.error', (error) => {
      if (error.code === KAFKA_ERROR.fatal && producer === this.#producer) void this.#reopen();
    });
    return producer;
  }

  #fail(deliveries: Iterable<Delivery>, failure: DependencyError): void {
    for (const delivery of [...deliveries]) delivery.settle(failure);
  }

  #collect(): void {
    try {
      this.#producer.poll();
    } catch {
      // The driver throws only while it disconnects; `close` settles the remaining appends.
    }
    this.#failLate();
    if (this.#open.size > 0 || this.#busyPoll === null) return;
    clearInterval(this.#busyPoll);
    this.#busyPoll = null;
  }

  #failLate(): void {
    const nowMs = performance.now();
    for (const delivery of this.#open) {
      if (delivery.deadlineMs > nowMs) return;
      delivery.settle(outage('no delivery report came in time'));
    }
  }

  /**
   * Replaces the producer. After a fatal error an idempotent producer is unusable. It reports the
   * records that it still holds as failed; those that it does not report are failed here, because
   * nobody polls it afterwards.
   */
  async #reopen(): Promise<void> {
    if (this.#isReopening || this.#isClosing) return;
    this.#isReopening = true;
    try {
      const fresh = await this.options.connect();
      const old = this.#producer;
      const held = [...this.#open];
      this.#producer = this.#attach(fresh);
      await closeProducer(old, PING_TIMEOUT_MS);
      this.#fail(held, outage('the producer failed for good before the record was acknowledged'));
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

function outage(message: string): DependencyError {
  return new DependencyError(`event log in Kafka: ${message}`, {
    dependency: 'event-log',
    isRetryable: true,
  });
}

export function closedFailure(): DependencyError {
  return outage('the writer is closed');
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
