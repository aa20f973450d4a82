import { MESSAGE_BYTES_WANTED } from './topic-problems.js';

/** The driver reports a time-out of a record up to this much later. */
const TIMEOUT_SLACK_MS = 1_500;
const PRODUCE_TIMEOUT_MIN_MS = 1_000;
/**
 * A broker answers within this part of the time of an append, whether all replicas have the records
 * or not, so that one that is late or hangs leaves time to send them again.
 */
const ANSWERS_PER_APPEND = 4;
/** The answer may be on its way this much longer. */
const ANSWER_SLACK_MS = 1_000;
/** The writer bounds what waits, too; this holds for what it has handed over. */
const QUEUE_KBYTES = 128 * 1024;
const QUEUE_RECORDS = 100_000;
/** What the driver fetches ahead, for all partitions of a reader together: a third of a second. */
const PREFETCH_KBYTES = 4 * 1024;
/** Of each partition in one answer, as it was compressed: unpacked it is several times as much. */
const PARTITION_FETCH_BYTES = 256 * 1024;
const PREFETCH_RECORDS = 20_000;
const MEBIBYTE = 1024 * 1024;
/** A topic may hold larger records than are appended now, of earlier releases for instance. */
const RECORD_READ_BYTES_MAX = 48 * MEBIBYTE;
/**
 * The broker answers when it has so many bytes for us, or when a record has waited for the time
 * below. It is what one partition may give: were it more, and only one partition had records left,
 * every answer would wait that long.
 */
const FETCH_BYTES_MIN = PARTITION_FETCH_BYTES;
/** A fifth of the default flush delay of the aggregator. */
const FETCH_WAIT_MS = 40;

type Settings = Readonly<Record<string, string | number | boolean>>;

/** How the driver reaches the brokers: their addresses, and TLS and login (`driverSecurity`). */
export type DriverAccess = { readonly brokers: string; readonly security: Settings };

/** Settings of connections. A broker that comes back is noticed within a second. */
function connection({ brokers, security }: DriverAccess, clientId: string): Settings {
  return {
    ...security,
    'metadata.broker.list': brokers,
    'client.id': clientId,
    'reconnect.backoff.ms': 50,
    'reconnect.backoff.max.ms': 1_000,
    'socket.keepalive.enable': true,
    'topic.metadata.refresh.interval.ms': 60_000,
    // Errors report what happens to brokers; log lines of the driver would not be JSON.
    log_level: 0,
  };
}

/**
 * Settings of the producer. A retry of the driver neither duplicates nor reorders records, and the
 * memory of the driver is bounded.
 */
export function producerSettings(access: DriverAccess, produceTimeoutMs: number): Settings {
  return {
    ...connection(access, 'minutebook-ingest'),
    'enable.idempotence': true,
    'allow.auto.create.topics': false,
    'message.max.bytes': MESSAGE_BYTES_WANTED,
    'queue.buffering.max.kbytes': QUEUE_KBYTES,
    'queue.buffering.max.messages': QUEUE_RECORDS,
    'socket.timeout.ms': Math.ceil(produceTimeoutMs / ANSWERS_PER_APPEND) + ANSWER_SLACK_MS,
    // Records have waited for each other already (D-021).
    'linger.ms': 0,
    'compression.codec': 'lz4',
    dr_cb: true,
  };
}

/**
 * Topic settings of the producer, which the driver ignores among the settings above. A record is
 * acknowledged only when all in-sync replicas have it, and a record that cannot be stored fails
 * before the caller's own time-out.
 */
export function producerTopicSettings(produceTimeoutMs: number): Settings {
  return {
    acks: 'all',
    'request.timeout.ms': Math.ceil(produceTimeoutMs / ANSWERS_PER_APPEND),
    'message.timeout.ms': Math.max(PRODUCE_TIMEOUT_MIN_MS, produceTimeoutMs - TIMEOUT_SLACK_MS),
  };
}

/** Settings of the consumer. It reads the partitions it is given; its group assigns none. */
export function consumerSettings(access: DriverAccess, group: string): Settings {
  return {
    ...connection(access, 'minutebook-aggregator'),
    'group.id': group,
    'enable.auto.commit': false,
    'enable.auto.offset.store': false,
    'isolation.level': 'read_committed',
    'queued.max.messages.kbytes': PREFETCH_KBYTES,
    'queued.min.messages': PREFETCH_RECORDS,
    // The broker answers every so often, not at every record that comes: else each request to
    // append makes it answer one to fetch, which costs as much again.
    'fetch.min.bytes': FETCH_BYTES_MIN,
    'fetch.wait.max.ms': FETCH_WAIT_MS,
    // A larger batch comes whole, but only as the first one of an answer. The order of partitions
    // changes with each request, so its turn comes.
    'fetch.message.max.bytes': PARTITION_FETCH_BYTES,
    // A full prefetch queue is checked again soon, since it is emptied within milliseconds.
    'fetch.queue.backoff.ms': 10,
    'fetch.error.backoff.ms': 100,
    // A response may hold a record of the largest size beside others.
    'fetch.max.bytes': RECORD_READ_BYTES_MAX + 2 * MEBIBYTE,
    'receive.message.max.bytes': 2 * RECORD_READ_BYTES_MAX + 4 * MEBIBYTE,
  };
}

/** Reading an offset that the log does not have is an error; the consumer must never jump. */
export const CONSUMER_TOPIC_SETTINGS: Settings = { 'auto.offset.reset': 'error' };
