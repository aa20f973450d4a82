import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, vi } from 'vitest';
import { API_KEY, ingestTest as test, startTestIngest } from '../testing/ingest-harness.js';

const CLIENTS = 50;
const WAIT = { timeout: 10_000, interval: 20 };
/** A closing connection is read on for half a second; a busy machine is late. */
const SOON_MS = 3_000;
/** A body may pause for 5 s; this is found out within a second. */
const STALLED_MS = 6_000 + SOON_MS;
const USUAL = { requestMs: 60_000, headersMs: 10_000, checkIntervalMs: 5_000 };
const SHORT = { requestMs: 800, headersMs: 600, checkIntervalMs: 50 };

/** A client that never closes: it ignores the server's FIN and keeps its own half open. */
async function openHalf(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('data', () => undefined);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

function head(lines: readonly string[]): string {
  return ['POST /v1/events HTTP/1.1', 'host: t', ...lines, '', ''].join('\r\n');
}

const KEY = `x-api-key: ${API_KEY}`;
const JSON_TYPE = 'content-type: application/json';

const STALLING = `${head([KEY, JSON_TYPE, 'content-length: 9'])}{`;
const STALLING_GZIP = `${head([KEY, JSON_TYPE, 'content-encoding: gzip', 'content-length: 99'])}\u001f`;

describe('a client that ignores FIN loses its connection', () => {
  test.for([
    ['after 400 for what is not HTTP', 'hello\r\n\r\n', SOON_MS, USUAL],
    [
      'after 431 for endless headers',
      `POST / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}`,
      SOON_MS,
      USUAL,
    ],
    [
      'after 408 for headers that do not end',
      'POST /v1/events HTTP/1.1\r\nhost: t\r\n',
      SOON_MS,
      SHORT,
    ],
    ['after 408 for a request that takes too long', STALLING, SOON_MS, SHORT],
    ['after 408 for a body that stalls', STALLING, STALLED_MS, USUAL],
    ['after 408 for a gzip body that stalls', STALLING_GZIP, STALLED_MS, USUAL],
    [
      'after 401 when its body never comes',
      head([JSON_TYPE, 'content-length: 9']),
      STALLED_MS,
      USUAL,
    ],
    [
      'after 404 when its body never comes',
      head([JSON_TYPE, 'content-length: 9']).replace('/v1/events', '/nowhere'),
      STALLED_MS,
      USUAL,
    ],
    [
      'after 413 for a body that it was not asked for',
      head([KEY, JSON_TYPE, 'content-length: 99000000', 'expect: 100-continue']),
      SOON_MS,
      USUAL,
    ],
    [
      'after 401 with Connection: close when its body never comes',
      head([JSON_TYPE, 'content-length: 9', 'connection: close']),
      SOON_MS,
      USUAL,
    ],
  ] as const)('%s', async ([, text, timeout, timeouts], { database }) => {
    const ingest = await startTestIngest(database, { timeouts });
    const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => openHalf(ingest.port)));
    await vi.waitFor(async () => expect(await ingest.connections()).toBe(CLIENTS), WAIT);
    for (const socket of sockets) socket.write(text);
    const gone = { ...WAIT, timeout };
    await vi.waitFor(async () => expect(await ingest.connections()).toBe(0), gone);
    expect(await ingest.bodyBytesHeld()).toBe(0);
    for (const socket of sockets) socket.destroy();
    await ingest.close();
  });
});
