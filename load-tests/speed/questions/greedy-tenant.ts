import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { build, type Histogram } from 'hdr-histogram-js';
import { ApiClient } from '../../../cli/demo/api-client.js';
import { tableLines } from '../../../cli/demo/tables.js';
import { projectRoot } from '../../../runtime/project.js';
import type { Asking } from '../load/keep-asking-thread.js';
import { startProduct, type Product } from '../start-product.js';
import { writeResults } from './write-results.js';

/**
 * How long a small request of one tenant takes beside eight connections of another that ask as fast
 * as they are answered, in turns with the small requests alone:
 * `npm run measure -- greedy-tenant [--rounds 3] [--calls 400] [--customers 1000]`.
 */
const CONNECTIONS = 8;
const TIMES_MAX = 3;
const WARM_UP_CALLS = 50;
const THREAD = new URL('../load/keep-asking-thread.js', import.meta.url);

/** What the greedy tenant asks for. */
const GREEDY: Readonly<Record<string, Pick<Asking, 'path' | 'body'>>> = {
  'pages of 1,000 customers': { path: '/v1/customers/search', body: '{"limit":1000}' },
  'pages of 100 customers': { path: '/v1/customers/search', body: '{"limit":100}' },
  'its own user': { path: '/v1/users/me' },
};
const ALONE = 'alone';

/** Signs another tenant up, and answers the header that speaks for its user. */
async function signUp({ url }: Product): Promise<Readonly<Record<string, string>>> {
  const account = { email: 'small@example.com', password: 'correct horse battery' };
  const answer = await fetch(`${url}/v1/auth/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...account, tenant_name: 'Small' }),
  });
  const { token } = (await answer.json()) as { readonly token: string };
  return { authorization: `Bearer ${token}` };
}

type Asked = {
  readonly product: Product;
  readonly headers: Readonly<Record<string, string>>;
  readonly calls: number;
};

/** In microseconds; every answer must be 200. */
async function timeSmallCalls({ product, headers, calls }: Asked): Promise<Histogram> {
  const times = build({ highestTrackableValue: 60_000_000, useWebAssembly: false });
  for (let call = 0; call < WARM_UP_CALLS + calls; call += 1) {
    const startedAt = performance.now();
    const answer = await fetch(`${product.url}/v1/users/me`, { headers });
    await answer.text();
    if (answer.status !== 200) throw new Error(`a small request was answered ${answer.status}`);
    if (call >= WARM_UP_CALLS) times.recordValue(Math.round((performance.now() - startedAt) * 1e3));
  }
  return times;
}

/** The times beside the greedy tenant, and how many answers that one got. */
async function timeBeside(
  asked: Asked,
  what: Pick<Asking, 'path' | 'body'>,
): Promise<[Histogram, number]> {
  const { port, apiKey } = asked.product.target;
  const workerData: Asking = { port, apiKey, ...what, connections: CONNECTIONS };
  const greedy = new Worker(THREAD, { workerData });
  const failed = once(greedy, 'error').then(([error]) => Promise.reject(error as Error));
  failed.catch(() => undefined);
  await delay(1_000);
  const times = await Promise.race([timeSmallCalls(asked), failed]);
  const ended = once(greedy, 'message');
  greedy.postMessage('end');
  const [answers] = (await Promise.race([ended, failed])) as [number];
  return [times, answers];
}

async function makeCustomers({ url, target }: Product, count: number): Promise<void> {
  const api = new ApiClient(`${url}/v1`, target.apiKey);
  for (let made = 0; made < count; made += 1) {
    await api.post('/customers', { external_id: `customer-${made}`, name: `Customer ${made}` });
  }
}

type Row = {
  readonly beside: string;
  readonly p50: number;
  readonly p99: number;
  readonly answers: number;
};

function rowOf(beside: string, times: Histogram, answers: number): Row {
  const msAt = (percentile: number): number => times.getValueAtPercentile(percentile) / 1000;
  return { beside, p50: msAt(50), p99: msAt(99), answers };
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    calls: { type: 'string', default: '400' },
    customers: { type: 'string', default: '1000' },
  },
});

const directory = await mkdtemp(join(tmpdir(), 'minutebook-speed-'));
const product = await startProduct(projectRoot, directory);
const rounds: (readonly Row[])[] = [];
try {
  await makeCustomers(product, Number(values.customers));
  const asked = { product, headers: await signUp(product), calls: Number(values.calls) };
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const rows = [rowOf(ALONE, await timeSmallCalls(asked), 0)];
    for (const [name, what] of Object.entries(GREEDY)) {
      rows.push(rowOf(name, ...(await timeBeside(asked, what))));
    }
    rounds.push(rows);
  }
} finally {
  await product.stop();
  await rm(directory, { recursive: true, force: true });
}

const lines = rounds.flatMap((rows, round) => {
  const alone = rows.find(({ beside }) => beside === ALONE);
  return rows.map(({ beside, p50, p99, answers }) => {
    const times = p99 / (alone?.p99 ?? NaN);
    const verdict = times <= TIMES_MAX ? 'reached' : 'missed';
    const figures = [p50.toFixed(1), p99.toFixed(1), times.toFixed(1), String(answers)];
    return [String(round + 1), beside, ...figures, beside === ALONE ? '' : verdict];
  });
});
const head = ['round', 'beside', 'p50 ms', 'p99 ms', 'of alone', 'greedy answers', ''];
for (const line of tableLines(head, lines)) console.log(line);
await writeResults('greedy-tenant', { load: loadavg()[0], rounds });
