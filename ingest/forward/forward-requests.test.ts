import { once } from 'node:events';
import { request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { ask, exchangeRaw, startBehind, startFront } from '../testing/forwarding-server.js';

/** Much more than the buffers of the connections between client and server hold. */
const MUCH = 40 * 1024 * 1024;
const CHUNK = Buffer.alloc(64 * 1024);
const WAIT = { timeout: 10_000, interval: 10 };

/** Writes up to this many bytes as long as the other side takes them; tells how many it took. */
function writeMuch(to: ServerResponse | ReturnType<typeof sendRequest>, bytesMax: number) {
  const state = { bytes: 0 };
  const go = (): void => {
    while (state.bytes < bytesMax) {
      state.bytes += CHUNK.length;
      if (!to.write(CHUNK)) {
        to.once('drain', go);
        return;
      }
    }
    to.end();
  };
  go();
  return state;
}

describe('bodies are streamed', () => {
  test('to a client at its pace: what it does not read is not gathered', async () => {
    let written = { bytes: 0 };
    const behind = await startBehind((_request, response) => {
      written = writeMuch(response, MUCH);
    });
    const { port } = await startFront(behind.origin);
    const sent = sendRequest({ port, host: '127.0.0.1', path: '/' }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    await delay(300);
    expect(written.bytes).toBeLessThan(MUCH / 2);
    let read = 0;
    for await (const chunk of answer) read += (chunk as Buffer).length;
    expect(read).toBe(MUCH);
  });

  test('to billing-api at its pace, and arrive complete', async () => {
    let read = 0;
    const reading = { start: (): void => undefined };
    const behind = await startBehind((request, response) => {
      reading.start = () => {
        request.on('data', (chunk: Buffer) => (read += chunk.length));
        request.on('end', () => response.end());
      };
    });
    const { port } = await startFront(behind.origin);
    const sent = sendRequest({ port, host: '127.0.0.1', path: '/', method: 'POST' });
    const written = writeMuch(sent, MUCH);
    await delay(300);
    expect(written.bytes).toBeLessThan(MUCH / 2);
    reading.start();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect([answer.statusCode, read]).toEqual([200, MUCH]);
    answer.resume();
  });

  test('and a client that waits for 100 Continue is told to send', async () => {
    const expectations: unknown[] = [];
    const behind = await startBehind((request, response) => {
      expectations.push(request.headers.expect);
      request.pipe(response);
    });
    const { port } = await startFront(behind.origin);
    const headers = { expect: '100-continue', 'content-length': '5' };
    const sent = sendRequest({ port, host: '127.0.0.1', path: '/', method: 'POST', headers });
    sent.flushHeaders();
    await once(sent, 'continue');
    sent.end('hello');
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect([answer.statusCode, String(answer.read())]).toEqual([200, 'hello']);
    expect(expectations).toEqual([undefined]);
  });
});

describe('a request ends behind ingest when its client leaves', () => {
  test.for(['before the answer', 'in the middle of the answer', 'in the middle of the body'])(
    '%s',
    async (when) => {
      let isOpen = false;
      const behind = await startBehind((request, response) => {
        isOpen = true;
        request.resume();
        response.once('close', () => (isOpen = false));
        if (when === 'in the middle of the answer') response.write(CHUNK);
      });
      const { port } = await startFront(behind.origin);
      const socket = connect(port, '127.0.0.1');
      const body =
        when === 'in the middle of the body' ? '\r\ncontent-length: 9\r\n\r\nab' : '\r\n\r\n';
      socket.write(`POST / HTTP/1.1\r\nHost: a${body}`);
      if (when === 'in the middle of the answer') await once(socket, 'data');
      await vi.waitFor(() => expect(isOpen).toBe(true), WAIT);
      socket.destroy();
      await vi.waitFor(() => expect(isOpen).toBe(false), WAIT);
    },
  );
});

const UNAVAILABLE = { code: 'service_unavailable', http_status_code: 503 };

describe('without billing-api the answer is 503 with Retry-After', () => {
  test.for(['is known not to run', 'refuses connections', 'dies before it answers', 'is silent'])(
    'when it %s',
    async (how) => {
      const behind = await startBehind((request) => {
        if (how !== 'is silent') request.socket.destroy();
      });
      if (how === 'refuses connections') behind.close();
      const origin = how === 'is known not to run' ? null : behind.origin;
      const { port } = await startFront(origin, { times: { idleMs: 5_000, silenceMs: 200 } });
      for (const line of ['GET /v1/meters', 'POST /v1/meters'] as const) {
        const answer = await ask(port, line, { body: line.startsWith('P') ? '{}' : '' });
        expect(answer.status).toBe(503);
        expect(JSON.parse(answer.body)).toMatchObject(UNAVAILABLE);
        expect(answer.headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' });
        expect(answer.headers['x-request-id']).toMatch(/./);
      }
    },
  );

  test('and says so when a change may have been made', async () => {
    const behind = await startBehind((request) => request.socket.destroy());
    const { port } = await startFront(behind.origin);
    const { body } = await ask(port, 'POST /v1/meters', { body: '{}' });
    expect(body).toContain('may have been carried out');
  });
});

test('a path that may not be sent on is refused, and the program goes on', async () => {
  const behind = await startBehind((_request, response) => response.end());
  const { port } = await startFront(behind.origin);
  for (const path of ['/a\tb', '/a\fb', '/\u00e9', '*', 'http://other/x', '//x']) {
    const head = `OPTIONS ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    expect(await exchangeRaw(port, head)).toMatch(/^HTTP\/1.1 (200|400) /);
  }
  expect((await ask(port, 'GET /')).status).toBe(200);
});

test('an answer that breaks off behind ingest breaks off for the client', async () => {
  const behind = await startBehind((request, response) => {
    response.write('half');
    setTimeout(() => request.socket.destroy(), 20);
  });
  const { port } = await startFront(behind.origin);
  await expect(ask(port, 'GET /')).rejects.toThrow('aborted');
});

test('an answer that comes before the body is complete reaches the client', async () => {
  const behind = await startBehind((request, response) => {
    request.resume();
    response.writeHead(413, { connection: 'close' }).end('too large');
  });
  const { port } = await startFront(behind.origin);
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n';
  const answer = await exchangeRaw(port, `${head}${'x'.repeat(100_000)}`);
  expect(answer).toContain('HTTP/1.1 413 ');
  expect(answer).toContain('Connection: close');
}, 15_000);

describe('a connection to billing-api', () => {
  test('is used again, and closed by ingest when it is idle', async () => {
    const behind = await startBehind((_request, response) => response.end());
    const { port } = await startFront(behind.origin, { times: { idleMs: 80, silenceMs: 5_000 } });
    const opened = new Set<unknown>();
    for (let count = 0; count < 3; count += 1) {
      await ask(port, 'GET /');
      for (const socket of behind.sockets) opened.add(socket);
    }
    expect(opened.size).toBe(1);
    await vi.waitFor(() => expect(behind.sockets.size).toBe(0), WAIT);
  });

  test('is not idle while an answer is on its way', async () => {
    const behind = await startBehind((_request, response) => {
      setTimeout(() => response.end('late'), 250);
    });
    const { port } = await startFront(behind.origin, { times: { idleMs: 50, silenceMs: 5_000 } });
    for (let count = 0; count < 2; count += 1) {
      expect((await ask(port, 'GET /')).body).toBe('late');
    }
  });

  test('that closes at this very moment costs a reader nothing, and a change is not repeated', async () => {
    const perSocket = new Map<unknown, number>();
    const lines: string[] = [];
    const behind = await startBehind((request, response) => {
      const { socket, method } = request;
      perSocket.set(socket, (perSocket.get(socket) ?? 0) + 1);
      lines.push(`${method} ${perSocket.get(socket)}`);
      // As if it had closed the connection when nothing was under way.
      if (perSocket.get(socket) === 2) socket.resetAndDestroy();
      else response.end();
    });
    const { port } = await startFront(behind.origin);
    const statuses = [];
    for (const line of ['GET /', 'GET /', 'POST /'] as const) {
      statuses.push((await ask(port, line)).status);
    }
    expect(statuses).toEqual([200, 200, 503]);
    expect(lines).toEqual(['GET 1', 'GET 2', 'GET 1', 'POST 2']);
  });
});

test('a server that closes answers what is under way', async () => {
  const behind = await startBehind((_request, response) => {
    setTimeout(() => response.end('done'), 200);
  });
  const front = await startFront(behind.origin);
  const asked = ask(front.port, 'GET /');
  await vi.waitFor(() => expect(behind.sockets.size).toBe(1), WAIT);
  const closed = front.close();
  expect((await asked).body).toBe('done');
  await closed;
});
