import { describe, expect, vi } from 'vitest';
import {
  createMeter,
  eventOf,
  readUsage,
  send,
  test as base,
  totals,
  WAIT,
  wrongMarkers,
  type World,
} from '../../aggregator/testing/aggregator-world.js';
import { refuseUncountedLog } from '../../aggregator/ownership/refuse-uncounted-log.js';
import { openPostgresReader } from '../../event-log/postgres/reader.js';
import { openPostgresWriter } from '../../event-log/postgres/writer.js';
import { runVerb } from '../../load-tests/harness/run-verb.js';
import { withSession } from '../../sql/session.js';

type Verb = () => Promise<{ readonly status: number | null; readonly said: string }>;

/** `minutebook log close` and `log renew` with the settings of the log that the world reads. */
const test = base.extend<{ closeLog: Verb; renewLog: Verb }>({
  closeLog: async ({ database, clickhouse }, use) => {
    const servers = { DATABASE_URL: database.url, CLICKHOUSE_URL: clickhouse.url };
    await use(() => runVerb(servers, 'log', 'close'));
  },
  renewLog: async ({ database: { url } }, use) => {
    await use(() => runVerb({ DATABASE_URL: url }, 'log', 'renew'));
  },
});

const IDS = ['a', 'b', 'c', 'd', 'e'] as const;
const CLOSED =
  /^Every record of log pg-\w+ is counted \(2 partitions.*\)\.\nThe log is closed: .*\nStart/;
const UNCOUNTED = /^(\d) records of the log are not counted yet: stop ingest, start an aggregator/;

async function sendAll(world: World, ids: readonly string[]): Promise<void> {
  await send(
    world.writer,
    ids.map((id) => eventOf(id)),
  );
}

async function countAll(world: World, events: number): Promise<void> {
  const aggregator = await world.startAggregator();
  await vi.waitFor(async () => expect(await readUsage(world)).toBe(events), WAIT);
  // An aggregator that stops in order first finishes the batch that it was writing.
  await aggregator.close();
}

/** What the log holds from now on, read and counted by an aggregator of its present id. */
async function countOnPresentLog(world: World, url: string, ids: readonly string[]) {
  const reader = await openPostgresReader({ url, retentionMs: 3_600_000 });
  const writer = await openPostgresWriter({ url, produceTimeoutMs: 5_000 });
  const aggregator = await world.startAggregator(undefined, reader);
  await send(
    writer,
    ids.map((id) => eventOf(id)),
  );
  return async (): Promise<void> => {
    await aggregator.close();
    await Promise.all([reader.close(), writer.close()]);
  };
}

