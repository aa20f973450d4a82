import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, vi } from 'vitest';
import { test } from '../../load-tests/harness/fixtures.js';
import { makeKey } from '../testing/billing-test.js';
import { withBillingApi } from '../testing/billing-harness.js';
import { sendEvents } from '../testing/log-rows.js';

const PATH =
  '/v1/events/reconciliation?start_time=2026-10-01T10:00:00Z&end_time=2026-10-01T12:00:00Z';

describe('reading what is not counted yet', () => {
  test('refuses what one environment asks too often, and lets another have its turn', async ({
    database,
    clickhouse,
  }) => {
    const held: (() => void)[] = [];
    const beforeLogRead = (): Promise<void> => new Promise((resolve) => held.push(resolve));
    const engines = { database: database.database, clickhouse: clickhouse.client, beforeLogRead };
    await withBillingApi(engines, async (api) => {
      await sendEvents(api, [
        {
          id: 'e1',
          at: '2026-10-01T10:30:00.000Z',
          name: 'call',
          source: '',
          customer: { externalCustomerId: 'acme' },
          properties: {},
        },
      ]);
      const other = await makeKey(database.database, {});
      const ended: string[] = [];
      const ask = async (name: string, apiKey?: string): Promise<number> => {
        const headers = apiKey === undefined ? {} : { 'x-api-key': apiKey };
        const { status } = await api.call('GET', PATH, { headers });
        ended.push(name);
        return status;
      };
      const first = ask('a');
      await vi.waitFor(() => expect(held).toHaveLength(1), 10_000);
      // Four may wait, whichever of them come first.
      const asked = Array.from({ length: 5 }, () => ask('a'));
      expect(await Promise.race(asked)).toBe(429);
      ended.length = 0;
      const quiet = ask('b', other.apiKey);
      // Until it waits, too.
      await delay(1_000);
      const release = setInterval(() => held.shift()?.(), 50);
      expect(await quiet).toBe(200);
      const statuses = await Promise.all([first, ...asked]);
      expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 200, 429]);
      clearInterval(release);
      // The one that ran, and at most one that waited, came before it.
      expect(ended.indexOf('b')).toBeLessThanOrEqual(2);
    });
  });
});
