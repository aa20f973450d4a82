import type { ClickHouse } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import { createReadiness } from '../../runtime/readiness.js';
import { systemClock, type Clock } from '../../runtime/clock.js';
import { createId } from '../../runtime/ids.js';
import { createLog } from '../../runtime/log.js';
import type { BodyBudgetLimits } from '../../runtime/http/body-budget.js';
import { FailedAuthentication } from '../../runtime/http/failed-authentication.js';
import { ProgramServer, serveWith } from '../../runtime/http/program-server.js';
import { createMetrics, type Metrics } from '../../runtime/metrics.js';
import { createApiKeyDirectory, type ApiKeyDirectory } from '../../sql/api-keys.js';
import { bootstrap } from '../../sql/bootstrap.js';
import type { Database } from '../../sql/pool.js';
import { openPostgresReader } from '../../event-log/postgres/reader.js';
import { openPostgresWriter } from '../../event-log/postgres/writer.js';
import { createLazy } from '../../runtime/lazy.js';
import { createBillingApp } from '../app.js';
import type { ConsoleMode } from '../edge/access/sessions.js';
import { documentContract } from './openapi-contract.js';
import { createPostgresDataUntil, type ReadDataUntil } from '../usage/watermark/data-until.js';
import type { LazyEventLog } from '../usage/watermark/log-access.js';

/** How long ingest may hold an event before the log has it. */
export const IN_FLIGHT_MS = 8_000;

/** Of the log of every test. */
export const LOG_PARTITIONS = 2;

/** Threads read no TypeScript; the tests compile the product first. */
const PREVIEW_THREAD = new URL(
  '../../dist/billing-api/invoicing/preview/preview-thread.js',
  import.meta.url,
);
const PAPER_THREAD = new URL(
  '../../dist/billing-api/reading/print/paper-thread.js',
  import.meta.url,
);

export const TOKEN_SECRET = 'only for tests, and at least 32 characters';

export const API_KEY = `sk_${'a'.repeat(40)}`;

/** What a request was answered with; `body` is the parsed JSON, null when there is none. */
export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  // Tests look into answers member by member; their shape is checked against the OpenAPI document.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
};

type RequestOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string | Uint8Array;
  /** The document has no such path or method: the answer must be an error that says so. */
  readonly isUndocumented?: true;
};

export type BillingUnderTest = {
  readonly url: string;
  readonly port: number;
  readonly metrics: Metrics;
  readonly environment: Environment;
  readonly userId: string;
  /** `call('POST', '/v1/plans', { body })`; the answer keeps the OpenAPI document. */
  readonly call: (method: string, path: string, options?: RequestOptions) => Promise<Answer>;
  /** The log in PostgreSQL; made at its first use. */
  readonly eventLog: LazyEventLog;
  /** The body of a POST that must be answered with a success. */
  readonly make: (path: string, body: unknown) => Promise<Answer['body']>;
};

export type EnginesUnderTest = {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly clock?: Clock;
  readonly heavyRate?: number;
  readonly defaultRate?: number;
  readonly failedAuthRate?: number;
  readonly isSignUpOpen?: boolean;
  readonly consoleMode?: ConsoleMode;
  readonly publicRate?: number;
  readonly bodyLimits?: BodyBudgetLimits;
  readonly apiKeys?: ApiKeyDirectory;
  readonly dataUntil?: ReadDataUntil;
  /** Runs before each read of the log, which waits for it. */
  readonly beforeLogRead?: () => Promise<void>;
};

function bodyOf(options: RequestOptions): string | Uint8Array | null {
  if (options.raw !== undefined) return options.raw;
  return options.body === undefined ? null : JSON.stringify(options.body);
}

