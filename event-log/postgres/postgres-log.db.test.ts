import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, test as plain } from 'vitest';
import { withFreshDatabase } from '../../load-tests/harness/fixtures.js';
import { DependencyError } from '../../runtime/failure.js';
import {
  CONTRACT_PARTITIONS,
  readAll,
  registerContract,
  text,
  valuesOf,
  type LogUnderTest,
} from '../testing/event-log.contract.js';
import {
  OffsetOutOfRange,
  type EventLogReader,
  type EventLogWriter,
} from '../interface/event-log.js';
import { renewPostgresLogId } from './identity.js';
import { openPostgresReader } from './reader.js';
import { openPostgresWriter } from './writer.js';

const HOUR_MS = 3_600_000;

type PostgresLogUnderTest = LogUnderTest & {
  readonly url: string;
  /** A separate session of the test. */
  readonly session: pg.Client;
  openTimedWriter(produceTimeoutMs: number): Promise<EventLogWriter>;
  openTrimmingReader(retentionMs: number): Promise<EventLogReader>;
};

function logAt(url: string, session: pg.Client): PostgresLogUnderTest {
  const partitionCount = CONTRACT_PARTITIONS;
  return {
    url,
    session,
    openWriter: () => openPostgresWriter({ url, partitionCount, produceTimeoutMs: 10_000 }),
    openReader: () => openPostgresReader({ url, partitionCount, retentionMs: HOUR_MS }),
    openTimedWriter: (produceTimeoutMs) =>
      openPostgresWriter({ url, partitionCount, produceTimeoutMs }),
    openTrimmingReader: (retentionMs) => openPostgresReader({ url, partitionCount, retentionMs }),
    removeBelow: async (offset) => {
      await session.query(`SELECT trim_event_log(0, $1, interval '0', 1000)`, [offset]);
    },
    recreate: async () => {
      await session.query('TRUNCATE event_logs, event_log_partitions, event_log_batches');
    },
  };
}

const trim = async (reader: EventLogReader, nextOffset: number): Promise<void> =>
  reader.trim?.(0, nextOffset, new AbortController().signal);

const test = plain.extend<{ log: PostgresLogUnderTest }>({
  // Vitest reads from the first parameter which other fixtures a fixture needs; it needs none.
  log: async ({}, use) => {
    await withFreshDatabase(async ({ url }) => {
      const session = new pg.Client({ connectionString: url });
      await session.connect();
      try {
        await use(logAt(url, session));
      } finally {
        await session.end();
      }
    });
  },
});

async function boundsInDatabase(session: pg.Client): Promise<unknown> {
  const result = await session.query(
    'SELECT start_offset, end_offset FROM event_log_bounds() WHERE partition = 0',
  );
  return result.rows[0];
}

/** Appends in a separate session and leaves the transaction open. */
async function appendInTransaction(log: PostgresLogUnderTest, value: string): Promise<void> {
  await log.session.query('BEGIN');
  await log.session.query(
    `SELECT append_event_log((SELECT log_id FROM event_logs), '{0}', '{1}', ARRAY[$1], ARRAY[$2])`,
    [`0:${value.length}`, value],
  );
}

