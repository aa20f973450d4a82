import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ApiClient } from '../cli/demo/api-client.js';
import { createCustomers } from '../cli/demo/customers.js';
import { tableLines } from '../cli/demo/tables.js';
import { findFreePort } from '../runtime/port.js';
import { builtModule } from '../runtime/project.js';
import { createApiKey } from '../sql/api-key.js';
import { saturate, type Target } from './ingest-rate/drive.js';
import { HttpConnection } from './ingest-rate/http-connection.js';
import { PreparedRequest } from './ingest-rate/prepared-request.js';
import { startYardstick } from './ingest-rate/start-yardstick.js';

/**
 * Rates of the whole product on one machine, client and engines on it too: single and bulk requests
 * beside the bare node:http yardstick of the same run, and the time until all of a bulk run is
 * visible in a usage query. A run whose counts are wrong has no figures. `node cli/launch.mjs
 * throughput [--events 100000]`; KAFKA_BROKERS switches the log.
 */
const EVENTS_PER_REQUEST = 500;
const BULK_CONNECTIONS = 8;
const SINGLE_CONNECTIONS = 64;
const SINGLE_SECONDS = 5;
const READY_TIMEOUT_MS = 60_000;
const VISIBLE_TIMEOUT_MS = 60_000;
const ALL_TIME = { start_time: '1970-01-01T00:00:00Z', end_time: '2200-01-01T00:00:00Z' };

/** The customers of the prepared requests: usage of unknown customers is kept and not shown. */
const CUSTOMERS = Array.from(
  { length: EVENTS_PER_REQUEST },
  (_, index) => `customer-${String(index).padStart(4, '0')}`,
);

type Product = { readonly process: ChildProcess; readonly url: string; readonly target: Target };

async function startProduct(directory: string): Promise<Product> {
  const port = (await findFreePort(0)) ?? 0;
  const apiKey = createApiKey('private_key');
  const child = spawn(process.execPath, [builtModule('cli/minutebook'), 'start'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      MINUTEBOOK_PORT: String(port),
      MINUTEBOOK_DATA_DIR: directory,
      MINUTEBOOK_BOOTSTRAP_API_KEY: apiKey,
      MINUTEBOOK_INGEST_RATE: '1000000',
      MINUTEBOOK_HEAVY_RATE: '1000',
      MINUTEBOOK_DEFAULT_RATE: '100000',
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const isReady = await fetch(`${url}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return { process: child, url, target: { port, host: '127.0.0.1', apiKey } };
    await delay(100);
  }
  throw new Error('the product did not become ready');
}

/** Sends exactly so many events in bulk; resolves to the seconds it took. */
async function sendBulk(target: Target, events: number): Promise<number> {
  const requests = Math.ceil(events / EVENTS_PER_REQUEST);
  let next = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: BULK_CONNECTIONS }, async () => {
      const connection = await HttpConnection.open(target.port, target.host);
      const request = new PreparedRequest({
        path: '/v1/events/bulk',
        eventsPerRequest: EVENTS_PER_REQUEST,
        host: target.host,
        apiKey: target.apiKey,
      });
      while (next < requests) {
        const firstId = next * EVENTS_PER_REQUEST;
        next += 1;
        const status = await new Promise<number>((resolve) => {
          connection.send(request.withIds(firstId), resolve);
        });
        if (status !== 202) throw new Error(`a bulk request was answered ${status}`);
      }
      connection.close();
    }),
  );
  return (performance.now() - startedAt) / 1000;
}

async function waitUntilVisible(api: ApiClient, meterId: string, events: number): Promise<string> {
  const deadline = Date.now() + VISIBLE_TIMEOUT_MS;
  for (;;) {
    const body = { meter_id: meterId, ...ALL_TIME };
    const { value } = await api.post<{ readonly value: string }>('/events/usage/meter', body);
    if (Number(value) >= events || Date.now() > deadline) return value;
    await delay(20);
  }
}

const SINGLE = { path: '/v1/events', eventsPerRequest: 1 } as const;

async function singleRates(
  target: Target,
): Promise<{ bare: number; single: number; sent: number }> {
  const load = { ...SINGLE, connections: SINGLE_CONNECTIONS, seconds: SINGLE_SECONDS };
  const yardstick = await startYardstick();
  const bare = await saturate(yardstick.target, load);
  yardstick.process.kill();
  const single = await saturate(target, load);
  const refused = Object.keys(single.statuses).filter((status) => status !== '202');
  if (refused.length > 0) throw new Error(`singles were answered ${refused.join(', ')}`);
  return {
    bare: bare.eventsPerSecond,
    single: single.eventsPerSecond,
    sent: single.acceptedEvents,
  };
}

async function measure(product: Product, events: number): Promise<void> {
  const api = new ApiClient(`${product.url}/v1`, product.target.apiKey);
  const { id: meterId } = await api.post<{ readonly id: string }>('/meters', {
    name: 'Load',
    event_name: 'api.request',
    aggregation: { type: 'COUNT' },
  });
  await createCustomers(api, CUSTOMERS, () => undefined);
  console.log(`sending ${events} events in bulk, then single events for ${SINGLE_SECONDS} s …`);
  const startedAt = performance.now();
  const bulkSeconds = await sendBulk(product.target, events);
  const visible = await waitUntilVisible(api, meterId, events);
  const visibleSeconds = (performance.now() - startedAt) / 1000;
  const { bare, single, sent } = await singleRates(product.target);
  const counted = await waitUntilVisible(api, meterId, events + sent);
  const rate = (value: number): string => Math.round(value).toLocaleString('en');
  const rows = [
    ['bare node:http, single', rate(bare), '1.00'],
    ['single, 202 after the ack', rate(single), (single / bare).toFixed(2)],
    [
      'bulk, 202 after the ack',
      rate(events / bulkSeconds),
      (events / bulkSeconds / bare).toFixed(2),
    ],
    [
      'first send to all visible',
      rate(events / visibleSeconds),
      (events / visibleSeconds / bare).toFixed(2),
    ],
  ];
  for (const line of tableLines(['', 'events/s', 'of bare'], rows)) console.log(line);
  console.log(
    `${events} events: sent in ${bulkSeconds.toFixed(2)} s, visible ${visibleSeconds.toFixed(2)} s after the first send`,
  );
  const isRight = visible === String(events) && counted === String(events + sent);
  console.log(`count check: sent ${events + sent}, counted ${counted}${isRight ? '' : ': WRONG'}`);
  if (!isRight) process.exitCode = 1;
}

const { values } = parseArgs({ options: { events: { type: 'string', default: '100000' } } });
const directory = await mkdtemp(join(tmpdir(), 'minutebook-throughput-'));
const product = await startProduct(directory);
try {
  await measure(product, Number(values.events));
} finally {
  product.process.kill('SIGTERM');
  await once(product.process, 'exit');
  await rm(directory, { recursive: true, force: true });
}
