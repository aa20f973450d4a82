import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import { drawFreePort } from '../../runtime/port.js';
import { test, withEmptyClickHouse, withEmptyDatabase } from '../harness/fixtures.js';
import { pastedFrom, runnable } from '../harness/page-commands.js';
import { programOf, waitUntilReady, type StartedProgram } from '../harness/start-program.js';

const run = promisify(execFile);

const block = (section: string, words: string, replaced: Readonly<Record<string, string>> = {}) =>
  pastedFrom({ page: 'docs/operations.md', section, words }, replaced);

const END = '--- the variables of the shell ---';

/** Somebody's terminal: what one paste sets is there for the next. */
class Terminal {
  readonly variables: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    // In CI the verbs write bold text even without a terminal.
    NO_COLOR: '1',
  };

  /** What the lines write to standard output. @throws Error when one of them fails. */
  async paste(script: string): Promise<string> {
    const lines = `set -e -a\n${runnable(script)}\nset +a; echo '${END}'; env`;
    const { stdout } = await run('sh', ['-c', lines], { env: this.variables });
    const [written = '', variables = ''] = stdout.split(`${END}\n`);
    for (const line of variables.trim().split('\n')) {
      const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
      if (name !== '') this.variables[name] = value;
    }
    return written;
  }

  /** Leaves the command running, as a supervisor does. */
  start(script: string, ports: { readonly own: number; readonly metrics: number }): StartedProgram {
    const child = spawn('sh', ['-c', runnable(script)], {
      env: {
        ...this.variables,
        ...{ MINUTEBOOK_LOG_LEVEL: 'error', MINUTEBOOK_STOP_DELAY_MS: '0' },
        // Another product may run on this machine.
        ...{ MINUTEBOOK_PORT: String(ports.own), MINUTEBOOK_METRICS_PORT: String(ports.metrics) },
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const metricsUrl = `http://127.0.0.1:${ports.metrics}`;
    return programOf(child, `http://127.0.0.1:${ports.own}`, metricsUrl);
  }
}

/** The three programs as section 1.1 starts them. */
class Product {
  private constructor(
    readonly url: string,
    readonly aggregator: StartedProgram,
    private readonly others: readonly StartedProgram[],
  ) {}

  static async start(terminal: Terminal): Promise<Product> {
    const ports = async () => ({ own: await drawFreePort(), metrics: await drawFreePort() });
    const [ofAggregator, ofBilling, ofIngest] = [await ports(), await ports(), await ports()];
    const aggregator = terminal.start(block('1.1', 'dist/aggregator/main.js'), ofAggregator);
    const billingApi = terminal.start(block('1.1', 'dist/billing-api/main.js'), ofBilling);
    const address = { 'http://127.0.0.1:8081': billingApi.url };
    const ingest = terminal.start(block('1.1', 'dist/ingest/main.js', address), ofIngest);
    const programs = [aggregator, billingApi, ingest];
    await Promise.all(programs.map(({ operationsUrl }) => waitUntilReady(operationsUrl)));
    return new Product(ingest.url, aggregator, [billingApi, ingest]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.aggregator, ...this.others].map((program) => program.stop()));
  }

  async post<T>(apiKey: string, path: string, body: object): Promise<T> {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${this.url}/v1${path}`, request);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as T;
  }

  async send(apiKey: string, numbers: readonly number[]): Promise<void> {
    const events = numbers.map((number) => ({
      ...{ event_name: 'call', external_customer_id: 'acme', event_id: `call ${number}` },
      timestamp: '2026-10-05T10:00:00.000Z',
    }));
    await this.post(apiKey, '/events/bulk', { events });
  }

  /** Polls until the meter has counted so much. */
  async expectUsage(apiKey: string, meterId: string, calls: number): Promise<void> {
    const range = { start_time: '2026-10-01T00:00:00Z', end_time: '2026-11-01T00:00:00Z' };
    const asked = { meter_id: meterId, external_customer_id: 'acme', ...range };
    const usage = async (): Promise<string> =>
      (await this.post<{ value: string }>(apiKey, '/events/usage/meter', asked)).value;
    await expect.poll(usage, { timeout: 60_000, interval: 100 }).toBe(String(calls));
  }
}

describe('the steps of docs/operations.md, pasted from the page', () => {
  test('lead from empty servers to the programs, change a key, back up, restore with equal counts, and renew the log', async ({
    emptyDatabaseUrl,
    emptyClickHouseUrl,
    directory,
  }) => {
    const terminal = new Terminal();
    const prepared = await terminal.paste(
      block('1.1', 'npx minutebook migrate', {
        'postgres://user:password@host/minutebook': `'${emptyDatabaseUrl}'`,
        'http://user:password@host:8123/minutebook': `'${emptyClickHouseUrl}'`,
      }),
    );
    expect(prepared).toMatch(
      /^PostgreSQL now has 0001.*\nClickHouse now has 0001.*\nThe first API/,
    );
    const firstKey = terminal.variables['MINUTEBOOK_BOOTSTRAP_API_KEY'] ?? '';
    const product = await Product.start(terminal);
    let meterId = '';
    let apiKey = firstKey;
    const backup = { '/backups/2026-11-23': join(directory, 'backup') };
    try {
      const ready = block('1.1', 'curl', { 'http://127.0.0.1:8080': product.url });
      expect(await terminal.paste(ready)).toContain('"items":[]');
      await product.post(firstKey, '/customers', { external_id: 'acme', name: 'Acme' });
      const meter = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } };
      meterId = (await product.post<{ id: string }>(firstKey, '/meters', meter)).id;
      await product.send(firstKey, [1, 2, 3, 1]);

      // 1.4: both keys work until the old one is revoked.
      const listed = await terminal.paste('npx minutebook keys list');
      terminal.variables['OLD_KEY_ID'] = /secret_\w+/.exec(listed)?.[0] ?? '';
      const changed = await terminal.paste(block('1.4', 'keys revoke "$OLD_KEY_ID"'));
      expect(changed).toContain('Sender of 2027');
      apiKey = terminal.variables['NEW_KEY'] ?? '';
      await product.send(apiKey, [3, 4]);
      await expect
        .poll(() => product.send(firstKey, [5]).catch(String), { timeout: 20_000, interval: 200 })
        .toMatch(/^Error: \/events\/bulk: 401 /);
      await product.send(apiKey, [5]);
      await product.expectUsage(apiKey, meterId, 5);

      // 11: with the aggregators stopped; what comes meanwhile is counted where it is restored.
      await product.aggregator.stop();
      await product.send(apiKey, [6]);
      expect(await terminal.paste(block('11', 'minutebook backup', backup))).toMatch(
        /holds a whole backup of 20/,
      );
    } finally {
      await product.stop();
    }

    await withEmptyDatabase((DATABASE_URL) =>
      withEmptyClickHouse(async (CLICKHOUSE_URL) => {
        const other = new Terminal();
        const secret = terminal.variables['MINUTEBOOK_TOKEN_SECRET'] ?? '';
        const servers = { DATABASE_URL, CLICKHOUSE_URL, MINUTEBOOK_TOKEN_SECRET: secret };
        Object.assign(other.variables, servers);
        const restored = await other.paste(block('11', 'minutebook restore', backup));
        expect(restored).toMatch(
          /^Restored the backup of .*: rows and digest of every table agree/m,
        );
        const second = await Product.start(other);
        try {
          await second.expectUsage(apiKey, meterId, 6);
          await second.send(apiKey, [2, 6, 7]);
          await second.expectUsage(apiKey, meterId, 7);
        } finally {
          await second.stop();
        }

        const renewed = await other.paste(block('11', 'minutebook log renew'));
        expect(renewed).toMatch(/^The log in PostgreSQL is now pg-\w+\. Start the programs\.$/m);
        const third = await Product.start(other);
        try {
          await third.send(apiKey, [7, 8]);
          await third.expectUsage(apiKey, meterId, 8);
        } finally {
          await third.stop();
        }
      }),
    );
  });
});
