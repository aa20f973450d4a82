import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { withTestStack } from '../harness/test-stack.js';

const CONNECTIONS = 40;
const REQUESTS = 40;
const MIB = 1024 * 1024;
/** Most was 43 MiB; without a bound it was 266 MiB at once, and 1,400 MiB after a while. */
const GROWTH_BYTES_MAX = 150 * MIB;

/** The memory that a process holds, in bytes. */
function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

/** Sends many requests at once and reads nothing. */
async function pipeline(url: string, path: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(REQUESTS));
  return socket;
}

type Tenant = { readonly url: string; readonly token: string };

async function signUp(url: string): Promise<Tenant> {
  const body = JSON.stringify({
    email: 'other@example.com',
    password: 'correct horse battery staple',
    tenant_name: 'Other',
  });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/auth/signup`, { method: 'POST', headers, body });
  expect(answer.status).toBe(201);
  const { token } = (await answer.json()) as { readonly token: string };
  return { url, token };
}

async function statusesOf({ url, token }: Tenant, requests: number): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let count = 0; count < requests; count += 1) {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${url}/v1/users/me`, { headers });
    await answer.arrayBuffer();
    statuses.push(answer.status);
  }
  return statuses;
}

// /proc tells the memory of another process, and is there on Linux only.
test.skipIf(process.platform !== 'linux')(
  'forty connections that send forty requests each without a key and read nothing cost little memory, and another tenant is served meanwhile',
  async () => {
    await withTestStack({}, async (stack) => {
      const other = await signUp(stack.url);
      const pids = [stack.billingApi.pid() ?? 0, process.pid];
      for (const path of ['/openapi.json', '/metrics', '/docs/try/swagger-ui-bundle.js']) {
        await (await fetch(`${stack.url}${path}`)).arrayBuffer();
        const before = pids.map(residentBytes);
        const sockets = await Promise.all(
          Array.from({ length: CONNECTIONS }, () => pipeline(stack.url, path)),
        );
        expect(await statusesOf(other, 50)).toEqual(Array<number>(50).fill(200));
        const growth = pids.map((pid, index) => residentBytes(pid) - (before[index] ?? 0));
        for (const bytes of growth) expect(bytes).toBeLessThan(GROWTH_BYTES_MAX);
        for (const socket of sockets) socket.destroy();
      }
    });
  },
);
