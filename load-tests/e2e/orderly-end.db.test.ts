import { once } from 'node:events';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { test } from '../harness/fixtures.js';
import { makeKey } from '../harness/make-key.js';
import { startProgram, waitUntilReady, type StartedProgram } from '../harness/start-program.js';

const STOP_DELAY_MS = 3_000;
/** Before the end of the delay, by when whoever asks /readyz sends nothing any more. */
const SENDING_MS = 2_000;

type Caller = { readonly url: string; readonly apiKey: string };

const EVENT = { event_name: 'call', external_customer_id: 'acme' };

/** One request after the other on connections that are kept where the program allows it. */
async function statusesWhile(isSending: () => boolean, { url, apiKey }: Caller, path: string) {
  const statuses = new Map<number | string, number>();
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const body = path === '/v1/events' ? JSON.stringify(EVENT) : '{}';
  while (isSending()) {
    const status = await fetch(`${url}${path}`, { method: 'POST', headers, body }).then(
      async (answer) => answer.arrayBuffer().then(() => answer.status),
      (error: unknown) => String(error),
    );
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  return [...statuses.keys()];
}

/** A request whose body is still to come. */
function beginRequest({ url, apiKey }: Caller, path: string) {
  const body = JSON.stringify(path === '/v1/events' ? EVENT : { limit: 1 });
  const started = request(`${url}${path}`, {
    method: 'POST',
    headers: {
      'x-api-key': apiKey,
      'content-type': 'application/json',
      'content-length': body.length,
    },
  });
  started.write(body.slice(0, 5));
  return { started, finish: () => started.end(body.slice(5)) };
}

const readiness = async ({ operationsUrl }: StartedProgram) => {
  const answer = await fetch(`${operationsUrl}/readyz`);
  return { status: answer.status, body: await answer.json() };
};

const hasClosed = (url: string) =>
  fetch(`${url}/livez`).then(
    () => false,
    () => true,
  );

test.for([
  ['ingest', '/v1/events', 202],
  ['billing-api', '/v1/customers/search', 200],
] as const)(
  '%s goes on serving for a while after SIGTERM, when /readyz says 503 already; nothing is refused or cut',
  async ([name, path, success], { database, clickhouse }) => {
    const program = await startProgram(name, {
      DATABASE_URL: database.url,
      CLICKHOUSE_URL: clickhouse.url,
      MINUTEBOOK_LOG_LEVEL: 'error',
      MINUTEBOOK_STOP_DELAY_MS: String(STOP_DELAY_MS),
    });
    try {
      await waitUntilReady(program.url);
      const { apiKey } = await makeKey(database.database, {});
      const caller = { url: program.url, apiKey };
      let isSending = true;
      const senders = [1, 2, 3].map(() => statusesWhile(() => isSending, caller, path));
      await delay(300);
      const exited = once(program.child, 'exit');
      program.child.kill('SIGTERM');
      const stoppedAt = performance.now();
      await vi.waitFor(async () =>
        expect(await readiness(program)).toMatchObject({
          status: 503,
          body: { status: 'stopping' },
        }),
      );
      // At the port of clients too, where each answer ends its connection.
      const ready = await fetch(`${program.url}/readyz`);
      expect([ready.status, ready.headers.get('connection')]).toEqual([503, 'close']);
      const { started, finish } = beginRequest(caller, path);
      await delay(SENDING_MS - (performance.now() - stoppedAt));
      isSending = false;
      expect((await Promise.all(senders)).flat()).toEqual([success, success, success]);
      await vi.waitFor(async () => expect(await hasClosed(caller.url)).toBe(true), 20_000);
      expect(performance.now() - stoppedAt).toBeGreaterThan(STOP_DELAY_MS);
      finish();
      const [answer] = await once(started, 'response');
      await json(answer);
      expect(answer.statusCode).toBe(success);
      expect(await exited).toEqual([0, null]);
    } finally {
      await program.stop();
    }
  },
);

test('Ctrl-C ends a program without that while', async ({ database }) => {
  const program = await startProgram('ingest', {
    DATABASE_URL: database.url,
    MINUTEBOOK_STOP_DELAY_MS: '600000',
  });
  await waitUntilReady(program.url);
  program.child.kill('SIGINT');
  expect(await once(program.child, 'exit')).toEqual([0, null]);
});
