import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { MinutebookClient } from '../../../client/minutebook-client.js';
import { tableLines } from '../../../cli/demo/tables.js';
import { withTestStack } from '../../harness/test-stack.js';
import { writeResults } from './write-results.js';

/**
 * Whether a receiver that hangs and one that fails delay the others, how many messages a minute go
 * out, and what memory that takes. Ends with a count check: every receiver that answers has every
 * event. `npm run measure -- webhook-delivery [--endpoints N] [--events N] [--stream N] [--plain]`;
 * plain leaves out the two that hang and fail.
 */
const { values } = parseArgs({
  options: {
    endpoints: { type: 'string', default: '1000' },
    events: { type: 'string', default: '5' },
    stream: { type: 'string', default: '2000' },
    plain: { type: 'boolean', default: false },
  },
});
const ENDPOINTS = Number(values.endpoints);
const EVENTS = Number(values.events);
const STREAM = Number(values.stream);
const PATIENCE_MS = 600_000;

type Receiver = {
  readonly url: string;
  /** When each event arrived first, by endpoint and event. */
  readonly arrivals: Map<string, Map<string, number>>;
  repeated: number;
};

/** `/hang` never answers, `/fail` always refuses, and every other path takes what comes. */
async function startReceiver(): Promise<Receiver & { close: () => void }> {
  const receiver: Receiver = { url: '', arrivals: new Map(), repeated: 0 };
  const server = createServer((request, response) => {
    request.resume();
    const path = request.url ?? '/';
    if (path === '/hang') return;
    request.on('end', () => {
      if (path === '/fail') return response.writeHead(500).end();
      const id = String(request.headers['webhook-id']);
      const known = receiver.arrivals.get(path) ?? new Map<string, number>();
      receiver.arrivals.set(path, known);
      if (known.has(id)) receiver.repeated += 1;
      else known.set(id, Date.now());
      return response.writeHead(200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
}

/** Calls `work` for each number, several calls at the same time. */
async function many(count: number, work: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const call = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await work(next);
    }
  };
  await Promise.all(Array.from({ length: 8 }, call));
}

async function until(isDone: () => boolean): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!isDone()) {
    if (Date.now() > end) throw new Error('not everything was delivered');
    await wait(100);
  }
}

async function memoryMb(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const line = /process_resident_memory_bytes\{program="billing-api"\} ([\d.e+]+)/.exec(metrics);
  return Math.round(Number(line?.[1] ?? Number.NaN) / 1e6);
}

const receiver = await startReceiver();
const arrived = (path: string): number => receiver.arrivals.get(path)?.size ?? 0;
await withTestStack({ MINUTEBOOK_PRIVATE_TARGETS: 'allow' }, async ({ url, apiKey }) => {
  const client = new MinutebookClient({ baseUrl: `${url}/v1`, apiKey });
  const endpoint = (path: string, type: string) =>
    client.post('/webhooks/endpoints', {
      body: { url: `${receiver.url}${path}`, event_types: [type] },
    });
  const make = (name: string) => client.post('/customers', { body: { external_id: name } });

  await endpoint('/stream', 'customer.created');
  const idle = await memoryMb(url);
  const began = Date.now();
  await many(STREAM, (number) => make(`stream-${number}`));
  const madeMs = Date.now() - began;
  await until(() => arrived('/stream') === STREAM);
  const streamMs = Date.now() - began;
  const afterStream = await memoryMb(url);

  const paths = Array.from({ length: ENDPOINTS - 2 }, (_none, index) => `/e${index}`);
  await many(ENDPOINTS - 2, (number) => endpoint(paths[number - 1] ?? '', 'feature.created'));
  if (!values.plain) {
    await endpoint('/hang', 'feature.created');
    await endpoint('/fail', 'feature.created');
  }
  const sentAt: number[] = [];
  for (let number = 1; number <= EVENTS; number += 1) {
    await client.post('/features', {
      body: { name: `F${number}`, type: 'boolean', lookup_key: `f${number}` },
    });
    sentAt.push(Date.now());
    await wait(2_000);
  }
  await until(() => paths.every((path) => arrived(path) === EVENTS));
  const first = sentAt[0] ?? 0;
  const all = paths.flatMap((path) => [...(receiver.arrivals.get(path)?.values() ?? [])]);
  const fanMs = Math.max(...all) - first;
  const afterFan = await memoryMb(url);
  const perMinute = (count: number, ms: number) => Math.round((count * 60_000) / ms);
  const results = {
    streamEvents: STREAM,
    streamMadePerMinute: perMinute(STREAM, madeMs),
    streamDeliveredPerMinute: perMinute(STREAM, streamMs),
    endpoints: ENDPOINTS,
    areTwoSpoilt: !values.plain,
    events: EVENTS,
    fanDeliveredPerMinute: perMinute(all.length, fanMs),
    secondsToLastOfFan: fanMs / 1000,
    repeated: receiver.repeated,
    memoryMb: { idle, afterStream, afterFan },
  };
  await writeResults('webhook-delivery', results);
  const rows = Object.entries(results).map(([name, value]) => [name, JSON.stringify(value)]);
  for (const line of tableLines(['figure', 'value'], rows)) console.log(line);
});
receiver.close();