describe('minutebook log close', () => {
  test('ends a log of which everything is counted: who still writes to it is refused, and it begins at its end when it is used again', async ({
    world,
    database,
    closeLog,
  }) => {
    await createMeter(world.database, '[]');
    await sendAll(world, IDS);
    const early = await closeLog();
    expect([early.status, UNCOUNTED.exec(early.said)?.[1]]).toEqual([1, '5']);
    await expect(refuseUncountedLog(world.database)).rejects.toThrow(
      /^configuration: KAFKA_BROKERS is set, but 5 records of the log in PostgreSQL/,
    );
    const aggregator = await world.startAggregator();
    await vi.waitFor(async () => expect(await readUsage(world)).toBe(5), WAIT);
    const beside = await closeLog();
    expect(beside.status).toBe(1);
    expect(beside.said).toMatch(/^1 of the aggregators still run: stop every aggregator, wait 5 s/);
    await aggregator.close();

    const done = await closeLog();
    expect(done).toEqual({ status: 0, said: expect.stringMatching(CLOSED) as string });
    await expect(sendAll(world, ['late'])).rejects.toThrow(/the event log is no longer pg-/);
    await expect(refuseUncountedLog(world.database)).resolves.toBeUndefined();
    expect((await closeLog()).said).toMatch(CLOSED);

    const stop = await countOnPresentLog(world, database.url, ['a', 'new']);
    await vi.waitFor(async () => expect(await readUsage(world)).toBe(6), WAIT);
    // Nothing of what was counted is read a second time: `a` alone is a duplicate.
    await vi.waitFor(
      async () => expect(await totals(world.clickhouse)).toMatchObject({ ids: 6, duplicates: 1 }),
      WAIT,
    );
    await stop();
  });

  test.for(['insert ids', 'insert usage'])(
    'completes what was begun from what is stored, when "%s" was not done',
    async (undone, { world, closeLog }) => {
      await createMeter(world.database, '[]');
      let failures = 0;
      const aggregator = await world.startAggregator((command) => {
        if (command.kind !== 'insert' || undone !== `insert ${command.tables.join(' ')}`)
          return null;
        failures += 1;
        return 'before';
      });
      await sendAll(world, IDS);
      await vi.waitFor(() => expect(failures).toBeGreaterThan(3), WAIT);
      await aggregator.close();

      const done = await closeLog();
      expect(done.said).toMatch(
        /2 partitions, [12] begun batches were completed\)\.\nThe log is closed/,
      );
      const { events, ids } = await totals(world.clickhouse);
      expect({ events, ids, read: await readUsage(world) }).toEqual({ events: 5, ids: 5, read: 5 });
      expect(await wrongMarkers(world.clickhouse)).toEqual([]);
    },
  );

  test('is refused while a begun batch has stored nothing, and its records count afterwards', async ({
    world,
    closeLog,
  }) => {
    await createMeter(world.database, '[]');
    let failures = 0;
    const aggregator = await world.startAggregator((command) => {
      if (command.kind !== 'insert' || !command.tables.includes('events')) return null;
      failures += 1;
      return 'before';
    });
    await sendAll(world, IDS);
    await vi.waitFor(() => expect(failures).toBeGreaterThan(3), WAIT);
    await aggregator.close();
    const refused = await closeLog();
    expect(refused.status).toBe(1);
    expect(refused.said).toMatch(/^partition [01].* has a batch that was begun and of which no ev/);
    await countAll(world, 5);
    expect((await closeLog()).said).toMatch(CLOSED);
  });

  test('waits for an append that is under way, and is refused because of its record', async ({
    world,
    database,
    closeLog,
  }) => {
    await createMeter(world.database, '[]');
    await sendAll(world, IDS);
    await countAll(world, 5);
    const isWaiting = `SELECT FROM pg_locks WHERE relation = 'event_logs'::regclass AND NOT granted`;
    const refused = await withSession(database.url, async (ingest) => {
      await ingest.query('BEGIN');
      await ingest.query(`SELECT append_event_log(
        (SELECT log_id FROM event_logs), '{0}', '{1}', '{1:1}', '{kv}')`);
      const closing = closeLog();
      await withSession(database.url, (session) =>
        vi.waitFor(async () => expect((await session.query(isWaiting)).rowCount).toBe(1), WAIT),
      );
      await ingest.query('COMMIT');
      return closing;
    });
    expect([refused.status, UNCOUNTED.exec(refused.said)?.[1]]).toEqual([1, '1']);
  });
});

describe('minutebook log renew', () => {
  test('gives the log a new id, under which all of it is read and counts once; refused while an aggregator runs', async ({
    world,
    database,
    renewLog,
  }) => {
    await createMeter(world.database, '[]');
    await sendAll(world, IDS);
    const aggregator = await world.startAggregator();
    await vi.waitFor(async () => expect(await readUsage(world)).toBe(5), WAIT);
    const beside = await renewLog();
    expect([beside.status, beside.said.slice(0, 35)]).toEqual([
      1,
      '1 of the aggregators still run: sto',
    ]);
    await aggregator.close();
    const { status, said } = await renewLog();
    expect([status, said]).toEqual([
      0,
      expect.stringMatching(/^The log in PostgreSQL is now pg-\w{32}\. Start the programs\.\n$/),
    ]);
    const stop = await countOnPresentLog(world, database.url, ['new']);
    await vi.waitFor(async () => {
      const { ids, duplicates } = await totals(world.clickhouse);
      expect({ ids, duplicates, read: await readUsage(world) }).toEqual({
        ids: 6,
        duplicates: 5,
        read: 6,
      });
    }, WAIT);
    await stop();
  });

  test('says that there is no log, or that the log is not in PostgreSQL', async ({
    database: { url: DATABASE_URL },
  }) => {
    const none = await runVerb({ DATABASE_URL }, 'log', 'renew');
    expect(none).toEqual({ status: 1, said: 'there is no log in PostgreSQL yet\n' });
    const kafka = await runVerb({ DATABASE_URL, KAFKA_BROKERS: 'localhost:1' }, 'log', 'renew');
    expect(kafka.said).toMatch(/^KAFKA_BROKERS is set: only the log in PostgreSQL is renewed/);
  });
});
