import { KAFKA_SETTINGS } from '../../event-log/kafka/security.js';
import { readConfig } from '../../runtime/config.js';

/**
 * Several products can run on one machine, and the port of the interface is the one that is known.
 * Somebody who tries things out does not wait for a load balancer, and may sign up
 * and look at the console.
 */
const DEFAULTS = {
  MINUTEBOOK_METRICS_PORT: '0',
  MINUTEBOOK_STOP_DELAY_MS: '0',
  MINUTEBOOK_SIGN_UP: 'open',
  MINUTEBOOK_CONSOLE: 'http',
};

/** The settings of the whole product. @throws ConfigError. */
export function readStackConfig(environment: Readonly<Record<string, string | undefined>>) {
  return readConfig(
    [
      'DATABASE_URL',
      'MINUTEBOOK_OWNER_DATABASE_URL',
      'MINUTEBOOK_READER_CLICKHOUSE_URL',
      'CLICKHOUSE_URL',
      ...KAFKA_SETTINGS,
      'MINUTEBOOK_PORT',
      'MINUTEBOOK_HOST',
      'MINUTEBOOK_DATA_DIR',
      'MINUTEBOOK_BOOTSTRAP_API_KEY',
      'MINUTEBOOK_TOKEN_SECRET',
      'MINUTEBOOK_SECRETS_KEY',
      'MINUTEBOOK_PREVIOUS_SECRETS_KEY',
      'MINUTEBOOK_PRIVATE_TARGETS',
      'MINUTEBOOK_SIGN_UP',
      'MINUTEBOOK_CONSOLE',
      'MINUTEBOOK_LOG_LEVEL',
      'MINUTEBOOK_LOG_PARTITIONS',
      'MINUTEBOOK_LOG_REPLICAS',
      'MINUTEBOOK_LOG_RETENTION_HOURS',
      'MINUTEBOOK_PRODUCE_TIMEOUT_MS',
      'MINUTEBOOK_STALE_KEY_SECONDS',
      'MINUTEBOOK_INGEST_RATE',
      'MINUTEBOOK_HEAVY_RATE',
      'MINUTEBOOK_DEFAULT_RATE',
      'MINUTEBOOK_FAILED_AUTH_RATE',
      'MINUTEBOOK_PROXY_COUNT',
      'MINUTEBOOK_PUBLIC_RATE',
      'MINUTEBOOK_FLUSH_DELAY_MS',
      'MINUTEBOOK_BATCH_EVENTS_MAX',
      'MINUTEBOOK_FILTER_FALSE_POSITIVE_RATE',
      'MINUTEBOOK_METER_REVERT_HOURS',
      'MINUTEBOOK_EVENT_RETENTION_DAYS',
      'MINUTEBOOK_STOP_DELAY_MS',
      'MINUTEBOOK_METRICS_HOST',
      'MINUTEBOOK_METRICS_PORT',
    ],
    environment,
    DEFAULTS,
  );
}

export type StackConfig = ReturnType<typeof readStackConfig>;
