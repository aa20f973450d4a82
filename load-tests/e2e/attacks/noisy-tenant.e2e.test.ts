import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Stack } from '../../../cli/stack/stack.js';
import { createClickHouse } from '../../../clickhouse/client.js';
import { withSession } from '../../../sql/session.js';
import { makeKey } from '../../harness/make-key.js';
import { closeOwner } from '../../harness/owner.js';
import { withTestStack } from '../../harness/test-stack.js';
import { longestMs, ROUNDS } from './usual-times.js';

const HEAVY_EVENTS = 3_000_000;
const HEAVY_QUERIES = 20;

type Send = (path: string, body: unknown, signal?: AbortSignal) => Promise<Response>;

const senderOf =
  (stack: Stack, apiKey: string): Send =>
  (path, body, signal) =>
    fetch(`${stack.url}/v1${path}`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });

/** Many events of the first tenant's customer, as if they had been counted long ago. */
async function storeHeavyEvents(stack: Stack): Promise<void> {
  const [first] = await withSession(stack.ownerDatabaseUrl, async (session) => {
    const found = await session.query<{ tenant_id: string; id: string }>(
      `SELECT tenant_id, id FROM environments WHERE id <> 'env_b'`,
    );
    return found.rows;
  });
  const clickhouse = createClickHouse(stack.clickhouseUrl);
  await clickhouse.command(
    `INSERT INTO events_v1 (tenant_id, environment_id, event_name, customer_key, timestamp, event_id,
       properties, received_at, is_timestamp_given, log_id, log_partition, log_offset, record_index, appended_at)
     SELECT {tenant:String}, {environment:String}, 'call', 'e:heavy', toDateTime64('2026-01-01', 3, 'UTC') + number,
       toString(number), map('bytes', toString(number % 100)), now64(3), true, 'old', 0, number, 0,
       toDateTime64('2026-01-01', 3, 'UTC')
     FROM numbers({events:UInt64})`,
    { tenant: first?.tenant_id ?? '', environment: first?.id ?? '', events: HEAVY_EVENTS },
  );
  await clickhouse.close();
}

const HEAVY_QUESTION = {
  event_name: 'call',
  aggregation_type: 'SUM',
  property_name: 'bytes',
  external_customer_id: 'heavy',
  start_time: '2026-01-01T00:00:00Z',
  end_time: '2026-12-31T00:00:00Z',
};

/** The median of many questions of the quiet tenant, asked one after the other. */
async function usualMs(send: Send, meterId: string): Promise<number> {
  const times = [];
  for (let index = 0; index < ROUNDS; index += 1) {
    const startedAt = performance.now();
    const answer = await send('/events/usage/meter', { meter_id: meterId });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}

const runningRow = z.object({ running: z.coerce.number() });

async function runningQueries(stack: Stack): Promise<number> {
  const clickhouse = createClickHouse(stack.clickhouseUrl);
  try {
    const [found] = await clickhouse.query(
      `SELECT count() AS running FROM system.processes WHERE user = 'minutebook_reader'`,
      {},
      runningRow,
    );
    return found?.running ?? 0;
  } finally {
    await clickhouse.close();
  }
}

describe('twenty heavy queries of one tenant at once', () => {
  test('leave another tenant its usage within twice the usual time, and end when their clients leave', async () => {
    await withTestStack({}, async (stack) => {
      const environment = { tenantId: 'tenant_b', environmentId: 'env_b' };
      const owner = { url: stack.ownerDatabaseUrl };
      const { apiKey: quietKey } = await makeKey(owner, { environment });
      await closeOwner(owner.url);
      const heavy = senderOf(stack, stack.apiKey);
      const quiet = senderOf(stack, quietKey);
      await storeHeavyEvents(stack);
      await heavy('/customers', { external_id: 'heavy' });
      const meter = await quiet('/meters', {
        name: 'Calls',
        event_name: 'call',
        aggregation: { type: 'COUNT' },
      });
      const { id: meterId } = (await meter.json()) as { readonly id: string };
      const startedAt = performance.now();
      const alone = await heavy('/events/usage', HEAVY_QUESTION);
      const aloneMs = performance.now() - startedAt;
      expect([alone.status, ((await alone.json()) as { value: string }).value]).toEqual([
        200,
        String((HEAVY_EVENTS / 100) * 4950),
      ]);
      await usualMs(quiet, meterId);
      const before = await usualMs(quiet, meterId);

      const leaving = new AbortController();
      const statuses: number[] = [];
      const askOn = async (): Promise<void> => {
        while (!leaving.signal.aborted) {
          const answer = await heavy('/events/usage', HEAVY_QUESTION, leaving.signal);
          statuses.push(answer.status);
          await answer.arrayBuffer();
        }
      };
      const asking = Promise.allSettled(Array.from({ length: HEAVY_QUERIES }, askOn));
      await delay(300);
      expect(await runningQueries(stack)).toBeGreaterThan(0);
      const meanwhile = await usualMs(quiet, meterId);
      leaving.abort();
      await asking;
      // Refused for want of a turn at most, never failed.
      expect(statuses.filter((status) => ![200, 429, 503].includes(status))).toEqual([]);
      await delay(2_000);
      expect(await runningQueries(stack)).toBe(0);
      // Other work of the machine may have begun or ended meanwhile.
      const usual = Math.max(before, await usualMs(quiet, meterId));
      const facts = { aloneMs, before, usual, meanwhile, answers: statuses.length };
      process.stdout.write(`${JSON.stringify(facts)}\n`);
      expect(meanwhile).toBeLessThanOrEqual(longestMs(usual));
    });
  });
});
