import { codeOf, type DependencyError } from '../../runtime/failure.js';
import type { AppendRequest } from '../interface/event-log.js';
import { logOutage } from '../interface/group-commit.js';
import { KAFKA_ERROR, kafkaFailureOf } from './kafka-failure.js';
import type { RdKafkaProducer } from './rdkafka.js';

export type ProducerOptions = {
  readonly topic: string;
  /** After this time the records of a call fail, even if they may still become durable. */
  readonly produceTimeoutMs: number;
  /** @throws DependencyError when no broker can be reached. */
  readonly connect: () => Promise<RdKafkaProducer>;
  /**
   * Asks the brokers whether the topic is the log still.
   * @throws DependencyError when they do not answer; not retryable when it is another topic, or
   *   they refuse us.
   */
  readonly checkLog: () => Promise<void>;
  /** How long records wait for others. */
  readonly turnMs?: number;
};

/**
 * Single events of a partition that come within this time are one record, and one request to its
 * leader (docs/internals/architecture.md, D-021).
 */
const TURN_MS = 8;
/** Delivery reports come by polling: at this interval while some are due, else only errors do. */
const BUSY_POLL_MS = 2;
const IDLE_POLL_MS = 200;
/** That the topic is the log is asked anew now and then, so that one made anew is noticed. */
const CHECK_INTERVAL_MS = 60_000;
const CLOSE_TIMEOUT_MS = 2_000;

/** A record whose delivery report is due. */
class Delivery {
  constructor(
    readonly partition: number,
    readonly deadlineMs: number,
    readonly settle: (failure: DependencyError | null) => void,
  ) {}
}

/**
 * Hands records to the driver's idempotent producer, which repeats and orders them, and waits for
 * their delivery reports. A producer that has failed for good is replaced. Every delivery ends,
 * also when its report never comes.
 */
export class Producer {
  #producer: RdKafkaProducer;
  readonly #open = new Set<Delivery>();
  /** The offset of the record that was acknowledged last, by partition. */
  readonly #storedAt = new Map<number, number>();
  readonly #idlePoll: NodeJS.Timeout;
  #busyPoll: NodeJS.Timeout | null = null;
  #turn: Promise<void> | null = null;
  #checking: Promise<void> | null = null;
  #checkedAtMs = performance.now();
  /** Nothing is written before the brokers have said that the topic is the log. */
  #isDoubted = false;
  #isClosed = false;
  #isReopening = false;

  constructor(
    producer: RdKafkaProducer,
    private readonly options: ProducerOptions,
  ) {
    this.#producer = this.#attach(producer);
    this.#idlePoll = setInterval(() => this.#collect(), IDLE_POLL_MS).unref();
  }

