import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { ApiClient } from '../../cli/look/api-client.js';
import { runDemo } from '../../cli/demo/demo-verb.js';
import type { Stack } from '../../cli/stack/stack.js';
import { projectRoot } from '../../runtime/project.js';
import { inTestDirectory } from '../harness/test-directory.js';
import { startStackIn } from '../harness/test-stack.js';

const DEMO_LOG = join(projectRoot, 'cli/demo/data/apache-access.log.gz');

type MeterAnswer = {
  readonly id: string;
  readonly backfill: {
    readonly status: string;
    readonly events_scanned: number;
    readonly events_matched: number;
  };
};

/** A meter created after the events counts none of them at first, then all, and never some. */
async function expectLateMeterToCount(stack: Stack): Promise<void> {
  const api = new ApiClient(`${stack.url}/v1`, stack.apiKey);
  const { id, backfill } = await api.post<MeterAnswer>('/meters', {
    name: 'Late',
    event_name: 'http_request',
    aggregation: { type: 'COUNT' },
    filters: [{ key: 'method', values: ['GET'] }],
  });
  expect(backfill.status).toBe('running');
  const values = new Set<string>();
  const body = {
    meter_id: id,
    start_time: '2015-01-01T00:00:00Z',
    end_time: '2016-01-01T00:00:00Z',
  };
  await vi.waitFor(
    async () => {
      const { value } = await api.post<{ readonly value: string }>('/events/usage/meter', body);
      values.add(value);
      expect((await api.get<MeterAnswer>(`/meters/${id}`)).backfill).toMatchObject({
        status: 'completed',
        events_scanned: 10_000,
        events_matched: 9_952,
      });
    },
    { timeout: 30_000, interval: 20 },
  );
  const { value } = await api.post<{ readonly value: string }>('/events/usage/meter', body);
  expect(value).toBe('9952');
  // The first poll may come after the switch: 0 and the full count are both right.
  expect([...values].filter((seen) => seen !== '0' && seen !== '9952')).toEqual([]);
}

/** What was decoded is what is stored: the demo sends 10 000 requests, every third twice. */
async function expectBooksToBalance(stack: Stack): Promise<void> {
  const api = new ApiClient(`${stack.url}/v1`, stack.apiKey);
  const { totals } = await api.get<{ readonly totals: object }>('/events/reconciliation');
  const sent = { accepted: 13_333, duplicate: 3_333, conflict: 0, pending: 0 };
  expect(totals).toMatchObject({ ...sent, difference: 0 });
}

describe('the demo', () => {
  test('agrees with awk about every customer, and a meter made after it counts the same', async () => {
    await inTestDirectory(async (directory) => {
      const stack = await startStackIn(directory);
      try {
        expect(await runDemo(stack, DEMO_LOG)).toBe(true);
        await expectLateMeterToCount(stack);
        await expectBooksToBalance(stack);
      } finally {
        await stack.lifecycle.close();
      }
    });
  });
});
