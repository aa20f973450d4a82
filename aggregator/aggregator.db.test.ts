import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'slonik';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import type { EventLogReader } from '../event-log/interface/event-log.js';
import { renewPostgresLogId } from '../event-log/postgres/identity.js';
import { openPostgresReader } from '../event-log/postgres/reader.js';
import { openPostgresWriter } from '../event-log/postgres/writer.js';
import { ownerOf } from '../load-tests/harness/owner.js';
import { integerColumn } from '../sql/columns.js';
import { FOLD_VERSION } from './fold/fold-version.js';
import { createCheckpointStore } from './checkpoints/checkpoint-store.js';
import {
  createMeter,
  eventOf,
  eventsOfPartition,
  wrongMarkers,
  readUsage,
  recordOf,
  send,
  test,
  totals,
  WAIT,
} from './testing/aggregator-world.js';

/** Each fails once before and once after its effect, then works. */
const FAILED_STEPS = [
  'take',
  'raise_gate',
  'drain',
  'inspect',
  'warm_filter',
  'fetch',
  'refetch',
  'look_up',
  'check_presence',
  'intend',
  'reread',
  'finish',
  'remember',
  'insert events',
  'insert ids',
  'insert usage',
  'insert duplicates',
];

describe('the aggregator', () => {
  test('counts events of a meter once and duplicates never', async ({ world }) => {
    await createMeter(world.database, '[{"key":"method","values":["GET","HEAD"]}]');
    await world.startAggregator();
    const ids = Array.from({ length: 100 }, (_, index) => `id-${index}`);
    const posts = ids.slice(0, 10).map((id) => eventOf(`post-${id}`, { properties: {} }));
    await send(world.writer, [...ids.map((id) => eventOf(id)), ...posts]);
    await send(
      world.writer,
      ids.slice(0, 30).map((id) => eventOf(id, { timestampMs: 5 })),
    );
    await vi.waitFor(async () => {
      expect(await totals(world.clickhouse)).toEqual({
        events: 110,
        ids: 110,
        usage: 100,
        duplicates: 30,
      });
    }, WAIT);
  });

  test('keeps events that no meter wants, and every byte of what they carry', async ({ world }) => {
    await world.startAggregator();
    const odd = eventOf('"\t\\N\n,é😀', { source: "a'b\\", properties: { 'k\n': '\u0001 "x"' } });
    await send(world.writer, [odd]);
    await vi.waitFor(async () => {
      const rows = await world.clickhouse.query(
        'SELECT event_id, source, properties FROM events_v1',
        {},
        z.object({ event_id: z.string(), source: z.string(), properties: z.record(z.string()) }),
      );
      expect(rows).toEqual([
        { event_id: odd.eventId, source: odd.source, properties: odd.properties },
      ]);
    }, WAIT);
  });

  test('puts a record it cannot read aside with its coordinates and goes on', async ({ world }) => {
    await world.startAggregator();
    await world.writer.append([{ partition: 0, key: 'k', value: 'not json' }]);
    await send(world.writer, [eventOf('a'), eventOf('b')]);
    await vi.waitFor(async () => {
      expect((await totals(world.clickhouse)).events).toBe(2);
      const letters = await world.clickhouse.query(
        'SELECT log_partition, log_offset, reason, payload FROM dead_letters_v1',
        {},
        z.object({ log_partition: z.number(), log_offset: z.string() }).passthrough(),
      );
      expect(letters).toEqual([
        { log_partition: 0, log_offset: '0', reason: 'not_json', payload: 'not json' },
      ]);
    }, WAIT);
  });

  test('counts an event on a meter that was created just before it', async ({ world }) => {
    await world.startAggregator();
    await send(world.writer, [eventOf('warm-up')]);
    await vi.waitFor(async () => {
      expect((await totals(world.clickhouse)).events).toBe(1);
    }, WAIT);
    await createMeter(world.database, '[]');
    // A customer of its own, since the backfill counts the event that was there before.
    await send(world.writer, [eventOf('after', { externalCustomerId: 'newcomer' })]);
    await vi.waitFor(async () => {
      const usage = await world.clickhouse.query(
        `SELECT meter_id, sum(event_count) AS events FROM usage_minute_v1
         WHERE customer_key = 'e:newcomer' GROUP BY meter_id`,
        {},
        z.object({ meter_id: z.string(), events: integerColumn }),
      );
      expect(usage).toEqual([{ meter_id: 'm1', events: 1 }]);
    }, WAIT);
  });

  test('counts exactly when every step fails once before its effect and once after it', async ({
    world,
  }) => {
    await createMeter(world.database, '[]');
    const failures = new Map<string, number>();
    await world.startAggregator((command) => {
      const name = command.kind === 'insert' ? `insert ${command.tables.join(' ')}` : command.kind;
      const times = failures.get(name) ?? 0;
      failures.set(name, times + 1);
      return times === 0 ? 'before' : times === 1 ? 'after' : null;
    });
    for (let round = 0; round < 6; round += 1) {
      const ids = Array.from({ length: 60 }, (_, index) => `id-${round * 40 + index}`);
      await send(
        world.writer,
        ids.map((id) => eventOf(id)),
      );
    }
    await vi.waitFor(async () => {
      const { events, ids, usage, duplicates } = await totals(world.clickhouse);
      expect([events, ids, usage, duplicates]).toEqual([260, 260, 260, 100]);
    }, WAIT);
    expect(await wrongMarkers(world.clickhouse)).toEqual([]);
    const never = FAILED_STEPS.filter((name) => (failures.get(name) ?? 0) < 3);
    expect(never).toEqual([]);
  });

  test('shares partitions between processes that come and go, and still counts once', async ({
    world,
  }) => {
    await createMeter(world.database, '[]');
    const first = await world.startAggregator();
    const sending = (async () => {
      for (let round = 0; round < 40; round += 1) {
        const ids = Array.from({ length: 25 }, (_, index) => `id-${round * 20 + index}`);
        await send(
          world.writer,
          ids.map((id) => eventOf(id)),
        );
        await delay(100);
      }
    })();
    await delay(500);
    await world.startAggregator();
    await delay(1_500);
    await first.close();
    await sending;
    await vi.waitFor(async () => {
      const { events, usage, duplicates } = await totals(world.clickhouse);
      expect([events, usage, duplicates]).toEqual([805, 805, 195]);
    }, WAIT);
    expect(await wrongMarkers(world.clickhouse)).toEqual([]);
  });

  test('applies a meter to the events that came before it, once, while more arrive', async ({
    world,
  }) => {
    await world.startAggregator();
    const get = Array.from({ length: 50 }, (_, index) => eventOf(`get-${index}`));
    const post = get.map(({ eventId }) =>
      eventOf(`post-${eventId}`, { properties: { method: 'POST' } }),
    );
    await send(world.writer, [...get, ...post]);
    const activating = delay(150).then(() =>
      createMeter(world.database, '[{"key":"method","values":["GET"]}]'),
    );
    for (let round = 0; round < 20; round += 1) {
      await send(world.writer, [eventOf(`later-${round}`), eventOf(`get-${round}`)]);
      await delay(30);
    }
    await activating;
    await vi.waitFor(async () => {
      expect(await readUsage(world)).toBe(70);
    }, WAIT);
    await send(world.writer, [eventOf('last'), eventOf('get-1')]);
    await vi.waitFor(async () => {
      expect(await readUsage(world)).toBe(71);
    }, WAIT);
  });

  test('counts no id again after the log was replaced by another', async ({ world, database }) => {
    await createMeter(world.database, '[]');
    const first = await world.startAggregator();
    await send(world.writer, [eventOf('a'), eventOf('b'), eventOf('c'), eventOf('d')]);
    await vi.waitFor(async () => {
      expect((await totals(world.clickhouse)).usage).toBe(4);
    }, WAIT);
    await first.close();
    await renewPostgresLogId(database.url);
    const reader = await openPostgresReader({ url: database.url, retentionMs: 3_600_000 });
    const second = await world.startAggregator(undefined, reader);
    const writer = await openPostgresWriter({ url: database.url, produceTimeoutMs: 5_000 });
    await send(writer, [eventOf('a', { timestampMs: 1 }), eventOf('e')]);
    await vi.waitFor(async () => {
      const { events, usage } = await totals(world.clickhouse);
      expect([events, usage]).toEqual([5, 5]);
    }, WAIT);
    await second.close();
    await Promise.all([reader.close(), writer.close()]);
  });

  test('leaves a batch of an unknown fold to a release that knows it', async ({ world }) => {
    await createMeter(world.database, '[]');
    await send(
      world.writer,
      ['a', 'b', 'a'].map((id) => eventOf(id)),
    );
    const { logId } = world.reader.identity;
    const checkpoints = createCheckpointStore(world.database, { log: logId, memberId: 'gone' });
    await checkpoints.ensure([0, 0]);
    const { partition } = recordOf(eventOf('a'));
    const { epoch } = await checkpoints.read(partition);
    const foldVersion = FOLD_VERSION + 1;
    const intent = { end: 1, catalogVersion: 2, foldVersion, digest: 'of a newer release' };
    const batch = { partition, epoch, start: 0, intent, isReplacement: false };
    expect(await checkpoints.intend([batch])).toEqual(new Set([partition]));
    const older = await world.startAggregator();
    await vi.waitFor(() => {
      expect(older.halted.get(partition)).toBe('unknown_fold_version');
    }, WAIT);
    await older.close();
    expect((await checkpoints.read(partition)).intent).toEqual(intent);
    expect(await eventsOfPartition(world.clickhouse, partition)).toBe(0);
    // To the release of that fold its own version is known: here the one that this release has.
    await ownerOf(world.database).query(
      sql.type(z.unknown())`UPDATE aggregator_checkpoints SET fold_version = ${FOLD_VERSION}
        WHERE fold_version = ${foldVersion}`,
    );
    await world.startAggregator();
    await vi.waitFor(async () => {
      const { usage, duplicates } = await totals(world.clickhouse);
      expect([usage, duplicates]).toEqual([2, 1]);
    }, WAIT);
    expect(await wrongMarkers(world.clickhouse)).toEqual([]);
  });

  test.for([
    ['nothing of it is stored, and is begun anew', 'insert events', 'x'],
    ['it is stored in part with the same rows, and is completed', 'insert ids', ''],
  ] as const)(
    'finishes what the release before began with an earlier fold, when %s',
    async ([, undone, otherDigest], { world }) => {
      await createMeter(world.database, '[]');
      let failures = 0;
      const before = await world.startAggregator((command) => {
        if (command.kind !== 'insert' || `insert ${command.tables[0]}` !== undone) return null;
        failures += 1;
        return 'before';
      });
      await send(
        world.writer,
        ['a', 'b', 'c', 'a'].map((id) => eventOf(id)),
      );
      await vi.waitFor(() => expect(failures).toBeGreaterThan(3), WAIT);
      await before.close();
      const { rowCount } = await ownerOf(world.database).query(
        sql.type(z.unknown())`UPDATE aggregator_checkpoints
          SET fold_version = ${FOLD_VERSION - 1}, digest = digest || ${otherDigest}
          WHERE intent_end IS NOT NULL`,
      );
      expect(rowCount).toBeGreaterThan(0);
      const aggregator = await world.startAggregator();
      await vi.waitFor(async () => {
        const { events, ids, usage, duplicates } = await totals(world.clickhouse);
        expect([events, ids, usage, duplicates]).toEqual([3, 3, 3, 1]);
      }, WAIT);
      expect([...aggregator.halted]).toEqual([]);
      expect(await wrongMarkers(world.clickhouse)).toEqual([]);
    },
  );

  test('stops at what a release before stored in part with other rows', async ({ world }) => {
    await createMeter(world.database, '[]');
    let failures = 0;
    const before = await world.startAggregator((command) => {
      if (command.kind !== 'insert' || !command.tables.includes('ids')) return null;
      failures += 1;
      return 'before';
    });
    await send(world.writer, [eventOf('a')]);
    await vi.waitFor(() => expect(failures).toBeGreaterThan(3), WAIT);
    await before.close();
    await ownerOf(world.database).query(
      sql.type(z.unknown())`UPDATE aggregator_checkpoints
        SET fold_version = ${FOLD_VERSION - 1}, digest = 'of other rows' WHERE intent_end IS NOT NULL`,
    );
    const aggregator = await world.startAggregator();
    await vi.waitFor(() => {
      expect([...aggregator.halted.values()]).toEqual(['unknown_fold_version']);
    }, WAIT);
    expect(await totals(world.clickhouse)).toMatchObject({ events: 1, ids: 0 });
  });

  test('stops with the reason when a store was restored behind its back', async ({ world }) => {
    const first = await world.startAggregator();
    await send(world.writer, [eventOf('a'), eventOf('b'), eventOf('c'), eventOf('d')]);
    await vi.waitFor(async () => {
      expect((await totals(world.clickhouse)).events).toBe(4);
    }, WAIT);
    await first.close();
    await world.clickhouse.command('TRUNCATE TABLE events_v1');
    const second = await world.startAggregator();
    await vi.waitFor(() => {
      expect([...second.halted.values()]).toContain('last_batch_missing');
    }, WAIT);
    await expect(second.assertNoneHalted()).rejects.toThrow('last_batch_missing');
  });

  test('goes on by itself when the store is whole again', async ({ world }) => {
    const first = await world.startAggregator();
    await send(world.writer, [eventOf('a'), eventOf('b'), eventOf('c'), eventOf('d')]);
    await vi.waitFor(async () => {
      expect((await totals(world.clickhouse)).events).toBe(4);
    }, WAIT);
    await first.close();
    await world.clickhouse.command('RENAME TABLE events_v1 TO events_kept');
    await world.clickhouse.command('CREATE TABLE events_v1 AS events_kept');
    const second = await world.startAggregator();
    await vi.waitFor(() => {
      expect(new Set(second.halted.values())).toEqual(new Set(['last_batch_missing']));
    }, WAIT);
    await world.clickhouse.command('EXCHANGE TABLES events_v1 AND events_kept');
    await vi.waitFor(() => {
      expect([...second.halted]).toEqual([]);
    }, WAIT);
    await send(world.writer, [eventOf('e'), eventOf('f')]);
    await vi.waitFor(async () => {
      expect((await totals(world.clickhouse)).events).toBe(6);
    }, WAIT);
    expect(await wrongMarkers(world.clickhouse)).toEqual([]);
  });

  test('is not told of a log that answers too low for a moment, and is when it stays so', async ({
    world,
  }) => {
    const first = await world.startAggregator();
    await send(world.writer, [eventOf('a'), eventOf('b'), eventOf('c'), eventOf('d')]);
    await vi.waitFor(async () => {
      expect((await totals(world.clickhouse)).events).toBe(4);
    }, WAIT);
    await first.close();
    let isLow = true;
    const { reader } = world;
    const log: EventLogReader = {
      identity: reader.identity,
      read: (request) => reader.read(request),
      bounds: async (partition) => {
        const bounds = await reader.bounds(partition);
        return isLow ? { ...bounds, endOffset: 0 } : bounds;
      },
      ends: () => reader.ends(),
      commit: (partition, nextOffset) => reader.commit(partition, nextOffset),
      release: (partition) => reader.release(partition),
      ping: () => reader.ping(),
      close: () => reader.close(),
    };
    const second = await world.startAggregator(undefined, log);
    await delay(600);
    expect([...second.halted]).toEqual([]);
    isLow = false;
    await send(world.writer, [eventOf('e'), eventOf('f')]);
    await vi.waitFor(async () => {
      expect((await totals(world.clickhouse)).events).toBe(6);
    }, WAIT);
    await second.close();
    isLow = true;
    const third = await world.startAggregator(undefined, log);
    await vi.waitFor(() => {
      expect(new Set(third.halted.values())).toEqual(new Set(['log_shorter_than_checkpoint']));
    }, WAIT);
    isLow = false;
    await vi.waitFor(() => {
      expect([...third.halted]).toEqual([]);
    }, WAIT);
  });
});
