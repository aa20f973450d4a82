import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createMetrics } from '../metrics.js';
import { PipelinedRequests } from './pipelined-requests.js';
import { ProgramServer, serveWith } from './program-server.js';

const WAIT = { timeout: 10_000, interval: 10 };
/** More than the buffers of the kernel take for one connection. */
const LARGE = Buffer.alloc(16 * 1024 * 1024, 'x');

/** A server whose requests are answered by the test, in the order of their arrival. */
async function startHeld(requests?: PipelinedRequests) {
  const begun: { readonly url: string; readonly response: ServerResponse }[] = [];
  const server = new ProgramServer({
    handler: serveWith((request, response) => {
      request.resume();
      begun.push({ url: request.url ?? '', response });
    }),
    metrics: createMetrics(),
    requests,
  });
  const port = await server.listen(0, '127.0.0.1');
  onTestFinished(() => server.close());
  return { port, begun, urls: () => begun.map(({ url }) => url) };
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const many = (count: number): string =>
  Array.from({ length: count }, (_, index) => get(`/${index}`)).join('');

async function send(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

describe('requests that a client sends on one connection without waiting for the answers', () => {
  test('are begun one after the other, and answered in order', async () => {
    const { port, begun, urls } = await startHeld();
    const socket = await send(
      port,
      many(3) + 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    const answers = text(socket);
    for (const url of ['/0', '/1', '/2', '/last']) {
      await vi.waitFor(() => expect(urls().at(-1)).toBe(url), WAIT);
      await delay(20);
      expect(urls().at(-1)).toBe(url);
      begun.at(-1)?.response.end(`<${url}>`);
    }
    expect((await answers).match(/<[^>]*>/g)).toEqual(['</0>', '</1>', '</2>', '</last>']);
  });

  test('keep one answer in memory for each connection while the client reads nothing', async () => {
    const connections = 40;
    const { port, begun } = await startHeld();
    for (let count = 0; count < connections; count += 1) await send(port, many(40));
    await vi.waitFor(() => expect(begun).toHaveLength(connections), WAIT);
    for (const { response } of begun) response.end(LARGE);
    await delay(300);
    expect(begun).toHaveLength(connections);
    expect(begun.every(({ response }) => !response.writableFinished)).toBe(true);
  });

  test('are forgotten when the client leaves, and the one under way is told', async () => {
    const { port, begun } = await startHeld();
    const socket = await send(port, many(5));
    await vi.waitFor(() => expect(begun).toHaveLength(1), WAIT);
    socket.destroy();
    await vi.waitFor(() => expect(begun[0]?.response.destroyed).toBe(true), WAIT);
    await delay(50);
    expect(begun).toHaveLength(1);
  });

  test('with bodies arrive complete', async () => {
    const { port, begun, urls } = await startHeld();
    const post = (path: string): string =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n${'y'.repeat(200_000)}`;
    await send(port, post('/a') + post('/b') + get('/c'));
    for (const url of ['/a', '/b', '/c']) {
      await vi.waitFor(() => expect(urls().at(-1)).toBe(url), WAIT);
      await vi.waitFor(() => expect(begun.at(-1)?.response.req.complete).toBe(true), WAIT);
      begun.at(-1)?.response.end();
    }
  });
});

describe('a connection is cut', () => {
  test.for([
    ['when one more request waits than may wait on it', { perConnectionMax: 3, waitingMax: 100 }],
    ['when more requests wait in the whole program', { perConnectionMax: 100, waitingMax: 3 }],
  ] as const)('%s', async ([, limits]) => {
    const { port, begun } = await startHeld(new PipelinedRequests(limits));
    const allowed = await send(port, many(4));
    await vi.waitFor(() => expect(begun).toHaveLength(1), WAIT);
    await delay(50);
    expect(allowed.closed).toBe(false);
    allowed.write(get('/one-more'));
    await once(allowed.resume(), 'close');
    await send(port, many(4));
    await vi.waitFor(() => expect(begun).toHaveLength(2), WAIT);
  });
});