describe('event log in PostgreSQL', () => {
  registerContract(test);

  describe('order of visibility', () => {
    test('a later append waits for an uncommitted one, and neither is seen before it', async ({
      log,
    }) => {
      const [writer, reader] = await Promise.all([log.openWriter(), log.openReader()]);
      await appendInTransaction(log, 'slow');
      let isAcknowledged = false;
      const later = writer.append([text('later')]).then(() => {
        isAcknowledged = true;
      });
      await sleep(300);
      expect(isAcknowledged).toBe(false);
      const range = { partition: 0, fromOffset: 0, recordsMax: 10, bytesMax: 1000 };
      expect(await reader.read({ ...range, waitMs: 100 })).toEqual([]);
      await log.session.query('COMMIT');
      await later;
      expect(valuesOf(await readAll(reader, { count: 2 }))).toEqual(['slow', 'later']);
      await Promise.all([writer.close(), reader.close()]);
    });

    test('offsets of an append that rolled back are given to the next one', async ({ log }) => {
      const [writer, reader] = await Promise.all([log.openWriter(), log.openReader()]);
      await appendInTransaction(log, 'never');
      await log.session.query('ROLLBACK');
      await writer.append([text('kept')]);
      expect(valuesOf(await readAll(reader, { count: 1 }))).toEqual(['kept']);
      await Promise.all([writer.close(), reader.close()]);
    });

    test('times never go back, even when the clock of the server does', async ({ log }) => {
      const [writer, reader] = await Promise.all([log.openWriter(), log.openReader()]);
      await writer.append([text('a')]);
      const future = `date_trunc('milliseconds', now()) + interval '1 hour'`;
      await log.session.query(`UPDATE event_log_batches SET appended_at = ${future}`);
      await writer.append([text('b')]);
      const [first, second] = await readAll(reader, { count: 2 });
      expect(second?.appendedAtMs).toBe(first?.appendedAtMs);
      await Promise.all([writer.close(), reader.close()]);
    });
  });

  describe('limits', () => {
    test('rejects an append in time while its partition is locked, and recovers', async ({
      log,
    }) => {
      const writer = await log.openTimedWriter(700);
      await log.session.query('BEGIN');
      await log.session.query('SELECT FROM event_log_partitions FOR UPDATE');
      const startedMs = Date.now();
      const queued = sleep(100).then(() => writer.append([text('queued')]));
      await Promise.all([
        expect(writer.append([text('in flight')])).rejects.toThrow(DependencyError),
        expect(queued).rejects.toThrow(DependencyError),
      ]);
      expect(Date.now() - startedMs).toBeLessThan(3_000);
      await log.session.query('COMMIT');
      await writer.append([text('after')]);
      await writer.close();
    });

    test('refuses at once what exceeds the queue', async ({ log }) => {
      const writer = await log.openWriter();
      await log.session.query('BEGIN');
      await log.session.query('SELECT FROM event_log_partitions FOR UPDATE');
      const value = 'x'.repeat(1_000_000);
      const appends = Array.from({ length: 90 }, () => writer.append([text(value)]));
      const outcomes = Promise.allSettled(appends);
      await expect(appends.at(-1)).rejects.toMatchObject({ isRetryable: true });
      await log.session.query('COMMIT');
      const stored = (await outcomes).filter(({ status }) => status === 'fulfilled');
      expect(stored.length).toBeGreaterThan(50);
      await writer.close();
      expect(await boundsInDatabase(log.session)).toMatchObject({
        end_offset: String(stored.length),
      });
    });
  });

  describe('retention', () => {
    test('removes finished old records, but never the last batch', async ({ log }) => {
      const [writer, reader] = await Promise.all([log.openWriter(), log.openTrimmingReader(0)]);
      for (const value of ['a', 'b', 'c']) await writer.append([text(value)]);
      await sleep(5);
      await trim(reader, 0);
      expect(await boundsInDatabase(log.session)).toEqual({ start_offset: '0', end_offset: '3' });
      await trim(reader, 3);
      expect(await boundsInDatabase(log.session)).toEqual({ start_offset: '2', end_offset: '3' });
      await writer.append([text('d')]);
      const range = { partition: 0, recordsMax: 10, bytesMax: 1000, waitMs: 0 };
      await expect(reader.read({ ...range, fromOffset: 0 })).rejects.toThrow(OffsetOutOfRange);
      expect(valuesOf(await readAll(reader, { from: 3, count: 1 }))).toEqual(['d']);
      await Promise.all([writer.close(), reader.close()]);
    });

    test('keeps younger finished records, and a batch that is half finished', async ({ log }) => {
      const writer = await log.openWriter();
      const [young, half] = await Promise.all([
        log.openTrimmingReader(HOUR_MS),
        log.openTrimmingReader(0),
      ]);
      await writer.append([text('a'), text('b')]);
      await writer.append([text('c')]);
      await sleep(5);
      await trim(young, 3);
      await trim(half, 1);
      expect(await boundsInDatabase(log.session)).toEqual({ start_offset: '0', end_offset: '3' });
      await Promise.all([writer.close(), young.close(), half.close()]);
    });
  });

  describe('identity', () => {
    test('programs that start together create one log', async ({ log }) => {
      const writers = await Promise.all([1, 2, 3, 4].map(() => log.openWriter()));
      expect(new Set(writers.map(({ identity }) => identity.logId)).size).toBe(1);
      await Promise.all(writers.map((writer) => writer.close()));
    });

    test('refuses to open with another number of partitions', async ({ log }) => {
      await (await log.openWriter()).close();
      const other = { url: log.url, produceTimeoutMs: 1_000 };
      await expect(openPostgresWriter({ ...other, partitionCount: 7 })).rejects.toThrow(
        'has 4 partitions',
      );
      const writer = await openPostgresWriter(other);
      expect(writer.identity.partitionCount).toBe(4);
      await writer.close();
    });

    test('after a new id, readers and writers with the old one fail', async ({ log }) => {
      const [writer, reader] = await Promise.all([log.openWriter(), log.openReader()]);
      await writer.append([text('before')]);
      const renewed = await renewPostgresLogId(log.url);
      expect(renewed).not.toBe(writer.identity.logId);
      const lasting = { name: 'DependencyError', isRetryable: false };
      await expect(writer.append([text('after')])).rejects.toMatchObject(lasting);
      const range = { partition: 0, fromOffset: 0, recordsMax: 10, bytesMax: 1000, waitMs: 0 };
      await expect(reader.read(range)).rejects.toMatchObject(lasting);
      await Promise.all([writer.close(), reader.close()]);
      const fresh = await log.openReader();
      expect(fresh.identity.logId).toBe(renewed);
      expect(valuesOf(await readAll(fresh, { count: 1 }))).toEqual(['before']);
      await fresh.close();
    });
  });
});
