import { ConfigError } from '../../runtime/config.js';
import { codeOf, messageOf } from '../../runtime/failure.js';

// The types of node-rdkafka 3.6 that are used here, declared by hand because the package is
// optional: this code must compile and start without it.

export type RdKafkaError = { readonly code: number; readonly message: string };
type Settings = Readonly<Record<string, string | number | boolean>>;
type Done<T> = (error: RdKafkaError | null | undefined, result: T) => void;
type TopicPartition = { readonly topic: string; readonly partition: number };
type TopicOffset = TopicPartition & { readonly offset: number };
export type Watermarks = { readonly lowOffset: number; readonly highOffset: number };

export type RdKafkaMessage = {
  readonly partition: number;
  readonly offset: number;
  readonly value: Buffer | null;
  readonly timestamp?: number;
};

type Client = {
  connect(options: { readonly timeout: number }, done: Done<unknown>): void;
  getMetadata(
    options: { readonly topic: string; readonly timeout: number },
    done: Done<unknown>,
  ): void;
  on(event: 'event.error', listener: (error: RdKafkaError) => void): void;
};

export type DeliveryReport = { readonly opaque?: unknown; readonly offset?: number };

export type RdKafkaProducer = Client & {
  produce(
    topic: string,
    partition: number,
    value: Buffer | null,
    key: Buffer | null,
    timestamp: number | null,
    opaque: unknown,
  ): void;
  poll(): void;
  disconnect(timeoutMs: number, done: () => void): void;
  on(
    event: 'delivery-report',
    listener: (error: RdKafkaError | null, report: DeliveryReport) => void,
  ): void;
};

export type RdKafkaConsumer = Client & {
  incrementalAssign(assignments: readonly TopicOffset[]): void;
  incrementalUnassign(assignments: readonly TopicPartition[]): void;
  pause(partitions: readonly TopicPartition[]): void;
  resume(partitions: readonly TopicPartition[]): void;
  setDefaultConsumeTimeout(timeoutMs: number): void;
  consume(recordsMax: number, done: Done<readonly RdKafkaMessage[]>): void;
  commit(offset: TopicOffset): void;
  queryWatermarkOffsets(
    topic: string,
    partition: number,
    timeoutMs: number,
    done: Done<Watermarks>,
  ): void;
  /** The offset of each is the instant that is asked for; the answer has an offset in its place. */
  offsetsForTimes(
    asked: readonly TopicOffset[],
    timeoutMs: number,
    done: Done<readonly TopicOffset[]>,
  ): void;
  disconnect(done: () => void): void;
};

export type NewTopic = {
  readonly topic: string;
  readonly num_partitions: number;
  readonly replication_factor: number;
  readonly config: Readonly<Record<string, string>>;
};

export type RdKafkaAdmin = {
  createTopic(topic: NewTopic, timeoutMs: number, done: (error?: RdKafkaError) => void): void;
  deleteTopic(topic: string, timeoutMs: number, done: (error?: RdKafkaError) => void): void;
  createPartitions(
    topic: string,
    totalCount: number,
    timeoutMs: number,
    done: (error?: RdKafkaError) => void,
  ): void;
  disconnect(): void;
};

export type RdKafka = {
  /** What librdkafka was compiled with, such as `ssl`. */
  readonly features: readonly string[];
  readonly Producer: new (settings: Settings, topicSettings: Settings) => RdKafkaProducer;
  readonly KafkaConsumer: new (settings: Settings, topicSettings: Settings) => RdKafkaConsumer;
  readonly AdminClient: { create(settings: Settings): RdKafkaAdmin };
};

function isRdKafka(module: unknown): module is RdKafka {
  if (typeof module !== 'object' || module === null) return false;
  return 'Producer' in module && 'KafkaConsumer' in module && 'AdminClient' in module;
}

/** Compiles the driver. The same as cli/prepare/install.mjs runs. */
export const BUILD = 'npm rebuild node-rdkafka --ignore-scripts=false';

/** What keeps the driver from being loaded, and the command that mends it. */
function remedyOf(error: unknown): string {
  const reason = messageOf(error).replace(/(\. Tried:)?\n.*/s, '');
  return codeOf(error) === 'ERR_MODULE_NOT_FOUND'
    ? `is not installed: run "npm install --include=optional" and "${BUILD}"`
    : `is not compiled (${reason}): run "${BUILD}"`;
}

/**
 * Loads the Kafka driver. Installing it does not compile it: the commands of the repository do that
 * when they need it.
 * @param name the package. It is a variable so that the compiler does not look for the package.
 * @throws ConfigError that says what to run when the package is missing or not compiled.
 */
export async function loadRdKafka(name: string = 'node-rdkafka'): Promise<RdKafka> {
  try {
    const loaded: unknown = await import(name);
    const isWrapped = typeof loaded === 'object' && loaded !== null && 'default' in loaded;
    const driver: unknown = isWrapped ? loaded.default : loaded;
    if (isRdKafka(driver)) return driver;
    throw new TypeError('it exports neither producer nor consumer');
  } catch (error) {
    throw new ConfigError([
      `the Kafka client ${name} ${remedyOf(error)} where make, g++ and python3 are installed, or leave KAFKA_BROKERS out to keep the log in PostgreSQL`,
    ]);
  }
}