  /** Resolves some milliseconds after the first call: what came meanwhile is to be delivered. */
  turn(): Promise<void> {
    this.#turn ??= new Promise((resolve) => {
      setTimeout(() => {
        this.#turn = null;
        resolve();
      }, this.options.turnMs ?? TURN_MS);
    });
    return this.#turn;
  }

  /**
   * Resolves when the records, all of one partition, are acknowledged. The caller waits for the end
   * of one call before the next one for the same partition.
   * @param deadlineMs when they fail, by the clock of `performance.now()`.
   * @throws DependencyError when they were not acknowledged in time; the log may have them
   *   nevertheless.
   */
  async deliver(
    records: readonly AppendRequest[],
    deadlineMs = performance.now() + this.options.produceTimeoutMs,
  ): Promise<void> {
    if (this.#isClosed) throw closedFailure();
    if (this.#isDoubted) await this.#check();
    else if (performance.now() - this.#checkedAtMs > CHECK_INTERVAL_MS) {
      // What it finds is told to the next call.
      this.#check().catch(() => undefined);
    }
    try {
      await Promise.all(records.map((record) => this.#deliverOne(record, deadlineMs)));
    } catch (error) {
      throw await this.#reasonOf(kafkaFailureOf(error, describeFailure(error)));
    }
  }

  /** @throws DependencyError when no broker answers. */
  ping(): Promise<void> {
    return this.#check();
  }

  /** Ends what is under way; nobody waits for records any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await closeProducer(this.#producer, CLOSE_TIMEOUT_MS);
    clearInterval(this.#idlePoll);
    if (this.#busyPoll !== null) clearInterval(this.#busyPoll);
    this.#fail([...this.#open], closedFailure());
  }

  #deliverOne({ partition, key, value }: AppendRequest, deadlineMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const delivery = new Delivery(partition, deadlineMs, (failure) => {
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
      this.#busyPoll ??= setInterval(() => this.#collect(), BUSY_POLL_MS);
    });
  }

  #attach(producer: RdKafkaProducer): RdKafkaProducer {
    producer.on('delivery-report', (error, { opaque, offset = -1 }) => {
      if (!(opaque instanceof Delivery)) return;
      if (error) opaque.settle(kafkaFailureOf(error, describeFailure(error)));
      else this.#stored(opaque, offset);
    });
    producer.on('event.error', (error) => {
      if (error.code === KAFKA_ERROR.fatal && producer === this.#producer) void this.#reopen();
    });
    return producer;
  }

  /**
   * Offsets of a log only rise. One that does not is of a topic that was made anew, which is
   * another log: its records would never be read.
   */
  #stored(delivery: Delivery, offset: number): void {
    if (offset <= (this.#storedAt.get(delivery.partition) ?? -1)) {
      this.#isDoubted = true;
      delivery.settle(logOutage('the broker answers with an offset that it had before'));
      return;
    }
    this.#storedAt.set(delivery.partition, offset);
    delivery.settle(null);
  }

  /** Calls that come while the brokers are asked share the answer. */
  #check(): Promise<void> {
    this.#checking ??= this.#askBrokers().finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  async #askBrokers(): Promise<void> {
    this.#checkedAtMs = performance.now();
    try {
      await this.options.checkLog();
      this.#isDoubted = false;
    } catch (error) {
      const failure = kafkaFailureOf(error, 'no broker answers');
      if (!failure.isRetryable) this.#isDoubted = true;
      throw failure;
    }
  }

  /** What no retry can overcome, such as a login that is refused, is told instead of a time-out. */
  async #reasonOf(failure: DependencyError): Promise<DependencyError> {
    if (!failure.isRetryable || this.#isClosed) return failure;
    const found = await this.#check().then(
      () => null,
      (error: unknown) => kafkaFailureOf(error, 'no broker answers'),
    );
    return found?.isRetryable === false ? found : failure;
  }

  #fail(deliveries: readonly Delivery[], failure: DependencyError): void {
    for (const delivery of deliveries) delivery.settle(failure);
  }

  #collect(): void {
    try {
      this.#producer.poll();
    } catch {
      // The driver throws only while it disconnects; `close` settles the remaining deliveries.
    }
    const nowMs = performance.now();
    const late = [...this.#open].filter(({ deadlineMs }) => deadlineMs <= nowMs);
    this.#fail(late, logOutage('no acknowledgement came in time'));
    if (this.#open.size > 0 || this.#busyPoll === null) return;
    clearInterval(this.#busyPoll);
    this.#busyPoll = null;
  }

  /**
   * After a fatal error an idempotent producer is unusable. What it holds and does not report as
   * failed is failed here, because nobody polls it afterwards.
   */
  async #reopen(): Promise<void> {
    if (this.#isReopening || this.#isClosed) return;
    this.#isReopening = true;
    try {
      const fresh = await this.options.connect();
      const [old, held] = [this.#producer, [...this.#open]];
      this.#producer = this.#attach(fresh);
      await closeProducer(old, CLOSE_TIMEOUT_MS);
      this.#fail(held, logOutage('the producer failed for good before the acknowledgement'));
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

export function closedFailure(): DependencyError {
  return logOutage('the writer is closed');
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
