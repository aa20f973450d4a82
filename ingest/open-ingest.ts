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
import { createDatabase } from '../sql/pool.js';
import { createIngest } from './create-ingest.js';
import { createForward } from './forward/forward-requests.js';
import { createPortListener, operationsOfPort } from './forward/port-pages.js';
import { createHeldRequests, type HeldRequests } from './held/held-requests.js';
import { createIngestRegister, startReports } from './held/report-held.js';
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

/** How long reports may fail, beyond the time for which keys are accepted without PostgreSQL. */
const SILENT_MIN_MS = 15_000;
/** A report that takes longer is repeated on another connection. */
const REPORT_TIMEOUT_MS = 2_000;

/**
 * For how long events are accepted after a report was taken: longer than keys are without
 * PostgreSQL, and than a request may be held.
 */
function silentMsOf(config: IngestConfig): number {
  return staleMsOf(config) + Math.max(SILENT_MIN_MS, config.MINUTEBOOK_PRODUCE_TIMEOUT_MS);
}

/**
 * Lets billing-api know since when this process may hold events (docs/internals/architecture.md
 * 4.5). It counts for more than twice as long as it accepts events without a report, so that clocks
 * of different speed do no harm.
 */
async function openHeldRequests(
  { config, log, lifecycle }: IngestOpening,
  logId: string,
): Promise<HeldRequests> {
  const produceTimeoutMs = config.MINUTEBOOK_PRODUCE_TIMEOUT_MS;
  const silentMs = silentMsOf(config);
  const held = createHeldRequests({ produceTimeoutMs, silentMs });
  const options = { poolSize: 1, statementTimeoutMs: REPORT_TIMEOUT_MS };
  const database = await createDatabase(config.DATABASE_URL, options);
  lifecycle.onClose('reports to postgres', () => database.close());
  const silentMaxMs = 2 * silentMs + produceTimeoutMs;
  const register = createIngestRegister(database, { log: logId, silentMaxMs });
  lifecycle.onClose('reports of held events', await startReports(held, register, log));
  return held;
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
  const { logId } = writer.identity;
  // Events that were accepted into another log would wait there for ever.
  await useLog(database, logId);
  const held = await openHeldRequests(opening, logId);
  metrics.watchReportAge(() => held.silentForMs / 1_000);
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
    held,
    failedAuthentication: createFailedAuthentication(config),
    requestsPerSecond: config.MINUTEBOOK_INGEST_RATE,
    fallback,
    lifecycle,
  });
  return { server, operations, metrics };
}
