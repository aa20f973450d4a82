import { mergeRecords } from '../contract/records/record-parts.js';
import { USAGE_EVENTS_TOPIC } from '../contract/topics.js';
import { HOUR_MS } from '../contract/instant.js';
import type { Config } from '../runtime/config.js';
import type { EventLogReader, EventLogWriter } from './interface/event-log.js';
import { createAgreePartitions } from './kafka/agree-partitions.js';
import { openKafkaReader } from './kafka/reader.js';
import { KAFKA_SETTINGS, readKafkaSecurity } from './kafka/security.js';
import { openKafkaWriter } from './kafka/writer.js';
import { openPostgresReader } from './postgres/reader.js';
import { openPostgresWriter } from './postgres/writer.js';

/** The settings of the log. */
export const EVENT_LOG_SETTINGS = [
  ...KAFKA_SETTINGS,
  'MINUTEBOOK_LOG_PARTITIONS',
  'MINUTEBOOK_LOG_REPLICAS',
  'MINUTEBOOK_LOG_RETENTION_HOURS',
  'MINUTEBOOK_PRODUCE_TIMEOUT_MS',
] as const;

export type EventLogConfig = Config<(typeof EVENT_LOG_SETTINGS)[number]> & {
  /** The given PostgreSQL or the embedded one; with Kafka it keeps the number of partitions. */
  readonly DATABASE_URL: string;
};

/** The topic, or null when the log is in PostgreSQL. @throws ConfigError: settings do not fit. */
function kafkaTopic(config: EventLogConfig) {
  const security = readKafkaSecurity(config);
  const brokers = config.KAFKA_BROKERS;
  if (brokers === undefined) return null;
  return {
    brokers,
    security,
    topic: config.KAFKA_TOPIC ?? USAGE_EVENTS_TOPIC,
    replicas: config.MINUTEBOOK_LOG_REPLICAS,
    agreePartitions: createAgreePartitions(config.DATABASE_URL),
  };
}

/**
 * Opens the log for writing: in Kafka when `KAFKA_BROKERS` is set, otherwise in PostgreSQL. Creates
 * the log when it does not exist.
 * @param mergesRecords false for values that are no encoded records: one that cannot be read would
 *   spoil those that Kafka gets with it as one record.
 * @throws ConfigError when the driver is missing, settings do not fit together, or the log
 *   contradicts them.
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
  const kafka = kafkaTopic(config);
  return kafka === null
    ? openPostgresWriter({ ...common, url: config.DATABASE_URL })
    : openKafkaWriter({ ...common, ...kafka, ...merging });
}

/** Opens the same log for reading. @throws the same errors as `openEventLogWriter`. */
export function openEventLogReader(config: EventLogConfig): Promise<EventLogReader> {
  const partitionCount = config.MINUTEBOOK_LOG_PARTITIONS;
  const kafka = kafkaTopic(config);
  if (kafka !== null) return openKafkaReader({ ...kafka, partitionCount });
  return openPostgresReader({
    url: config.DATABASE_URL,
    partitionCount,
    retentionMs: config.MINUTEBOOK_LOG_RETENTION_HOURS * HOUR_MS,
  });
}
