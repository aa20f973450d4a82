import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, vi } from 'vitest';
import { API_KEY, ingestTest as test, startTestIngest } from '../testing/ingest-harness.js';

const MIB = 1024 * 1024;
/** On a busy machine the server reads late. */
const WAIT = { timeout: 10_000, interval: 20 };
const EVENT = '{"event_name":"call","external_customer_id":"acme","event_id":"e1"}';
const GZIP = { headers: { 'content-encoding': 'gzip' } };

/** An event padded with blanks, which count towards the body and not towards the event. */
function paddedTo(bytes: number): Buffer {
  return Buffer.concat([Buffer.from(EVENT), Buffer.alloc(bytes - EVENT.length, ' ')]);
}

function head(lines: readonly string[]): string {
  return [
    'POST /v1/events HTTP/1.1',
    'host: test',
    `x-api-key: ${API_KEY}`,
    'content-type: application/json',
    ...lines,
    '',
    '',
  ].join('\r\n');
}

/** A raw connection and everything received on it. */
async function open(port: number): Promise<{ socket: Socket; received: () => string }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return { socket, received: () => text };
}

/** Resolves when the connection is closed or reset. */
function gone(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('close', () => resolve());
  });
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('it did not happen within 5 s');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('the body limit of 32 MiB', () => {
  test('lets a body of exactly that size pass', async ({ ingest }) => {
    expect(await ingest.send(paddedTo(32 * MIB))).toMatchObject({ status: 202 });
  });

  test('answers one byte more with 413, and the connection stays usable', async ({ ingest }) => {
    const { socket, received } = await open(ingest.port);
    const body = paddedTo(32 * MIB + 1);
    socket.write(head([`content-length: ${body.length}`]));
    socket.write(body);
    await until(() => received().includes('}'));
    expect(received()).toContain('HTTP/1.1 413 ');
    expect(received()).toContain('"code":"validation_error","http_status_code":413');
    socket.write(head([`content-length: ${EVENT.length}`]) + EVENT);
    await until(() => received().includes('HTTP/1.1 202 '));
    socket.destroy();
  });

  test('answers a chunked body as soon as it exceeds the limit', async ({ ingest }) => {
    const { socket, received } = await open(ingest.port);
    socket.write(head(['transfer-encoding: chunked']));
    const chunk = Buffer.concat([
      Buffer.from('100000\r\n'),
      Buffer.alloc(MIB, ' '),
      Buffer.from('\r\n'),
    ]);
    for (let count = 0; count < 34; count += 1) socket.write(chunk);
    await until(() => received().includes('HTTP/1.1 413 '));
    socket.write('0\r\n\r\n' + head([`content-length: ${EVENT.length}`]) + EVENT);
    await until(() => received().includes('HTTP/1.1 202 '));
    socket.destroy();
  });

  test('disconnects a client that keeps sending after its answer', async ({ ingest }) => {
    const { socket, received } = await open(ingest.port);
    socket.write(head(['content-length: 10000000000']));
    const closed = gone(socket);
    const chunk = Buffer.alloc(MIB, ' ');
    let sentMib = 0;
    const sending = setInterval(() => {
      for (let count = 0; count < 4 && socket.writableLength < 8 * MIB; count += 1) {
        sentMib += 1;
        socket.write(chunk);
      }
    }, 1);
    await closed;
    clearInterval(sending);
    expect(received()).toContain('HTTP/1.1 413 ');
    expect(sentMib).toBeGreaterThanOrEqual(64);
    expect(sentMib).toBeLessThan(128);
  });

  test('counts inflated bytes, so that a gzip bomb is stopped', async ({ ingest }) => {
    const bomb = gzipSync(Buffer.alloc(512 * MIB, ' '));
    expect(bomb.length).toBeLessThan(MIB);
    const before = process.memoryUsage().arrayBuffers;
    expect(await ingest.send(bomb, GZIP)).toMatchObject({
      status: 413,
      body: { code: 'validation_error', http_status_code: 413 },
    });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(80 * MIB);
    expect(await ingest.send(gzipSync(paddedTo(32 * MIB)), GZIP)).toMatchObject({ status: 202 });
    expect(await ingest.send(gzipSync(paddedTo(32 * MIB + 1)), GZIP)).toMatchObject({
      status: 413,
    });
  });
});

describe('a gzip body', () => {
  test('is accepted, also when it has several gzip members', async ({ ingest }) => {
    expect(await ingest.send(gzipSync(EVENT), GZIP)).toMatchObject({ status: 202 });
    const members = [EVENT.slice(0, 20), EVENT.slice(20)].map((part) => gzipSync(part));
    expect(await ingest.send(Buffer.concat(members), GZIP)).toMatchObject({ status: 202 });
    expect(await ingest.stored()).toHaveLength(2);
  });

  test.for([
    ['no gzip at all', Buffer.from(EVENT)],
    ['cut short', gzipSync(EVENT).subarray(0, 30)],
    ['damaged', Buffer.concat([gzipSync(EVENT).subarray(0, 30), Buffer.alloc(60, 7)])],
    ['empty', Buffer.alloc(0)],
  ] as const)(
    'that is %s answers 400, and the connection stays usable',
    async ([, body], { ingest }) => {
      expect(await ingest.send(body, GZIP)).toMatchObject({
        status: 400,
        body: { code: 'validation_error' },
      });
      expect(await ingest.send(gzipSync(EVENT), GZIP)).toMatchObject({ status: 202 });
    },
  );
});

