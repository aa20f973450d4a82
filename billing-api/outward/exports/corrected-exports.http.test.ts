import { describe, expect } from 'vitest';
import { test } from '../../testing/billed-test.js';
import { correct, revert } from '../../testing/correct-events.js';
import { makeExportWorld } from '../../testing/export-world.js';
import { startObjectStore } from '../../testing/object-store.js';
import { makePricedPlan } from '../../testing/priced-plan.js';

const DAILY = { interval: 'daily' };
const FIRST_DAY = { start_time: '2026-03-01T00:00:00Z', end_time: '2026-03-02T00:00:00Z' };

describe('files of exported usage', () => {
  test('keep events as they were sent, and have usage as it counts when they are written', async ({
    api,
    database,
    clickhouse,
  }) => {
    const store = await startObjectStore();
    const start = { url: store.url, now: '2026-03-01T00:00:00.000Z' };
    const world = await makeExportWorld(api, { database, clickhouse }, start);
    const terms = {
      meter: { type: 'SUM', field: 'n' },
      price: { billing_model: 'FLAT_FEE', amount: '0.5' },
    } as const;
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    await plan.subscribe({ start_date: '2026-03-01T00:00:00Z' });
    const usage = await world.schedule('usage_analytics', DAILY);
    const events = await world.schedule('events', DAILY);
    const file = (kind: string, day: string): string =>
      [...store.objects]
        .filter(([key]) => key.includes(`${kind}-${day}`) && key.endsWith('.csv'))
        .map(([, { body }]) => body.toString())
        .join();
    const usageOf = (day: string) =>
      file('usage_analytics', day)
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.split(',').slice(8, 13));
    const again = async (now: string): Promise<void> => {
      for (const { id } of [usage, events])
        await api.make(`/v1/tasks/scheduled/${id}/run`, FIRST_DAY);
      await world.work(now);
    };
    const sent = (id: string, day: string, n: string) => ({
      id,
      at: `2026-03-${day}T12:00:00.000Z`,
      properties: { n },
    });
    await plan.count([sent('a', '01', '10'), sent('b', '01', '4')]);
    await world.work('2026-03-02T00:20:00.000Z');
    const whole = [['call', '2', 'SUM', '14', '7.00']];
    expect(usageOf('260301')).toEqual(whole);
    const asSent = file('events', '260301');
    const correcting = { api, database: database.database, clickHouse: clickhouse.client };
    const { id } = await correct(correcting, { type: 'withdraw', events: [{ event_id: 'a' }] });
    // The file that was written stays, and the next day tells nothing of it.
    await plan.count([sent('c', '02', '2')]);
    await world.work('2026-03-03T00:20:00.000Z');
    expect(usageOf('260301')).toEqual(whole);
    expect(usageOf('260302')).toEqual([['call', '1', 'SUM', '2', '1.00']]);
    await again('2026-03-03T01:00:00.000Z');
    expect(usageOf('260301')).toEqual([['call', '1', 'SUM', '4', '2.00']]);
    expect(file('events', '260301')).toBe(asSent);
    await revert(correcting, id);
    await again('2026-03-03T02:00:00.000Z');
    expect(usageOf('260301')).toEqual(whole);
    await store.close();
  });
});
