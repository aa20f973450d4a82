import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createClickHouse, type ClickHouse } from '../../clickhouse/client.js';
import { startEngines, type Engines } from '../../cli/stack/engines.js';
import { readStackConfig } from '../../cli/stack/stack-config.js';
import { Lifecycle } from '../../runtime/lifecycle.js';
import { createLog } from '../../runtime/log.js';
import { drawFreePort } from '../../runtime/port.js';
import { builtModule } from '../../runtime/project.js';
import { createApiKey } from '../../sql/api-key.js';
import { bootstrap } from '../../sql/bootstrap.js';
import {
  programOf,
  startProgram,
  waitUntilReady,
  type StartedProgram,
} from '../harness/start-program.js';
import type { Target } from './load/drive.js';

const NO_LIMITS = {
  MINUTEBOOK_FAILED_AUTH_RATE: '0',
  MINUTEBOOK_PUBLIC_RATE: '0',
  MINUTEBOOK_INGEST_RATE: '1000000',
  MINUTEBOOK_HEAVY_RATE: '10000',
  MINUTEBOOK_DEFAULT_RATE: '1000000',
};

/** A folder, engines in it and a first key; programs are started on them one by one. */
export class Bench {
  private constructor(
    readonly engines: Engines,
    readonly apiKey: string,
    private readonly lifecycle: Lifecycle,
  ) {}

  static async open(): Promise<Bench> {
    const directory = await mkdtemp(join(tmpdir(), 'minutebook-speed-'));
    const config = readStackConfig({ MINUTEBOOK_DATA_DIR: directory });
    const log = createLog('speed', 'fatal');
    const lifecycle = new Lifecycle(log);
    lifecycle.onClose('folder', () => rm(directory, { recursive: true, force: true }));
    const engines = await startEngines(config, log, lifecycle);
    const apiKey = createApiKey('private_key');
    await bootstrap(engines.ownerDatabaseUrl, { apiKey });
    return new Bench(engines, apiKey, lifecycle);
  }

  /** Starts one of our programs alone: `ingest`, `aggregator`. It is stopped with the bench. */
  async start(
    name: 'ingest' | 'aggregator' | 'billing-api',
    settings: Readonly<Record<string, string>> = {},
  ): Promise<StartedProgram> {
    const program = await startProgram(name, {
      ...NO_LIMITS,
      DATABASE_URL: this.engines.databaseUrl,
      CLICKHOUSE_URL: this.engines.clickhouseUrl,
      MINUTEBOOK_LOG_LEVEL: 'error',
      ...settings,
    });
    this.lifecycle.onClose(name, program.stop);
    await waitUntilReady(program.url);
    return program;
  }

  targetOf(program: StartedProgram): Target {
    return { port: Number(new URL(program.url).port), host: '127.0.0.1', apiKey: this.apiKey };
  }

  close(): Promise<void> {
    return this.lifecycle.close();
  }
}

/** Work on a bench and its ClickHouse, both of which are closed afterwards. */
export async function onBench<T>(
  work: (bench: Bench, clickhouse: ClickHouse) => Promise<T>,
  options: Parameters<typeof createClickHouse>[1] = {},
): Promise<T> {
  const bench = await Bench.open();
  const clickhouse = createClickHouse(bench.engines.clickhouseUrl, options);
  try {
    return await work(bench, clickhouse);
  } finally {
    await clickhouse.close();
    await bench.close();
  }
}

export type Product = StartedProgram & { readonly target: Target };

/** The whole product in a folder, as `npm start` runs it; its log goes to our standard error. */
async function startProduct(
  directory: string,
  settings: Readonly<Record<string, string>> = {},
  onLog?: (log: Readable) => void,
): Promise<Product> {
  const port = await drawFreePort();
  const apiKey = createApiKey('private_key');
  const child = spawn(process.execPath, [builtModule('cli/minutebook'), 'start'], {
    stdio: ['ignore', 'ignore', onLog === undefined ? 'inherit' : 'pipe'],
    env: {
      ...process.env,
      ...NO_LIMITS,
      MINUTEBOOK_PORT: String(port),
      MINUTEBOOK_DATA_DIR: directory,
      MINUTEBOOK_BOOTSTRAP_API_KEY: apiKey,
      ...settings,
    },
  });
  if (child.stderr !== null) onLog?.(child.stderr);
  const program = programOf(child, `http://127.0.0.1:${port}`);
  await waitUntilReady(program.url);
  return { ...program, target: { port, host: '127.0.0.1', apiKey } };
}

/** Work with the whole product in a folder of its own, which is removed afterwards. */
export async function inProduct<T>(
  settings: Readonly<Record<string, string>>,
  work: (product: Product, directory: string) => Promise<T>,
  onLog?: (log: Readable) => void,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'minutebook-speed-'));
  try {
    const product = await startProduct(directory, settings, onLog);
    try {
      return await work(product, directory);
    } finally {
      await product.stop();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
