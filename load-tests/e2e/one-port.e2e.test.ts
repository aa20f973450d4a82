import { describe, expect, test, vi } from 'vitest';
import type { Stack } from '../../cli/stack/stack.js';
import { test as testOnEngines } from '../harness/fixtures.js';
import { makeKey } from '../harness/make-key.js';
import { startProgram, waitUntilReady } from '../harness/start-program.js';
import { withTestStack } from '../harness/test-stack.js';

const WAIT = { timeout: 30_000, interval: 50 };
const EVENTS = 200;

type Caller = Pick<Stack, 'url' | 'apiKey'>;
type Answer = { readonly status: number; readonly headers: Headers; readonly body: string };

async function ask({ url, apiKey }: Caller, path: string, body?: object): Promise<Answer> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const answer = await fetch(`${url}${path}`, { headers, ...sent });
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}

/** The statuses of events that are sent one after the other. */
async function sendEvents(caller: Caller, name: string): Promise<ReadonlySet<number>> {
  const statuses = new Set<number>();
  for (let index = 0; index < EVENTS; index += 1) {
    const event = {
      event_name: 'call',
      external_customer_id: 'acme',
      event_id: `${name} ${index}`,
    };
    statuses.add((await ask(caller, '/v1/events', event)).status);
  }
  return statuses;
}

/** The status that a wrong key gets when this is said of its client's address. */
async function statusOfWrongKey({ url }: Pick<Caller, 'url'>, address: string): Promise<number> {
  const headers = { 'x-forwarded-for': address, 'x-api-key': 'wrong' };
  return (await fetch(`${url}/v1/meters`, { headers })).status;
}

/** Many requests at once, so that they fall into one second. */
async function statusesOf(ask: (index: number) => Promise<number>): Promise<ReadonlySet<number>> {
  return new Set(await Promise.all(Array.from({ length: 50 }, (_, index) => ask(index))));
}

async function dependenciesOf(caller: Caller): Promise<unknown> {
  const { status, body } = await ask(caller, '/readyz');
  return { status, ...(JSON.parse(body) as { readonly dependencies: object }).dependencies };
}

function pidOf(stack: Stack): number {
  const pid = stack.billingApi.pid();
  if (pid === null) throw new Error('billing-api does not run');
  return pid;
}

const ALL_UP = {
  status: 200,
  postgres: 'up',
  schema: 'up',
  clickhouse: 'up',
  event_log: 'up',
  log_in_use: 'up',
  billing_api: 'up',
};

describe('the whole product on one port', () => {
  test('accepts events while billing-api does nothing or is killed, and the API recovers', async () => {
    await withTestStack({ MINUTEBOOK_FAILED_AUTH_RATE: '3' }, async (stack) => {
      expect(await dependenciesOf(stack)).toEqual(ALL_UP);

      // Stopped, it is what a computation without an end would be: connected, and silent.
      const stopped = pidOf(stack);
      process.kill(stopped, 'SIGSTOP');
      let isAnswered = false;
      const asked = ask(stack, '/v1/meters').finally(() => (isAnswered = true));
      try {
        expect(await sendEvents(stack, 'stopped')).toEqual(new Set([202]));
        expect(isAnswered).toBe(false);
      } finally {
        process.kill(stopped, 'SIGCONT');
      }
      expect((await asked).status).toBe(200);

      process.kill(pidOf(stack), 'SIGKILL');
      await vi.waitFor(async () => {
        const refused = await ask(stack, '/v1/meters');
        expect(refused.status).toBe(503);
        expect(refused.headers.get('retry-after')).toBe('1');
        expect(JSON.parse(refused.body)).toMatchObject({ code: 'service_unavailable' });
      }, WAIT);
      expect(await sendEvents(stack, 'killed')).toEqual(new Set([202]));
      await vi.waitFor(async () => expect(await dependenciesOf(stack)).toEqual(ALL_UP), WAIT);
      expect((await ask(stack, '/v1/meters')).status).toBe(200);

      const { body: metrics } = await ask(stack, '/metrics');
      const series = metrics.split('\n').filter((line) => /^\w/.test(line));
      const names = series.map((line) => line.slice(0, line.lastIndexOf(' ')));
      expect(new Set(names).size).toBe(names.length);
      const accepted = `minutebook_events_accepted_total{program="ingest"} ${2 * EVENTS}`;
      expect(series).toContain(accepted);
      for (const program of ['ingest', 'billing-api']) {
        expect(names).toContain(`process_resident_memory_bytes{program="${program}"}`);
      }

      const invented = (index: number) => statusOfWrongKey(stack, `9.9.9.${index}`);
      expect(await statusesOf(invented)).toEqual(new Set([401, 429]));
    });
  });
});

testOnEngines(
  'ingest and billing-api as separate programs are reached at one base URL',
  async ({ database, clickhouse }) => {
    const engines = { DATABASE_URL: database.url, CLICKHOUSE_URL: clickhouse.url };
    const quiet = { MINUTEBOOK_LOG_LEVEL: 'fatal' };
    const behind = await startProgram('billing-api', {
      ...engines,
      ...quiet,
      MINUTEBOOK_PROXY_COUNT: '1',
      MINUTEBOOK_FAILED_AUTH_RATE: '3',
    });
    const front = await startProgram('ingest', {
      ...engines,
      ...quiet,
      MINUTEBOOK_BILLING_API_URL: behind.url,
      MINUTEBOOK_PROXY_COUNT: '1',
    });
    try {
      await Promise.all([waitUntilReady(behind.url), waitUntilReady(front.url)]);
      const { apiKey } = await makeKey(database.database, {});
      const caller = { url: front.url, apiKey };
      expect(await sendEvents(caller, 'apart')).toEqual(new Set([202]));
      expect((await ask(caller, '/v1/meters')).status).toBe(200);
      expect((await ask(caller, '/openapi.json')).status).toBe(200);

      // The proxy in front of ingest has added the last address; what stands before it is invented.
      const ofOne = (index: number) => statusOfWrongKey(front, `9.9.9.${index}, 1.1.1.1`);
      expect(await statusesOf(ofOne)).toEqual(new Set([401, 429]));
      expect(await statusOfWrongKey(front, '1.1.1.1, 2.2.2.2')).toBe(401);

      await behind.stop();
      expect((await ask(caller, '/v1/meters')).status).toBe(503);
      expect(await sendEvents(caller, 'alone')).toEqual(new Set([202]));
      // Events do not need billing-api: a load balancer must go on sending them here.
      const ours = { postgres: 'up', schema: 'up', event_log: 'up', log_in_use: 'up' };
      const known = { ...ours, billing_api: 'down' };
      expect(await dependenciesOf(caller)).toEqual({ status: 200, ...known });
    } finally {
      await Promise.all([front.stop(), behind.stop()]);
    }
  },
);
