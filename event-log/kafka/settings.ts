import { RECORD_BYTES_MAX } from '../event-log.js';
import { RECORD_OVERHEAD_BYTES } from './topic.js';

/** The driver reports a record that timed out up to this much later. */
const TIMEOUT_SLACK_MS = 1_500;
const PRODUCE_TIMEOUT_MIN_MS = 1_000;
/** What ingest may hold in memory for a log that is slow; beyond it answers 503. */
const QUEUE_KBYTES = 64 * 1024;
const QUEUE_RECORDS = 100_000;
/** What the driver fetches ahead for all partitions of a reader together. */
const PREFETCH_KBYTES = 16 * 1024;
const PREFETCH_RECORDS = 20_000;
const MEBIBYTE = 1024 * 1024;

type Settings = Readonly<Record<string, string | number | boolean>>;

/** Connections: a broker that comes back is noticed within a second. */
function connection(brokers: string, clientId: string): Settings {
  return {
    'metadata.broker.list': brokers,
    'client.id': clientId,
    'reconnect.backoff.ms': 50,
    'reconnect.backoff.max.ms': 1_000,
    'socket.keepalive.enable': true,
    'topic.metadata.refresh.interval.ms': 60_000,
    // The brokers' coming and going is told by errors; lines on standard error would be no JSON.
    log_level: 0,
  };
}

/**
 * Settings of the producer: a retry inside the driver neither doubles nor reorders, and what it
 * holds in memory is bounded.
 */
export function producerSettings(brokers: string): Settings {
  return {
    ...connection(brokers, 'minutebook-ingest'),
    'enable.idempotence': true,
    'allow.auto.create.topics': false,
    'message.max.bytes': RECORD_BYTES_MAX + RECORD_OVERHEAD_BYTES,
    'queue.buffering.max.kbytes': QUEUE_KBYTES,
    'queue.buffering.max.messages': QUEUE_RECORDS,
    // Records of one moment share a request; longer gathering is delay for every caller.
    'linger.ms': 0.5,
    'compression.codec': 'lz4',
    dr_cb: true,
  };
}

/**
 * Settings of the topic on the producing side, which the driver ignores among those above: nothing
 * is acknowledged before all replicas in sync have it, and a record that cannot be stored is given
 * up before the caller's own patience ends.
 */
export function producerTopicSettings(produceTimeoutMs: number): Settings {
  return {
    acks: 'all',
    'message.timeout.ms': Math.max(PRODUCE_TIMEOUT_MIN_MS, produceTimeoutMs - TIMEOUT_SLACK_MS),
  };
}

/** Settings of the consumer: it reads what it is told, and no group decides for it. */
export function consumerSettings(brokers: string, group: string): Settings {
  return {
    ...connection(brokers, 'minutebook-aggregator'),
    'group.id': group,
    'enable.auto.commit': false,
    'enable.auto.offset.store': false,
    'isolation.level': 'read_committed',
    'queued.max.messages.kbytes': PREFETCH_KBYTES,
    'queued.min.messages': PREFETCH_RECORDS,
    'fetch.wait.max.ms': 100,
    // A full prefetch queue is looked at again soon: it is emptied in milliseconds, not in seconds.
    'fetch.queue.backoff.ms': 10,
    'fetch.error.backoff.ms': 100,
    // An answer may hold one record of the largest size beside others.
    'fetch.max.bytes': RECORD_BYTES_MAX + 2 * MEBIBYTE,
    'receive.message.max.bytes': 2 * RECORD_BYTES_MAX + 4 * MEBIBYTE,
  };
}

/** An offset that the log does not have is an error, never a reason to jump. */
export const CONSUMER_TOPIC_SETTINGS: Settings = { 'auto.offset.reset': 'error' };
