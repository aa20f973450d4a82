import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from 'vitest';
import { ask, exchangeRaw, startBehind, startFront } from '../testing/forwarding-server.js';

/** A server that tells which headers arrived, and one in front of it. */
async function startEcho(proxyCount = 0): Promise<number> {
  const behind = await startBehind((request, response) => {
    request.resume();
    response.end(JSON.stringify(request.headers));
  });
  return (await startFront(behind.origin, { proxyCount })).port;
}

async function arrived(
  port: number,
  headers: Readonly<Record<string, string>>,
): Promise<IncomingHttpHeaders> {
  return JSON.parse((await ask(port, 'GET /v1/x', { headers })).body) as IncomingHttpHeaders;
}

describe('the address of the client', () => {
  test.for([
    ['no proxy in front', 0, undefined, '127.0.0.1'],
    ['an address that the client invented', 0, '6.6.6.6', '127.0.0.1'],
    ['one proxy in front', 1, '6.6.6.6, 1.2.3.4', '1.2.3.4'],
    ['two proxies in front', 2, '6.6.6.6, 1.2.3.4, 10.0.0.9', '1.2.3.4'],
    ['a proxy that tells no address', 1, undefined, '127.0.0.1'],
  ] as const)('%s', async ([, proxyCount, given, expected]) => {
    const port = await startEcho(proxyCount);
    const headers: Record<string, string> = given === undefined ? {} : { 'X-Forwarded-For': given };
    expect((await arrived(port, headers))['x-forwarded-for']).toBe(expected);
    const named = { ...headers, Connection: 'x-forwarded-for' };
    expect((await arrived(port, named))['x-forwarded-for']).toBe(expected);
  });
});

describe('headers of a request', () => {
  test('end at ingest when they are of one connection or Connection names them', async () => {
    const port = await startEcho();
    const seen = await arrived(port, {
      Connection: 'keep-alive, X-Private, host, content-length, Upgrade, HTTP2-Settings',
      'Keep-Alive': 'timeout=9',
      'Proxy-Authorization': 'Basic eA==',
      TE: 'trailers',
      Upgrade: 'websocket',
      'HTTP2-Settings': 'AAMAAABkAAQAAP__',
      'X-Private': 'secret',
      'x-api-key': 'sk_1',
      'X-Request-ID': 'id 1',
    });
    expect(seen).toEqual({
      host: `127.0.0.1:${port}`,
      connection: 'keep-alive',
      'x-api-key': 'sk_1',
      'x-request-id': 'id 1',
      'x-forwarded-for': '127.0.0.1',
      'content-length': '0',
    });
  });

  test('keep their bytes, their order and their repetition', async () => {
    const behind = await startBehind((request, response) => {
      response.end(JSON.stringify(request.rawHeaders));
    });
    const { port } = await startFront(behind.origin);
    const text = await exchangeRaw(
      port,
      'GET / HTTP/1.1\r\nHost: a\r\nX-A: \u00e9\r\nx-b: 1\r\nX-A: 2\r\nConnection: close\r\n\r\n',
    );
    const raw = JSON.parse(text.split('\r\n\r\n')[1] ?? '') as string[];
    expect(raw.slice(0, 6)).toEqual(['X-A', '\u00c3\u00a9', 'x-b', '1', 'X-A', '2']);
  });

  test('as long as ingest takes them are answered, by whichever program finds them too long', async () => {
    const port = await startEcho();
    for (const length of [15_000, 16_200, 16_380]) {
      const { status } = await ask(port, 'GET /', { headers: { 'x-long': 'y'.repeat(length) } });
      expect([200, 431]).toContain(status);
    }
  });
});

test('headers of an answer are sent on without those of the connection behind', async () => {
  const behind = await startBehind((_request, response) => {
    response.writeHead(201, 'Made', [
      'Set-Cookie',
      'a=1',
      'Set-Cookie',
      'b=2',
      'ETag',
      '"7"',
      'Date',
      'then',
      'Connection',
      'close, X-Hop',
      'X-Hop',
      '1',
      'Keep-Alive',
      'timeout=1',
    ]);
    response.end('x');
  });
  const { port } = await startFront(behind.origin);
  const { status, headers } = await ask(port, 'GET /');
  expect(status).toBe(201);
  expect(headers).toMatchObject({ 'set-cookie': ['a=1', 'b=2'], etag: '"7"', date: 'then' });
  expect([headers['x-hop'], headers.connection]).toEqual([undefined, 'keep-alive']);
});

describe('a body that looks like a further request', () => {
  const INNER = 'GET /inner HTTP/1.1\r\nHost: x\r\n\r\n';
  const CHUNKED = `${INNER.length.toString(16)}\r\n${INNER}\r\n0\r\n\r\n`;

  test.for(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST', 'PUT', 'TRACE'])(
    'of %s is a body behind ingest too, however its length is told',
    async (method) => {
      const seen: string[] = [];
      const behind = await startBehind((request, response) => {
        let body = '';
        request.on('data', (chunk) => (body += String(chunk)));
        request.on('end', () => {
          seen.push(`${request.method} ${request.url} ${body}`);
          response.end();
        });
      });
      const { port } = await startFront(behind.origin);
      const head = `${method} /outer HTTP/1.1\r\nHost: a\r\n`;
      const end = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
      await exchangeRaw(port, `${head}Transfer-Encoding: chunked\r\n\r\n${CHUNKED}${end}`);
      await exchangeRaw(port, `${head}Content-Length: ${INNER.length}\r\n\r\n${INNER}${end}`);
      const expected = [`${method} /outer ${INNER}`, 'GET /last '];
      expect(seen.toSorted()).toEqual([...expected, ...expected].toSorted());
    },
  );

  test.for([
    'Content-Length: 4\r\nTransfer-Encoding: chunked',
    'Content-Length: 4\r\nContent-Length: 5',
    'Transfer-Encoding: chunked, identity',
    'Content-Length: +4',
  ])('is refused when its length is told in two ways or in none: %s', async (lines) => {
    let count = 0;
    const behind = await startBehind((_request, response) => {
      count += 1;
      response.end();
    });
    const { port } = await startFront(behind.origin);
    const answer = await exchangeRaw(
      port,
      `POST / HTTP/1.1\r\nHost: a\r\n${lines}\r\n\r\n0\r\n\r\n`,
    );
    expect(answer).toContain('HTTP/1.1 400 ');
    expect(count).toBe(0);
  });
});
