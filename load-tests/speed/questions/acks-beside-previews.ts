import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiClient } from '../../../cli/demo/api-client.js';
import { MINUTE_MS } from '../../../contract/instant.js';
import { projectRoot } from '../../../runtime/project.js';
import { atRate, type Target } from '../load/drive.js';
import {
  createMonthCustomers,
  customerName,
  MINUTES_OF_MONTH,
  MONTH_END_MS,
  MONTH_START_MS,
} from '../minute-rows.js';
import { createPlan, subscribe } from '../preview.js';
import { startProduct } from '../start-product.js';
import { writeResults } from './write-results.js';

/**
 * How long single events wait for their answer while previews of ten lines are computed back to
 * back, on one port; and what a small read, a start and the memory of everything cost. Compares
 * builds in turns: each argument is the folder of one.
 */

const ROUNDS = 2;
/** Less than the 10 s in which a new connection must have sent its first request. */
const SECONDS = 9;
const EVENTS_PER_SECOND = 50;
const PREVIEWS_AT_ONCE = 2;
const SMALL_READS = 300;

/** An event in every minute of the month. */
async function sendMonth(api: ApiClient): Promise<void> {
  for (let first = 0; first < MINUTES_OF_MONTH; first += 1_000) {
    const count = Math.min(1_000, MINUTES_OF_MONTH - first);
    const events = Array.from({ length: count }, (_, index) => ({
      event_name: 'call',
      external_customer_id: customerName(0),
      timestamp: new Date(MONTH_START_MS + (first + index) * MINUTE_MS).toISOString(),
    }));
    await api.post('/events/bulk', { events });
  }
  const question = { event_name: 'call', aggregation_type: 'COUNT' };
  for (;;) {
    const { value } = await api.post<{ readonly value: string }>('/events/usage', {
      ...{ ...question, external_customer_id: customerName(0) },
      start_time: new Date(MONTH_START_MS).toISOString(),
      end_time: new Date(MONTH_END_MS).toISOString(),
    });
    if (value === String(MINUTES_OF_MONTH)) return;
    await delay(200);
  }
}

/** The processes of a program: itself, and what descends from it. */
async function familyOf(pid: number): Promise<readonly number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]));
  }
  const family = new Set([pid]);
  for (let size = 0; size !== family.size;) {
    size = family.size;
    for (const [child, parent] of parents) if (family.has(parent)) family.add(child);
  }
  return [...family];
}

/** Memory of everything, pages that are shared counted once, in MB. */
async function memoryOf(pid: number): Promise<number> {
  let kib = 0;
  for (const member of await familyOf(pid)) {
    const text = await readFile(`/proc/${member}/smaps_rollup`, 'utf8').catch(() => '');
    kib += Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0);
  }
  return Math.round((kib * 1024) / 1e6);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Number((sorted[Math.floor((sorted.length - 1) * share)] ?? NaN).toFixed(2));
}

async function timeSmallReads(api: ApiClient): Promise<object> {
  const times: number[] = [];
  for (let read = 0; read < SMALL_READS; read += 1) {
    const startedAt = performance.now();
    await api.get('/meters?limit=1');
    times.push(performance.now() - startedAt);
  }
  const later = times.slice(SMALL_READS / 3);
  return { readMsP50: percentile(later, 0.5), readMsP90: percentile(later, 0.9) };
}

async function previewOn(api: ApiClient, subscriptionId: string, signal: AbortSignal) {
  let previews = 0;
  while (!signal.aborted) {
    await api.post('/invoices/preview', {
      subscription_id: subscriptionId,
      period_start: new Date(MONTH_START_MS).toISOString(),
      period_end: new Date(MONTH_END_MS).toISOString(),
    });
    previews += 1;
  }
  return previews;
}

async function timeAcks(target: Target): Promise<object> {
  const load = { path: '/v1/events', eventsPerRequest: 1, connections: 32 } as const;
  const paced = { ...load, seconds: SECONDS, requestsPerSecond: EVENTS_PER_SECOND };
  const { latencyMicros } = await atRate(target, paced);
  const at = (share: number): number => latencyMicros.getValueAtPercentile(share) / 1000;
  return { ackMsP50: at(50), ackMsP99: at(99), ackMsMax: at(100) };
}

async function measure(folder: string): Promise<object> {
  const directory = await mkdtemp(join(tmpdir(), 'minutebook-speed-'));
  const product = await startProduct(folder, directory);
  try {
    const api = new ApiClient(`${product.url}/v1`, product.target.apiKey);
    await delay(3_000);
    const idleMb = await memoryOf(product.pid);
    const reads = await timeSmallReads(api);
    await createMonthCustomers(api, 1);
    const subscriptionId = await subscribe(api, await createPlan(api));
    await sendMonth(api);
    const alone = await timeAcks(product.target);
    const stop = new AbortController();
    const previewing = Promise.all(
      Array.from({ length: PREVIEWS_AT_ONCE }, () => previewOn(api, subscriptionId, stop.signal)),
    );
    // A failure is told by whoever waits for the previews, also when the acknowledgements fail.
    previewing.catch(() => undefined);
    const beside = await timeAcks(product.target).finally(() => stop.abort());
    const previews = (await previewing).reduce((sum, count) => sum + count, 0);
    const memory = { idleMb, afterMb: await memoryOf(product.pid) };
    const readyMs = Math.round(product.readyMs);
    return { folder, load: loadavg()[0], readyMs, ...reads, alone, beside, previews, ...memory };
  } finally {
    await product.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

const given = process.argv.slice(2);
const folders = given.length === 0 ? [projectRoot] : given;
const results: object[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  for (const folder of folders) {
    const result = await measure(folder);
    process.stdout.write(`${JSON.stringify(result)}\n`);
    results.push(result);
  }
}
await writeResults('acks-beside-previews', { results });
