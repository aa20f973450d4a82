import type { AddressInfo } from 'node:net';
import { createServer } from 'node:http';
import type { ClickHouse } from '../clickhouse/client.js';
import type { Environment } from '../contract/environment.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import { createId } from '../runtime/ids.js';
import { createLog } from '../runtime/log.js';
import { createMetrics } from '../runtime/metrics.js';
import { createApiKeyDirectory } from '../sql/api-keys.js';
import { bootstrap } from '../sql/bootstrap.js';
import type { Database } from '../sql/pool.js';
import { createBillingApp } from './app.js';
import { createPostgresDataUntil } from './store/data-until.js';

/** How long ingest may hold an event before the log has it. */
export const IN_FLIGHT_MS = 8_000;

export const API_KEY = `sk_${'a'.repeat(40)}`;

/** What a request was answered with; `body` is the parsed JSON, null when there is none. */
export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  // Tests look into answers member by member; the contract is checked against the OpenAPI document.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
};

type RequestOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly raw?: string | Uint8Array;
};

export type BillingUnderTest = {
  readonly url: string;
  readonly environment: Environment;
  readonly userId: string;
  readonly call: (
    method: string,
    path: string,
    options?: RequestOptions & { readonly body?: unknown },
  ) => Promise<Answer>;
};

type Engines = {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly clock?: Clock;
  readonly heavyRate?: number;
  readonly defaultRate?: number;
};

function bodyOf(options: RequestOptions & { readonly body?: unknown }): string | Uint8Array | null {
  if (options.raw !== undefined) return options.raw;
  return options.body === undefined ? null : JSON.stringify(options.body);
}

/** The API on a port of its own, with the first tenant and its key; closed after `work`. */
export async function withBillingApi(
  engines: Engines,
  work: (api: BillingUnderTest) => Promise<void>,
): Promise<void> {
  const { database, clickhouse } = engines;
  const clock = engines.clock ?? systemClock;
  const { environment, userId } = await bootstrap(database, { apiKey: API_KEY });
  const app = createBillingApp({
    database,
    clickHouse: clickhouse,
    clock,
    createId,
    apiKeys: createApiKeyDirectory(database, clock),
    dataUntil: createPostgresDataUntil(database, IN_FLIGHT_MS),
    log: createLog('test', 'error'),
    metrics: createMetrics(),
    rateLimits: {
      heavyPerSecond: engines.heavyRate ?? 10_000,
      defaultPerSecond: engines.defaultRate ?? 10_000,
    },
    otherDependencies: [],
  });
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const call: BillingUnderTest['call'] = async (method, path, options = {}) => {
    const body = bodyOf(options);
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        'x-api-key': API_KEY,
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body,
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      body: text === '' ? null : JSON.parse(text),
    };
  };
  try {
    await work({ url, environment, userId, call });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
