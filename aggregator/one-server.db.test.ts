import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, vi } from 'vitest';
import { createClickHouse, type ClickHouse } from '../clickhouse/client.js';
import { startEmbeddedClickHouse } from '../clickhouse/embedded.js';
import { migrateClickHouse } from '../clickhouse/migrate.js';
import { createOneServer } from '../clickhouse/one-server.js';
import type { ServerFacts } from '../clickhouse/server-facts.js';
import { factsWith, startFakeClickHouse } from '../load-tests/harness/fake-clickhouse.js';
import { startForward, type Forward } from '../load-tests/harness/forward.js';
import { createLog } from '../runtime/log.js';
import { createMetrics } from '../runtime/metrics.js';
import { Aggregator } from './aggregator.js';
import {
  eventOf,
  send,
  test as base,
  totals,
  WAIT,
  type World,
} from './testing/aggregator-world.js';

type TwoServers = {
  readonly clients: readonly [ClickHouse, ClickHouse];
  readonly forward: Forward;
  /** Stands at one address for the servers that it is told to lead to. */
  readonly client: ClickHouse;
  /** Leads every new connection to the next of these servers. */
  readonly leadTo: (servers: readonly (0 | 1)[]) => void;
};

const PASSWORD = 'ab'.repeat(24);

/** `test` with two migrated servers that a client cannot tell apart by address or login. */
const test = base.extend<{ readonly servers: TwoServers }>({
  servers: async ({ directory }, use) => {
    const start = async (name: string) => {
      const folder = join(directory, name);
      await mkdir(folder);
      await writeFile(join(folder, 'password'), PASSWORD);
      const server = await startEmbeddedClickHouse({ directory: folder, port: 0 });
      await migrateClickHouse(server.url, null);
      return server;
    };
    const engines = [await start('one'), await start('other')] as const;
    let targets: readonly (0 | 1)[] = [0];
    let connections = 0;
    const forward = await startForward(() => {
      const target = targets[connections % targets.length] ?? 0;
      connections += 1;
      return Number(new URL(engines[target].url).port);
    });
    const clients = [createClickHouse(engines[0].url), createClickHouse(engines[1].url)] as const;
    const client = createClickHouse(forward.address(engines[0].url));
    await use({
      clients,
      forward,
      client,
      leadTo: (servers) => {
        targets = servers;
        forward.cut();
      },
    });
    await Promise.all([client.close(), ...clients.map((each) => each.close())]);
    await forward.close();
    await Promise.all(engines.map((engine) => engine.stop()));
  },
});

function aggregatorOn({ database, reader }: World, clickhouse: ClickHouse): Aggregator {
  return new Aggregator({
    database,
    clickhouse,
    log: reader,
    metrics: createMetrics(),
    logger: createLog('test', 'silent'),
    limits: { eventsMax: 40, flushDelayMs: 20 },
    retryDelayMs: () => 50,
  });
}

const eventsOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => eventOf(`e${from + index}`));

describe('an aggregator behind a balancer', () => {
  test('is refused at its start, and the balancer is named', async ({ world, servers }) => {
    servers.leadTo([0, 1]);
    const starting = aggregatorOn(world, servers.client).start();
    await expect(starting).rejects.toMatchObject({
      isRetryable: false,
      message: expect.stringContaining('several servers'),
    });
  });

  test('writes nothing on the other server when it is led there later, and goes on when led back', async ({
    world,
    servers,
  }) => {
    const [first, other] = servers.clients;
    const aggregator = aggregatorOn(world, servers.client);
    await aggregator.start();
    await send(world.writer, eventsOf(0, 20));
    await vi.waitFor(async () => expect((await totals(first)).events).toBe(20), WAIT);
    for (const led of [[1], [0, 1], [1, 0, 1]] as const) {
      servers.leadTo(led);
      await send(world.writer, eventsOf(20 * (1 + led.length), 20));
      await delay(1_500);
      expect(await totals(other)).toEqual({ events: 0, ids: 0, usage: 0, duplicates: 0 });
      servers.leadTo([0]);
    }
    await vi.waitFor(async () => expect((await totals(first)).events).toBe(80), WAIT);
    // Every event a second time: all of them must be found.
    servers.leadTo([0, 1]);
    await send(world.writer, eventsOf(0, 20));
    await delay(1_000);
    servers.leadTo([0]);
    await vi.waitFor(async () => expect((await totals(first)).duplicates).toBe(20), WAIT);
    expect(await totals(first)).toMatchObject({ events: 80, ids: 80 });
    expect(await totals(other)).toEqual({ events: 0, ids: 0, usage: 0, duplicates: 0 });
    expect(aggregator.halted.size).toBe(0);
    await aggregator.close();
  });

  test('does not start on another server than before', async ({ world, servers }) => {
    await createOneServer(world.database, servers.clients[0]).check();
    const starting = aggregatorOn(world, servers.clients[1]).start();
    await expect(starting).rejects.toMatchObject({
      isRetryable: false,
      message: expect.stringContaining('minutebook clickhouse accept'),
    });
  });
});

describe('an aggregator on a server that it cannot use', () => {
  test.for<[Partial<ServerFacts>, string]>([
    [{ version: '25.3.1.1' }, 'ClickHouse 25.3.1.1 is too old'],
    [{ database_engine: 'Shared' }, 'the engine Shared'],
    [{ other_engines: ['events_v1 (SharedMergeTree)'] }, 'events_v1 (SharedMergeTree)'],
  ])('does not start: %o', async ([facts, message], { world }) => {
    const server = await startFakeClickHouse(factsWith(facts));
    const client = createClickHouse(server.url);
    const starting = aggregatorOn(world, client).start();
    await expect(starting).rejects.toMatchObject({
      isRetryable: false,
      message: expect.stringContaining(message),
    });
    await client.close();
    await server.close();
  });

  test('sends only settings that the server knows', async () => {
    const server = await startFakeClickHouse(factsWith({ known_settings: ['max_threads'] }));
    const client = createClickHouse(server.url);
    const insert = { query: 'INSERT INTO t FORMAT JSONCompactEachRow', body: '[1]', queryId: 'q' };
    await expect(client.insertText(insert)).rejects.toMatchObject({ isRetryable: false });
    const sent = server.asked.at(-1) ?? '';
    expect(sent).toContain('max_threads=1');
    expect(sent).not.toContain('use_strict_insert_block_limits');
    await client.close();
    await server.close();
  });
});
