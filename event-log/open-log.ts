import { mergeRecords } from '../contract/records/record-parts.js';
import { USAGE_EVENTS_TOPIC } from '../contract/topics.js';
import { HOUR_MS } from '../contract/instant.js';
import type { Config } from '../runtime/config.js';
import type { EventLogReader, EventLogWriter } from './event-log.js';
import { createAgreePartitions } from './kafka/agree-partitions.js';
import { openKafkaReader } from './kafka/reader.js';
import { openKafkaWriter } from './kafka/writer.js';
import { openPostgresReader } from './postgres/reader.js';
import { openPostgresWriter } from './postgres/writer.js';

/** The settings of the log. */
export const EVENT_LOG_SETTINGS = [
  'KAFKA_BROKERS',
  'MINUTEBOOK_LOG_PARTITIONS',
  'MINUTEBOOK_LOG_REPLICAS',
  'MINUTEBOOK_LOG_RETENTION_HOURS',
  'MINUTEBOOK_PRODUCE_TIMEOUT_MS',
] as const;

export type EventLogConfig = Config<(typeof EVENT_LOG_SETTINGS)[number]> & {
  /** The given PostgreSQL or the embedded one; with Kafka it keeps the number of partitions. */
  readonly DATABASE_URL: string;
};

function kafkaTopic(config: EventLogConfig, brokers: string) {
  return {
    brokers,
    topic: USAGE_EVENTS_TOPIC,
    replicas: config.MINUTEBOOK_LOG_REPLICAS,
    agreePartitions: createAgreePartitions(config.DATABASE_URL),
  };
}

/**
 * Opens the log for writing: in Kafka when `KAFKA_BROKERS` is set, otherwise in PostgreSQL. Creates
 * the log when it does not exist.
 * @param mergesRecords false for values that are no encoded records: one that cannot be read would
 *   spoil those that Kafka gets with it as one record.
 * @throws ConfigError when the driver is missing or the log contradicts the settings.
 * @throws DependencyError when the log cannot be reached.
 */
export function openEventLogWriter(
  config: EventLogConfig,
  mergesRecords = true,
): Promise<EventLogWriter> {
  const merging = mergesRecords ? { mergeValues: mergeRecords } : {};
  const common = {
    partitionCount: config.MINUTEBOOK_LOG_PARTITIONS,
    produceTimeoutMs: config.MINUTEBOOK_PRODUCE_TIMEOUT_MS,
  };
  const brokers = config.KAFKA_BROKERS;
  return brokers === undefined
    ? openPostgresWriter({ ...common, url: config.DATABASE_URL })
    : openKafkaWriter({ ...common, ...kafkaTopic(config, brokers), ...merging });
}

/**
 * Opens the same log for reading.
 * @param onTrimFailure called when old records could not be removed; the next round tries again.
 * @throws the same errors as `openEventLogWriter`.
 */
export function openEventLogReader(
  config: EventLogConfig,
  onTrimFailure: (error: unknown) => void = () => undefined,
): Promise<EventLogReader> {
  const partitionCount = config.MINUTEBOOK_LOG_PARTITIONS;
  const brokers = config.KAFKA_BROKERS;
  if (brokers !== undefined) {
    return openKafkaReader({ ...kafkaTopic(config, brokers), partitionCount });
  }
  return openPostgresReader({
    url: config.DATABASE_URL,
    partitionCount,
    retentionMs: config.MINUTEBOOK_LOG_RETENTION_HOURS * HOUR_MS,
    onTrimFailure,
  });
}
