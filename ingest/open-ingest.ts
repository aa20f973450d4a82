import { openEventLogWriter, type EventLogConfig } from '../event-log/open-log.js';
import { systemClock } from '../runtime/clock.js';
import type { Config } from '../runtime/config.js';
import { setHeapGrowth } from '../runtime/heap.js';
import { createFailedAuthentication } from '../runtime/http/failed-authentication.js';
import { createPublicRate } from '../runtime/http/public-rate.js';
import type { ProgramServer } from '../runtime/http/program-server.js';
import type { Lifecycle } from '../runtime/lifecycle.js';
import type { Log } from '../runtime/log.js';
import { createMetrics, type Metrics } from '../runtime/metrics.js';
import type { Operations } from '../runtime/operational-pages.js';
import { createReadiness } from '../runtime/readiness.js';
import { createApiKeyDirectory } from '../sql/api-keys.js';
import { refuseOtherLog, useLog } from '../sql/log-in-use.js';
import { startKeyUses } from '../sql/key-uses.js';
import { assertMigrated, openPreparedDatabase } from '../sql/prepared-database.js';
import { createIngest } from './create-ingest.js';
import { createForward } from './forward/forward-requests.js';
import { createPortListener, operationsOfPort } from './forward/port-pages.js';
import { createStaleKeys, readyWithoutPostgres } from './outlast-postgres.js';
import { createOperations } from './http/operations.js';

/** Only for look-ups of API keys, at most one per second and key. */
const POOL_SIZE = 4;
/** Less would save more, and may cost some of the rate of single events. */
const HEAP_GROWTH_PERCENT = 200;

export type IngestConfig = EventLogConfig &
  Config<
    | 'MINUTEBOOK_STALE_KEY_SECONDS'
    | 'MINUTEBOOK_INGEST_RATE'
    | 'MINUTEBOOK_FAILED_AUTH_RATE'
    | 'MINUTEBOOK_PROXY_COUNT'
    | 'MINUTEBOOK_PUBLIC_RATE'
  >;

/** The billing-api that answers every other request of the port. */
export type BillingApi = {
  /** Null while it does not run. */
  readonly origin: () => string | null;
  /** Whether it can be reached through this port only. */
  readonly isOnlyPort: boolean;
};

export type IngestOpening = {
  readonly config: IngestConfig;
  readonly log: Log;
  readonly lifecycle: Lifecycle;
  /** Null for a port that has the event routes and the operational pages only. */
  readonly billingApi: BillingApi | null;
};

/** The log in PostgreSQL takes no event without it, whatever is known of keys. */
function staleMsOf(config: IngestConfig): number {
  return config.KAFKA_BROKERS === undefined ? 0 : config.MINUTEBOOK_STALE_KEY_SECONDS * 1000;
}

/** A server that does not listen yet, and what it says of itself. */
export type OpenedIngest = {
  readonly server: ProgramServer;
  readonly operations: Operations;
  readonly metrics: Metrics;
};

/** Opens what ingest needs, and closes it through `lifecycle`. */
export async function openIngest(opening: IngestOpening): Promise<OpenedIngest> {
  const { config, log, lifecycle, billingApi } = opening;
  setHeapGrowth(HEAP_GROWTH_PERCENT);
  const metrics = createMetrics('ingest');
  const database = await openPreparedDatabase(config.DATABASE_URL, { poolSize: POOL_SIZE });
  lifecycle.onClose('postgres', () => database.close());
  const keyUses = startKeyUses({ database, clock: systemClock, log });
  lifecycle.onClose('key uses', keyUses.stop);
  const writer = await openEventLogWriter(config);
  lifecycle.onClose('event log', () => writer.close());
  // Events that were accepted into another log would wait there for ever.
  const { logId } = writer.identity;
  await useLog(database, logId);
  for (const warning of writer.identity.warnings ?? []) {
    log.warn({ warning }, 'the log should be changed');
  }
  const probes = {
    postgres: () => database.ping(),
    schema: () => assertMigrated(database),
    event_log: () => writer.ping(),
    log_in_use: () => refuseOtherLog(database, logId),
  };
  const staleMs = staleMsOf(config);
  const readiness = createReadiness(probes, log, lifecycle);
  let operations: Operations = { readiness: readyWithoutPostgres(readiness, staleMs), metrics };
  const rate = createPublicRate(config);
  let fallback = createOperations(operations, rate);
  if (billingApi !== null) {
    const { origin, isOnlyPort } = billingApi;
    const proxyCount = config.MINUTEBOOK_PROXY_COUNT;
    const forward = createForward({ origin, proxyCount, log, metrics });
    lifecycle.onClose('connections to billing-api', () => Promise.resolve(forward.close()));
    operations = operationsOfPort({ operations, forward, isOnlyPort, log });
    fallback = createPortListener(operations, { forward, rate });
  }
  const server = createIngest({
    writer,
    apiKeys: createApiKeyDirectory(database, systemClock, {
      noteUse: keyUses.note,
      staleKeys: createStaleKeys(staleMs, { log, metrics }),
    }),
    metrics,
    log,
    clock: systemClock,
    failedAuthentication: createFailedAuthentication(config),
    requestsPerSecond: config.MINUTEBOOK_INGEST_RATE,
    produceTimeoutMs: config.MINUTEBOOK_PRODUCE_TIMEOUT_MS,
    fallback,
    lifecycle,
  });
  return { server, operations, metrics };
}
