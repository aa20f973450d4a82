import { fork, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { availableParallelism, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { DependencyError } from '../runtime/failure.js';
import { keptText, randomText } from '../runtime/kept-text.js';
import { findFreePort } from '../runtime/port.js';
import { findLiveOwner, markOwner } from '../runtime/process.js';
import { builtModule } from '../runtime/project.js';
import type { ServerOrder } from './embedded-server.js';
import { createClickHouse } from './client.js';
import { markUrl } from './running-embedded.js';
import { READER, readerProfile, readerUser } from './reader-user.js';

export type EmbeddedClickHouse = {
  /** Of the user that writes and administers. */
  readonly url: string;
  /** Of the API's user, which reads rows of one environment only. */
  readonly readerUrl: string;
  readonly pid: number;
  /** Resolves when the server has ended, whoever ended it. */
  readonly exited: Promise<void>;
  /** Whether it listens and answers within a quarter of a minute. */
  isAnswering(): Promise<boolean>;
  /** Ends the server after its running queries; a second call does nothing. */
  stop(): Promise<void>;
};

const USER = 'minutebook';
const DATABASE = 'minutebook';
/** Loading 566 MB of library from a cold disk takes the longest; measured warm: 0.4 s. */
const START_TIMEOUT_MS = 60_000;
/** A predecessor whose parent was killed is ending by itself. */
const PREDECESSOR_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 20_000;
const ANSWER_TIMEOUT_MS = 15_000;
const POLL_MS = 25;
const CANNOT_LOCK = 'Another server instance in same directory is already running';

function failure(message: string, cause?: unknown): DependencyError {
  return new DependencyError(message, { dependency: 'clickhouse', isRetryable: false, cause });
}

/** Bytes the server may use: half the machine, between 1 and 4 GB. */
function memoryLimit(): number {
  const half = Math.floor(totalmem() / 2);
  return Math.min(4_000_000_000, Math.max(1_000_000_000, half));
}

type Passwords = { readonly writer: string; readonly reader: string };

const hashOf = (password: string): string => createHash('sha256').update(password).digest('hex');

/**
 * Freed memory goes back to the system after half a second instead of five: 50 MB less at full load
 * at no cost that could be measured. At once, inserts would take twice their CPU time.
 */
const ALLOCATOR = 'dirty_decay_ms:500,muzzy_decay_ms:0';

/** Small caches and few threads: the server shares the machine with the rest of the product. */
function serverConfig(directory: string, port: number): string {
  return `<clickhouse>
  <logger>
    <log>${join(directory, 'clickhouse.log')}</log>
    <errorlog>${join(directory, 'clickhouse-errors.log')}</errorlog>
    <size>10M</size>
    <count>2</count>
  </logger>
  <users_config>${join(directory, 'users.xml')}</users_config>
  <listen_host>127.0.0.1</listen_host>
  <http_port>${port}</http_port>
  <keep_alive_timeout>30</keep_alive_timeout>
  <max_server_memory_usage>${memoryLimit()}</max_server_memory_usage>
  <mark_cache_size>134217728</mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <background_pool_size>2</background_pool_size>
  <background_schedule_pool_size>8</background_schedule_pool_size>
  <memory_worker_period_ms>1000</memory_worker_period_ms>
  <timezone>UTC</timezone>
</clickhouse>
`;
}

/**
 * Our users need their passwords. The server's own start runs as `default`, which cannot have one.
 * It may do nothing but that, and may have one session at a time: the start takes that before the
 * server listens and keeps it until the end, so that nobody else can log in as `default`.
 */
function usersConfig({ writer, reader }: Passwords): string {
  const threads = Math.max(1, Math.floor(availableParallelism() / 2));
  return `<clickhouse>
  <profiles>
    <default/>
    <start>
      <max_sessions_for_user>1</max_sessions_for_user>
      <constraints><max_sessions_for_user><const/></max_sessions_for_user></constraints>
    </start>
    ${readerProfile(threads)}
  </profiles>
  <quotas><default/></quotas>
  <users>
    <default>
      <password></password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>start</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SYSTEM LISTEN ON *.*</query>
        <query>GRANT SELECT ON system.numbers</query>
      </grants>
    </default>
    <${USER}>
      <password_sha256_hex>${hashOf(writer)}</password_sha256_hex>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <access_management>1</access_management>
    </${USER}>
    ${readerUser(DATABASE, hashOf(reader))}
  </users>
</clickhouse>
`;
}

/**
 * A password of the directory: random, made at the first start. Another one does as well, since
 * each start tells the server the passwords anew.
 */
async function readPassword(directory: string, name: string): Promise<string> {
  return (await keptText(directory, name, { create: randomText })).text;
}

const librarySchema = z.object({ libchdbPath: z.function(z.tuple([]), z.string()) });

function findLibrary(): string {
  try {
    const chdb: unknown = createRequire(import.meta.url)('chdb/libchdb');
    return librarySchema.parse(chdb).libchdbPath();
  } catch (error) {
    throw failure(
      `no ClickHouse for ${process.platform}-${process.arch} is installed: run npm install, or ` +
        'set CLICKHOUSE_URL',
      error,
    );
  }
}

/** Path pieces reach the server inside XML. */
function assertPlainPath(directory: string): void {
  if (/[<>&]/.test(directory)) throw failure(`${directory}: choose a path without < > &`);
}

type Attempt = {
  readonly server: ChildProcess;
  readonly order: ServerOrder;
  /** What the process prints, from this byte on. */
  readonly output: { readonly path: string; readonly start: number };
};

async function launch(directory: string, order: ServerOrder): Promise<Attempt> {
  const orderFile = join(directory, 'server-order.json');
  await writeFile(orderFile, JSON.stringify(order), { mode: 0o600 });
  const module = builtModule('clickhouse/embedded-server');
  if (!existsSync(module)) throw failure(`${module} is missing: run npm run build`);
  const path = join(directory, 'server-output.log');
  const start = existsSync(path) ? (await stat(path)).size : 0;
  const output = await open(path, 'a', 0o600);
  try {
    const server = fork(module, [orderFile], {
      cwd: directory,
      env: { ...process.env, JE_MALLOC_CONF: ALLOCATOR },
      execArgv: [],
      // A session of its own: Ctrl-C ends our program, which ends the server after its clients.
      detached: true,
      stdio: ['ignore', output.fd, output.fd, 'ipc'],
    });
    return { server, order, output: { path, start } };
  } finally {
    await output.close();
  }
}

async function readOutput({ output }: Attempt): Promise<string> {
  const bytes = await readFile(output.path).catch(() => Buffer.alloc(0));
  return bytes.subarray(output.start).toString('utf8').slice(-1_500).trim();
}

const processes = z.object({ running: z.string() });

/** Whether the server that answers is the one we started: it runs the query with our token. */
async function isOurs(url: string, token: string): Promise<boolean> {
  const clickhouse = createClickHouse(url);
  try {
    const rows = await clickhouse.query(
      `SELECT count() AS running FROM system.processes
       WHERE position(query, concat('keep-up-', {token:String})) > 0`,
      { token },
      processes,
    );
    return rows[0]?.running === '1';
  } catch {
    return false;
  } finally {
    await clickhouse.close();
  }
}

/** Asks for the page that needs no login and no statement. */
function isAnswering(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const where = { host: '127.0.0.1', port, path: '/ping', agent: false, signal };
    const asking = request(where, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asking.on('error', () => resolve(false));
    asking.end();
  });
}

/** `true` when the server answers; `false` when it ended before. */
async function waitUntilReady(attempt: Attempt): Promise<boolean> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    if (attempt.server.exitCode !== null || attempt.server.signalCode !== null) return false;
    if (await isOurs(attempt.order.httpUrl, attempt.order.token)) return true;
    await delay(POLL_MS);
  }
  attempt.server.kill('SIGKILL');
  throw failure('ClickHouse did not start within 60 s');
}

