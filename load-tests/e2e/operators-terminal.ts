import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { drawFreePort } from '../../runtime/port.js';
import { pastedFrom, runnable } from '../harness/page-commands.js';
import { programOf, waitUntilReady, type StartedProgram } from '../harness/start-program.js';

const run = promisify(execFile);

/** A block of commands of the page, with what the operator writes in another way. */
export const block = (
  section: string,
  words: string,
  replaced: Readonly<Record<string, string>> = {},
) => pastedFrom({ section, words }, replaced);

const END = '--- the variables of the shell ---';

/** The terminal of an operator: what one paste sets is there for the next. */
export class Terminal {
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
        MINUTEBOOK_LOG_LEVEL: 'error',
        MINUTEBOOK_STOP_DELAY_MS: '0',
        // Another product may run on this machine.
        MINUTEBOOK_PORT: String(ports.own),
        MINUTEBOOK_METRICS_PORT: String(ports.metrics),
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const metricsUrl = `http://127.0.0.1:${ports.metrics}`;
    return programOf(child, `http://127.0.0.1:${ports.own}`, metricsUrl);
  }
}

/** The three programs as section 1.1 starts them. */
export class Product {
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

  post<T>(apiKey: string, path: string, body: object): Promise<T> {
    return this.#ask<T>(apiKey, path, { method: 'POST', body: JSON.stringify(body) });
  }

  /** The environment of a key. */
  async environmentOf(apiKey: string): Promise<string> {
    const path = '/environments';
    const { items } = await this.#ask<{ items: readonly { id: string }[] }>(apiKey, path, {});
    return items[0]?.id ?? '';
  }

  async #ask<T>(apiKey: string, path: string, request: RequestInit): Promise<T> {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const answer = await fetch(`${this.url}/v1${path}`, { ...request, headers });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as T;
  }

  async send(apiKey: string, numbers: readonly number[]): Promise<void> {
    const events = numbers.map((number) => ({
      event_name: 'call',
      external_customer_id: 'acme',
      event_id: `call ${number}`,
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

/**
 * Section 14, pasted: first how many events there are, then the erasure.
 * @returns what the two commands wrote.
 */
export async function eraseByThePage(
  terminal: Terminal,
  of: { readonly externalId: string; readonly environmentId: string },
): Promise<{ readonly looked: string; readonly erased: string }> {
  const own = { '<external id>': of.externalId, '<environment id>': of.environmentId };
  // It ends with status 1, since it erases nothing.
  const comment = '# says how many events there are, and erases none';
  const look = block('14', comment, { ...own, [comment]: '2>&1 || true' });
  const looked = await terminal.paste(look);
  return { looked, erased: await terminal.paste(block('14', '--yes', own)) };
}
