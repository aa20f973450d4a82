import { describe, expect, vi } from 'vitest';
import {
  createMeter,
  eventOf,
  readUsage,
  send,
  test,
  totals,
  WAIT,
} from '../../aggregator/testing/aggregator-world.js';
import { createOneServer } from '../../clickhouse/one-server.js';
import { runVerb } from '../../load-tests/harness/run-verb.js';
import { withSession } from '../../sql/session.js';

/** Makes PostgreSQL remember another server than that of the world, as after a move. */
const remember = (url: string, identity: string): Promise<unknown> =>
  withSession(url, (session) =>
    session.query('UPDATE clickhouse_identity SET identity = $1', [identity]),
  );

describe('minutebook clickhouse accept', () => {
  test('lets aggregators count on in the ClickHouse to which all rows were moved', async ({
    world,
    database: { url },
    clickhouse,
  }) => {
    const servers = { DATABASE_URL: url, CLICKHOUSE_URL: clickhouse.url };
    await createMeter(world.database, '[]');
    const first = await world.startAggregator();
    await send(world.writer, [eventOf('a')]);
    await vi.waitFor(async () => expect(await readUsage(world)).toBe(1), WAIT);
    const early = await runVerb(servers, 'clickhouse', 'accept');
    expect(early.status).toBe(1);
    expect(early.said).toMatch(/^1 of the aggregators still run: stop every aggregator/);
    await first.close();

    await remember(url, 'former/server');
    await expect(world.startAggregator()).rejects.toThrow('minutebook clickhouse accept');
    const done = await runVerb(servers, 'clickhouse', 'accept');
    expect(done.said).toMatch(/^What is counted is in ClickHouse \S+ from now on/);
    await createOneServer(world.database, clickhouse.client).check();
    await world.startAggregator();
    await send(world.writer, [eventOf('a'), eventOf('b')]);
    await vi.waitFor(async () => expect(await readUsage(world)).toBe(2), WAIT);
    await vi.waitFor(
      async () => expect((await totals(clickhouse.client)).duplicates).toBe(1),
      WAIT,
    );
  });
});