describe('a client that waits for 100 Continue', () => {
  test('is told to continue when its headers are valid', async ({ ingest }) => {
    const { socket, received } = await open(ingest.port);
    socket.write(head([`content-length: ${EVENT.length}`, 'expect: 100-continue']));
    await until(() => received().includes('100 Continue'));
    socket.write(EVENT);
    await until(() => received().includes('HTTP/1.1 202 '));
    socket.destroy();
  });

  test('is answered before it sends a body that is too large', async ({ ingest }) => {
    const { socket, received } = await open(ingest.port);
    const closed = gone(socket);
    socket.write(head([`content-length: ${40 * MIB}`, 'expect: 100-continue']));
    await closed;
    expect(received()).toContain('HTTP/1.1 413 ');
    expect(received().toLowerCase()).toContain('connection: close');
    expect(received()).not.toContain('100 Continue');
  });
});

describe('bodies in flight', () => {
  test('of all environments of a tenant together leave room for those of another', async ({
    database,
  }) => {
    const ingest = await startTestIngest(database, {
      bodyLimits: { bodyBytesMax: 2 * MIB, smallBytesMax: MIB },
    });
    const other = { apiKey: await ingest.makeOtherKey() };
    const waiting = await open(ingest.port);
    waiting.socket.write(head([`content-length: ${2 * MIB + 1}`]));
    waiting.socket.write(Buffer.alloc(2 * MIB, ' '));
    // The first body must be there: the one that exceeds the bound is refused.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await ingest.send(paddedTo(2 * MIB))).toMatchObject({
      status: 503,
      body: { code: 'service_unavailable', http_status_code: 503 },
      headers: { 'retry-after': '1' },
    });
    const sibling = { apiKey: await ingest.makeSiblingKey() };
    expect(await ingest.send(paddedTo(2 * MIB), sibling)).toMatchObject({ status: 503 });
    expect(await ingest.send(EVENT)).toMatchObject({ status: 202 });
    expect(await ingest.send(paddedTo(2 * MIB), other)).toMatchObject({ status: 202 });
    expect(await ingest.send(EVENT, other)).toMatchObject({ status: 202 });
    waiting.socket.destroy();
    await vi.waitFor(async () => {
      expect(await ingest.send(paddedTo(2 * MIB))).toMatchObject({ status: 202 });
    }, WAIT);
    await ingest.close();
  });

  test('of clients that disconnect store nothing', async ({ ingest }) => {
    const { socket } = await open(ingest.port);
    socket.write(head([`content-length: ${EVENT.length + 1}`]) + EVENT);
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await ingest.stored()).toEqual([]);
  });
});

describe('a body that stalls', () => {
  test.for([
    ['at its start', Buffer.from('{')],
    ['after most of it', Buffer.alloc(30 * MIB, ' ')],
  ] as const)(
    '%s is refused after 5 s and gives its memory back',
    async ([, start], { ingest }) => {
      const { socket, received } = await open(ingest.port);
      const closed = gone(socket);
      const startedAt = performance.now();
      socket.write(head([`content-length: ${32 * MIB}`]));
      socket.write(start);
      await closed;
      expect(performance.now() - startedAt).toBeGreaterThan(4_900);
      expect(performance.now() - startedAt).toBeLessThan(10_000);
      expect(received()).toContain('HTTP/1.1 408 ');
      expect(received().toLowerCase()).toContain('connection: close');
      expect(received()).toContain('"code":"validation_error","http_status_code":408');
      expect(await ingest.bodyBytesHeld()).toBe(0);
    },
  );
});

describe('one connection', () => {
  test('carries pipelined requests, answered in order', async ({ ingest }) => {
    const { socket, received } = await open(ingest.port);
    const one = (id: string): string => {
      const body = EVENT.replace('e1', id);
      return head([`content-length: ${body.length}`]) + body;
    };
    socket.write(one('p1') + one('p2') + one('p3'));
    await until(() => received().includes('p3'));
    expect(received().match(/p[123]/g)).toEqual(['p1', 'p2', 'p3']);
    socket.destroy();
  });
});

describe('a client', () => {
  test.for([
    ['sends its headers slowly', 'POST /v1/events HTTP/1.1\r\nhost: t\r\n'],
    ['sends its body slowly', head(['content-length: 100']) + '{'],
  ] as const)('that %s is answered 408 and disconnected', async ([, start], { database }) => {
    const timeouts = { requestMs: 300, headersMs: 200, checkIntervalMs: 50 };
    const ingest = await startTestIngest(database, { timeouts });
    const { socket, received } = await open(ingest.port);
    const closed = gone(socket);
    const drip = setInterval(() => socket.write('x'), 50);
    socket.write(start);
    await closed;
    clearInterval(drip);
    expect(received()).toContain('HTTP/1.1 408 ');
    expect(await ingest.send(EVENT)).toMatchObject({ status: 202 });
    await ingest.close();
  });

  test.for([
    ['sends something else than HTTP', 'hello\r\n\r\n', 'HTTP/1.1 400 '],
    ['sends endless headers', `POST / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}`, 'HTTP/1.1 431 '],
  ] as const)('that %s is answered with an error', async ([, text, status], { ingest }) => {
    const { socket, received } = await open(ingest.port);
    const closed = gone(socket);
    socket.write(text);
    await closed;
    expect(received()).toContain(status);
    expect(received()).toContain('"code":"validation_error"');
  });
});
