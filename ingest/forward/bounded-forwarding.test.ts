import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { ask, startBehind, startFront } from '../testing/forwarding-server.js';

const WAIT = { timeout: 10_000, interval: 10 };
const UNAVAILABLE = { code: 'service_unavailable', http_status_code: 503 };

describe('requests under way at billing-api are bounded', () => {
  const FEW = { runningMax: 3, runningPerKeyMax: 2, waitingPerKeyMax: 2, waitMsMax: 300 };

  async function startFull() {
    const held: ServerResponse[] = [];
    const behind = await startBehind((_request, response) => held.push(response));
    const { port } = await startFront(behind.origin, { proxyCount: 1, limits: FEW });
    const from = (address: string, path: `/${string}` = '/') =>
      ask(port, `GET ${path}`, { headers: { 'x-forwarded-for': address } });
    const full = [from('1.1.1.1'), from('1.1.1.1')];
    await vi.waitFor(() => expect(held).toHaveLength(2), WAIT);
    return { behind, port, held, from, full };
  }

  test('and one that waited too long for its turn is answered 503', async () => {
    const { behind, held, from, full } = await startFull();
    const late = await from('1.1.1.1');
    expect(late.status).toBe(503);
    expect(JSON.parse(late.body)).toMatchObject({
      ...UNAVAILABLE,
      message: 'the request waited too long for its turn: retry in a second',
    });
    expect(late.headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' });
    expect([held.length, behind.sockets.size]).toEqual([2, 2]);
    for (const response of held) response.end();
    expect((await Promise.all(full)).map(({ status }) => status)).toEqual([200, 200]);
  });

  test('and one more than may wait is answered 503 at once', async () => {
    const { held, from, full } = await startFull();
    const others = Array.from({ length: 3 }, () => from('1.1.1.1'));
    const refused = await Promise.race(others);
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.body)).toMatchObject({
      ...UNAVAILABLE,
      message: 'too many requests of this address wait already: retry in a second',
    });
    for (const response of held) response.end();
    await vi.waitFor(() => expect(held).toHaveLength(4), WAIT);
    for (const response of held) response.end();
    const statuses = (await Promise.all([...full, ...others])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 200, 200, 200, 503]);
  });

  test('for each address, so that the requests of another one are served meanwhile', async () => {
    const { held, from, full } = await startFull();
    const other = from('2.2.2.2');
    await vi.waitFor(() => expect(held).toHaveLength(3), WAIT);
    held[2]?.end('other');
    expect((await other).body).toBe('other');
    for (const response of held) response.end();
    await Promise.all(full);
  });

  test('and one that fails gives its place to the next one', async () => {
    const { held, from, full } = await startFull();
    const next = from('1.1.1.1');
    held[0]?.socket?.destroy();
    expect((await full[0])?.status).toBe(503);
    await vi.waitFor(() => expect(held).toHaveLength(3), WAIT);
    for (const response of held) response.end();
    expect((await next).status).toBe(200);
  });

  test('and one whose client leaves before its turn is never sent on', async () => {
    const { held, port, from, full } = await startFull();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /left HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1\r\n\r\n');
    await delay(50);
    socket.destroy();
    await delay(50);
    for (const response of held) response.end();
    await Promise.all(full);
    const after = from('1.1.1.1', '/after');
    await vi.waitFor(() => expect(held).toHaveLength(3), WAIT);
    expect(held[2]?.req.url).toBe('/after');
    held[2]?.end();
    await after;
  });
});