/** Starts until the directory's lock is free: a predecessor may still be ending. */
async function startOnFreeDirectory(directory: string, order: ServerOrder): Promise<ChildProcess> {
  const deadline = Date.now() + PREDECESSOR_TIMEOUT_MS;
  for (;;) {
    const attempt = await launch(directory, order);
    if (await waitUntilReady(attempt)) return attempt.server;
    const output = await readOutput(attempt);
    if (!output.includes(CANNOT_LOCK)) {
      throw failure(`ClickHouse ended at start:\n${output}`);
    }
    if (Date.now() > deadline || (await findLiveOwner(directory)) !== null) {
      throw failure(
        `${directory} is in use by another running instance. Stop that one, or choose another ` +
          'data directory.',
      );
    }
    await delay(POLL_MS * 10);
  }
}

async function endServer(server: ChildProcess, exited: Promise<void>): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.kill('SIGTERM');
  const hasEnded = await Promise.race([
    exited.then(() => true),
    delay(STOP_TIMEOUT_MS, false, { ref: false }),
  ]);
  if (hasEnded) return;
  server.kill('SIGKILL');
  await exited;
}

/**
 * Starts a real ClickHouse on loopback with its files in `directory`, as a process of its own.
 * Port 0 takes any free one. The server ends with this process, however it ends; the same
 * directory then starts again. The engine locks the directory, so two never open one.
 * @throws DependencyError naming the port or the directory when another program has it.
 */
export async function startEmbeddedClickHouse(options: {
  readonly directory: string;
  readonly port: number;
}): Promise<EmbeddedClickHouse> {
  const directory = resolve(options.directory);
  assertPlainPath(directory);
  await mkdir(join(directory, 'data'), { recursive: true, mode: 0o700 });
  const port = await findFreePort(options.port);
  if (port === null) {
    throw failure(
      `port ${options.port} on 127.0.0.1 is taken by another program, so ClickHouse cannot use ` +
        'it. Stop that program or choose another port.',
    );
  }
  const passwords: Passwords = {
    writer: await readPassword(directory, 'password'),
    reader: await readPassword(directory, 'reader-password'),
  };
  const configFile = join(directory, 'config.xml');
  await writeFile(configFile, serverConfig(directory, port), { mode: 0o600 });
  await writeFile(join(directory, 'users.xml'), usersConfig(passwords), { mode: 0o600 });
  const order: ServerOrder = {
    library: findLibrary(),
    arguments: [
      `--path=${join(directory, 'data')}`,
      `--config-file=${configFile}`,
      '--log-level=warning',
    ],
    httpUrl: `http://${USER}:${passwords.writer}@127.0.0.1:${port}`,
    token: randomBytes(12).toString('hex'),
  };
  const server = await startOnFreeDirectory(directory, order);
  const exited =
    server.exitCode === null && server.signalCode === null
      ? once(server, 'exit').then(() => undefined)
      : Promise.resolve();
  try {
    await markOwner(directory);
    await markUrl(directory, `${order.httpUrl}/${DATABASE}`);
  } catch (error) {
    // The disk is full, for instance. A server that nobody knows of would keep port and directory.
    await endServer(server, exited);
    throw error;
  }
  return {
    url: `${order.httpUrl}/${DATABASE}`,
    readerUrl: `http://${READER}:${passwords.reader}@127.0.0.1:${port}/${DATABASE}`,
    pid: server.pid ?? 0,
    exited,
    isAnswering: () => isAnswering(port),
    stop: () => endServer(server, exited),
  };
}