async function send(url: string, method: string, options: RequestOptions): Promise<Answer> {
  const body = bodyOf(options);
  const answer = await fetch(url, {
    method,
    headers: {
      'x-api-key': API_KEY,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    body,
  });
  const type = String(answer.headers.get('content-type'));
  // A character for each byte of a file, so that none is lost.
  const encoding = type.includes('application/pdf') ? 'latin1' : 'utf8';
  const text = Buffer.from(await answer.arrayBuffer()).toString(encoding);
  const isJson = type.includes('application/json');
  return {
    status: answer.status,
    headers: answer.headers,
    body: isJson && text !== '' ? (JSON.parse(text) as unknown) : text === '' ? null : text,
  };
}

function createCall(url: string): BillingUnderTest['call'] {
  const contract = documentContract();
  return async (method, path, options = {}) => {
    const answer = await send(`${url}${path}`, method, options);
    const { status, headers, body } = answer;
    const documented = path.replace(/^\/v1(?=\/)/, '').replace(/\?.*$/, '');
    const checked = { method, path: documented, status, headers, body };
    const problems =
      options.isUndocumented === true
        ? contract.problemsOfUndocumented(checked)
        : contract.problemsOf(checked);
    if (problems.length === 0) return answer;
    throw new Error(
      `${method} ${path} ${status} breaks the document: ${problems.join('; ')}\n${JSON.stringify(body).slice(0, 2000)}`,
    );
  };
}

/** The log of the test's own database, with two partitions. */
function openTestLog(url: string) {
  const partitionCount = LOG_PARTITIONS;
  const reader = createLazy(() =>
    openPostgresReader({ url, partitionCount, retentionMs: 3_600_000 }),
  );
  const writer = createLazy(() =>
    openPostgresWriter({ url, partitionCount, produceTimeoutMs: 5_000 }),
  );
  return { reader, writer };
}

/** The reader, whose reads wait for what the test asks for. */
async function heldReader(
  open: LazyEventLog['reader'],
  { beforeLogRead }: EnginesUnderTest,
): ReturnType<LazyEventLog['reader']> {
  const reader = await open();
  if (beforeLogRead === undefined) return reader;
  return new Proxy(reader, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      const bound = member.bind(target) as (...given: unknown[]) => unknown;
      if (key !== 'read') return bound;
      return async (...given: unknown[]) => {
        await beforeLogRead();
        return bound(...given);
      };
    },
  });
}

function createApp(
  engines: EnginesUnderTest,
  { clock, eventLog, metrics }: { clock: Clock; eventLog: LazyEventLog; metrics: Metrics },
) {
  const { database, clickhouse: clickHouse } = engines;
  const log = createLog('test', 'error');
  return createBillingApp({
    database,
    clickHouse,
    clock,
    eventLog,
    createId,
    apiKeys: engines.apiKeys ?? createApiKeyDirectory(database, clock),
    isSignUpOpen: engines.isSignUpOpen ?? true,
    consoleMode: engines.consoleMode ?? 'http',
    tokenSecret: TOKEN_SECRET,
    secretsKey: TOKEN_SECRET,
    arePrivateTargetsAllowed: true,
    dataUntil: engines.dataUntil ?? createPostgresDataUntil(database, IN_FLIGHT_MS),
    log,
    metrics,
    previewThread: PREVIEW_THREAD,
    paperThread: PAPER_THREAD,
    ...(engines.bodyLimits === undefined ? {} : { bodyLimits: engines.bodyLimits }),
    failedAuthentication: new FailedAuthentication({ perSecond: engines.failedAuthRate ?? 0 }),
    rateLimits: {
      heavyPerSecond: engines.heavyRate ?? 10_000,
      defaultPerSecond: engines.defaultRate ?? 10_000,
    },
    publicLimits: {
      MINUTEBOOK_PUBLIC_RATE: engines.publicRate ?? 0,
      MINUTEBOOK_PROXY_COUNT: 0,
    },
    readiness: createReadiness(
      { postgres: () => database.ping(), clickhouse: () => clickHouse.ping() },
      log,
    ),
  });
}

/** The API on a port of its own, with the first tenant and its key; closed after `work`. */
export async function withBillingApi(
  engines: EnginesUnderTest,
  work: (api: BillingUnderTest) => Promise<void>,
): Promise<void> {
  const clock = engines.clock ?? systemClock;
  const { environment, userId } = await bootstrap(engines.database.url, { apiKey: API_KEY });
  const { reader, writer } = openTestLog(engines.database.url);
  const eventLog = { reader: () => heldReader(reader.get, engines), writer: writer.get };
  const metrics = createMetrics();
  const app = createApp(engines, { clock, eventLog, metrics });
  const server = new ProgramServer({ handler: serveWith(app), metrics });
  const port = await server.listen(0, '127.0.0.1');
  const url = `http://127.0.0.1:${port}`;
  const call = createCall(url);
  const make: BillingUnderTest['make'] = async (path, body) => {
    const answer = await call('POST', path, { body });
    if (answer.status < 300) return answer.body as unknown;
    throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  };
  try {
    await work({ url, port, metrics, environment, userId, call, make, eventLog });
  } finally {
    await server.close();
    await Promise.all([reader.close(), writer.close()]);
  }
}
