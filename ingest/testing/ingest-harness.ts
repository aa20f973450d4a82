import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { openPostgresReader } from '../../event-log/postgres/reader.js';
import { openPostgresWriter } from '../../event-log/postgres/writer.js';
import { systemClock } from '../../runtime/clock.js';
import { FailedAuthentication } from '../../runtime/http/failed-authentication.js';
import { createId } from '../../runtime/ids.js';
import { createLog } from '../../runtime/log.js';
import { createMetrics, type Metrics } from '../../runtime/metrics.js';
import { createReadiness } from '../../runtime/readiness.js';
import { createApiKeyDirectory } from '../../sql/api-keys.js';
import { bootstrap, type FirstTenant } from '../../sql/bootstrap.js';
import { makeKey } from '../../load-tests/harness/make-key.js';
import { test, type DatabaseFixture } from '../../load-tests/harness/fixtures.js';
import { createIngest, type IngestOptions } from '../create-ingest.js';
import { createPublicRate } from '../../runtime/http/public-rate.js';
import { createHeldRequests } from '../held/held-requests.js';
import { createOperations } from '../http/operations.js';
import { storedEvents } from './stored-events.js';

/** For tests of the event routes only: a server on a real log, and the events in the log. */

export const API_KEY = `sk_${'T'.repeat(40)}`;

export type Reply = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
};

export type Sending = {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null sends no key. */
  readonly apiKey?: string | null;
};

export type TestIngest = {
  readonly port: number;
  readonly metrics: Metrics;
  readonly tenant: FirstTenant;
  /** A key of an environment of another tenant. */
  readonly makeOtherKey: () => Promise<string>;
  /** A key of another environment of the tenant. */
  readonly makeSiblingKey: () => Promise<string>;
  readonly connections: () => Promise<number>;
  /** Memory that bodies of event requests hold. */
  readonly bodyBytesHeld: () => Promise<number>;
  readonly send: (body: string | Buffer, sending?: Sending) => Promise<Reply>;
  /** Every event in the log, partition by partition. */
  readonly stored: () => ReturnType<typeof storedEvents>;
  readonly close: () => Promise<void>;
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function send(port: number, body: string | Buffer, sending: Sending): Promise<Reply> {
  const { path = '/v1/events', method = 'POST', headers = {}, apiKey = API_KEY } = sending;
  const credentials = apiKey === null ? {} : { 'x-api-key': apiKey };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        port,
        host: '127.0.0.1',
        path,
        method,
        headers: {
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(body)),
          ...credentials,
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const status = response.statusCode ?? 0;
          resolve({ status, headers: response.headers, body: parsed(text) });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

async function valueOf({ registry }: Metrics, name: string): Promise<number> {
  const metric = await registry.getSingleMetric(name)?.get();
  return metric?.values[0]?.value ?? NaN;
}

/**
 * Starts a server on a free port with a bootstrapped tenant.
 * @param different options that replace the ordinary ones; a `writer` only for failures that a real
 *   log cannot produce on demand.
 */
export async function startTestIngest(
  { url, database }: DatabaseFixture,
  different: Partial<IngestOptions> & {
    readonly publicRate?: number;
    readonly produceTimeoutMs?: number;
  } = {},
): Promise<TestIngest> {
  const tenant = await bootstrap(database.url, { apiKey: API_KEY });
  const realWriter = await openPostgresWriter({
    url,
    partitionCount: 3,
    produceTimeoutMs: 5_000,
  });
  const reader = await openPostgresReader({ url, retentionMs: 3_600_000 });
  const metrics = createMetrics();
  const log = createLog('ingest-test', 'silent');
  const writer = different.writer ?? realWriter;
  const readiness = createReadiness({ event_log: () => writer.ping() }, log);
  const server = createIngest({
    apiKeys: createApiKeyDirectory(database, systemClock),
    metrics,
    log,
    held: createHeldRequests({
      // Longer than the writer's: bodies of 32 MiB take seconds on a busy machine.
      produceTimeoutMs: different.produceTimeoutMs ?? 30_000,
      silentMs: Number.POSITIVE_INFINITY,
    }),
    failedAuthentication: new FailedAuthentication({ perSecond: 0 }),
    requestsPerSecond: 100_000,
    fallback: createOperations(
      { readiness, metrics },
      createPublicRate({
        MINUTEBOOK_PUBLIC_RATE: different.publicRate ?? 0,
        MINUTEBOOK_PROXY_COUNT: 0,
      }),
    ),
    ...different,
    writer,
  });
  const port = await server.listen(0, '127.0.0.1');
  return {
    port,
    metrics,
    tenant,
    makeOtherKey: async () => (await makeKey(database, {})).apiKey,
    makeSiblingKey: async () => {
      const environment = { ...tenant.environment, environmentId: createId('env') };
      return (await makeKey(database, { environment })).apiKey;
    },
    connections: () => valueOf(metrics, 'minutebook_http_connections'),
    bodyBytesHeld: () => valueOf(metrics, 'minutebook_body_bytes'),
    send: (body, sending = {}) => send(port, body, sending),
    stored: () => storedEvents(reader),
    close: async () => {
      await server.close();
      await realWriter.close();
      await reader.close();
    },
  };
}

/** `test` with a server on the real log, closed after each test. */
export const ingestTest = test.extend<{ readonly ingest: TestIngest }>({
  ingest: async ({ database }, use) => {
    const ingest = await startTestIngest(database);
    await use(ingest);
    await ingest.close();
  },
});
