import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import { AssertionFailed, DependencyError } from '../runtime/failure.js';
import { drawFreePort } from '../runtime/port.js';
import { startCut } from '../load-tests/harness/cut-before.js';
import { test, type ClickHouseFixture } from '../load-tests/harness/fixtures.js';
import { createClickHouse, type InsertOutcome } from './client.js';

type Fenced = {
  readonly clickhouse: ClickHouseFixture;
  readonly epoch: number;
  readonly body: string | readonly Buffer[];
};

const TABLE = `CREATE TABLE rows (id UInt64, name String, at DateTime64(3, 'UTC')) ENGINE = MergeTree
  ORDER BY id SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;

/** The form in which the aggregator inserts: a newer epoch in the gate refuses it. */
function insertFenced({ clickhouse, epoch, body }: Fenced): Promise<InsertOutcome> {
  return clickhouse.client.insertText({
    query: `INSERT INTO rows (id, name, at) SELECT id, name, at
            FROM input('id UInt64, name String, at DateTime64(3, \\'UTC\\')')
            WHERE throwIf((SELECT max(epoch) FROM ingest_gate_v1
                           WHERE log_id = {log:String} AND log_partition = {partition:UInt32})
                          != {epoch:UInt64}) = 0
            FORMAT JSONCompactEachRow`,
    parameters: { log: 'log-1', partition: 3, epoch },
    body,
    queryId: `mb:log-1:3:${epoch}:${randomUUID()}`,
  });
}

async function openGate({ client }: ClickHouseFixture, epoch: number): Promise<void> {
  await client.command(
    `INSERT INTO ingest_gate_v1 (log_id, log_partition, epoch)
     SELECT {log:String}, {partition:UInt32}, {epoch:UInt64}`,
    { log: 'log-1', partition: 3, epoch },
  );
}

function rowsText(count: number, padding: string): string {
  const lines: string[] = [];
  for (let id = 0; id < count; id += 1) {
    lines.push(`[${id},"${padding}${id}","2026-11-20 10:00:00.123"]`);
  }
  return lines.join('\n');
}

const counted = z.object({ rows: z.string(), parts: z.string() });

async function countOf({ client }: ClickHouseFixture): Promise<z.infer<typeof counted>> {
  const rows = await client.query(
    `SELECT (SELECT count() FROM rows) AS rows,
            (SELECT count() FROM system.parts
             WHERE database = currentDatabase() AND table = 'rows' AND level = 0) AS parts`,
    {},
    counted,
  );
  return rows[0] ?? { rows: 'none', parts: 'none' };
}

/** The server goes on by itself with what has arrived. */
async function endOfInserts({ client }: ClickHouseFixture): Promise<void> {
  const running = `SELECT count() AS found FROM system.processes
    WHERE query LIKE 'INSERT %' AND current_database = currentDatabase()`;
  await delay(500);
  await vi.waitFor(async () => {
    const rows = await client.query(running, {}, z.object({ found: z.string() }));
    expect(rows).toEqual([{ found: '0' }]);
  });
}

describe('ClickHouse client', () => {
  test('keeps every digit of 64-bit integers and decimals', async ({ clickhouse }) => {
    const rows = await clickhouse.client.query(
      `SELECT toUInt64(18446744073709551615) AS count, toDecimal128('0.10000000000000000001', 20) AS amount,
              toDateTime64('2026-11-20 10:00:00.123', 3, 'UTC') AS at`,
      {},
      z.object({ count: z.string(), amount: z.string(), at: z.string() }),
    );
    expect(rows).toEqual([
      {
        count: '18446744073709551615',
        amount: '0.10000000000000000001',
        at: '2026-11-20T10:00:00.123Z',
      },
    ]);
  });

  test('sends parameters as values, never as SQL', async ({ clickhouse }) => {
    const hostile = `'; DROP TABLE events_v1; -- \\ "\n\t{x:String}`;
    const rows = await clickhouse.client.query(
      'SELECT {text:String} AS text, {ids:Array(UInt64)} AS ids',
      { text: hostile, ids: [1n, 18_446_744_073_709_551_615n] },
      z.object({ text: z.string(), ids: z.array(z.string()) }),
    );
    expect(rows).toEqual([{ text: hostile, ids: ['1', '18446744073709551615'] }]);
  });

  test('takes a list of 10,000 as one parameter', async ({ clickhouse }) => {
    const ids = Array.from({ length: 10_000 }, (_, index) => 10_000_000 + index);
    const rows = await clickhouse.client.query(
      'SELECT count() AS found FROM numbers(20000000) WHERE number IN {ids:Array(UInt64)}',
      { ids },
      z.object({ found: z.string() }),
    );
    expect(rows).toEqual([{ found: '10000' }]);
  });

  test('refuses rows of another shape', async ({ clickhouse }) => {
    const query = clickhouse.client.query('SELECT 1 AS one', {}, z.object({ two: z.string() }));
    await expect(query).rejects.toThrow(AssertionFailed);
  });

  test('reports a server that does not answer as a retryable outage', async () => {
    const port = await drawFreePort();
    const client = createClickHouse(`http://127.0.0.1:${String(port)}/minutebook`);
    await expect(client.command('SELECT 1')).rejects.toMatchObject({
      name: 'DependencyError',
      dependency: 'clickhouse',
      isRetryable: true,
    });
    await expect(client.ping()).rejects.toBeInstanceOf(DependencyError);
    await client.close();
  });

  test('reports a statement that can never work as a lasting failure', async ({ clickhouse }) => {
    await expect(clickhouse.client.command('SELECT * FROM no_such_table')).rejects.toMatchObject({
      name: 'DependencyError',
      isRetryable: false,
    });
  });
});

describe('fenced insert', () => {
  test('writes 100,000 rows as one part', async ({ clickhouse }) => {
    await clickhouse.client.command(TABLE);
    await openGate(clickhouse, 7);
    const outcome = await insertFenced({ clickhouse, epoch: 7, body: rowsText(100_000, 'n') });
    expect(outcome).toEqual({ outcome: 'inserted' });
    expect(await countOf(clickhouse)).toEqual({ rows: '100000', parts: '1' });
  });

  test('writes 600,000 rows of 60 MB as one part', async ({ clickhouse }) => {
    await clickhouse.client.command(TABLE);
    await openGate(clickhouse, 7);
    const body = rowsText(600_000, 'x'.repeat(60));
    const outcome = await insertFenced({ clickhouse, epoch: 7, body });
    expect(outcome).toEqual({ outcome: 'inserted' });
    expect(await countOf(clickhouse)).toEqual({ rows: '600000', parts: '1' });
  });

  test.for(['max_insert_block_size_bytes', 'input_format_max_block_size_bytes'])(
    'writes one part although the server was told to make small blocks by %s',
    async (setting, { clickhouse }) => {
      await clickhouse.client.command(TABLE);
      await openGate(clickhouse, 7);
      const told = `ch_${setting}=100000&ch_use_strict_insert_block_limits=1`;
      const client = createClickHouse(`${clickhouse.url}?${told}`);
      const body = rowsText(50_000, 'n');
      await insertFenced({ clickhouse: { ...clickhouse, client }, epoch: 7, body });
      await client.close();
      expect(await countOf(clickhouse)).toEqual({ rows: '50000', parts: '1' });
    },
  );

  test('writes nothing of a body that was cut off, although the server was told to write what came', async ({
    clickhouse,
  }) => {
    await clickhouse.client.command(TABLE);
    await openGate(clickhouse, 7);
    const address = new URL(`${clickhouse.url}?ch_input_format_connection_handling=1`);
    const cut = await startCut(Number(address.port), '[50001,');
    address.port = String(cut.port);
    const client = createClickHouse(address.href);
    const body = [Buffer.from(`${rowsText(50_000, 'n')}\n`), Buffer.from('[50001,"n","2026"]\n')];
    const insert = insertFenced({ clickhouse: { ...clickhouse, client }, epoch: 7, body });
    await expect(insert).rejects.toMatchObject({ isRetryable: true });
    await client.close();
    await cut.close();
    await endOfInserts(clickhouse);
    expect(await countOf(clickhouse)).toEqual({ rows: '0', parts: '0' });
  });

  test('leaves out no spoilt row, although the server was told to', async ({ clickhouse }) => {
    await clickhouse.client.command(TABLE);
    await openGate(clickhouse, 7);
    const client = createClickHouse(`${clickhouse.url}?ch_input_format_allow_errors_num=9`);
    const body = `${rowsText(1_000, 'n')}\n["x","y","z"]\n`;
    const insert = insertFenced({ clickhouse: { ...clickhouse, client }, epoch: 7, body });
    await expect(insert).rejects.toBeInstanceOf(DependencyError);
    await client.close();
    expect(await countOf(clickhouse)).toEqual({ rows: '0', parts: '0' });
  });

  test('writes equal rows as often as they are sent, although server and table were told to leave them out', async ({
    clickhouse,
  }) => {
    await clickhouse.client.command(`${TABLE}, non_replicated_deduplication_window = 100`);
    await openGate(clickhouse, 7);
    const client = createClickHouse(`${clickhouse.url}?ch_deduplicate_insert_select=force_enable`);
    for (const body of [rowsText(1_000, 'n'), rowsText(1_000, 'n')]) {
      const insert = insertFenced({ clickhouse: { ...clickhouse, client }, epoch: 7, body });
      expect(await insert).toEqual({ outcome: 'inserted' });
    }
    await client.close();
    expect(await countOf(clickhouse)).toEqual({ rows: '2000', parts: '2' });
  });

  test('ends with an error and not with a part of the rows at a limit of the profile', async ({
    clickhouse,
  }) => {
    const told = 'ch_max_rows_to_read=10&ch_read_overflow_mode=break&ch_max_block_size=5';
    const client = createClickHouse(`${clickhouse.url}?${told}`);
    const count = client.query('SELECT count() AS found FROM numbers(1000)', {}, z.unknown());
    await expect(count).rejects.toMatchObject({ message: expect.stringContaining('(158)') });
    await client.close();
  });

  test('refuses more rows than one block holds before it sends any', async ({ clickhouse }) => {
    await clickhouse.client.command(TABLE);
    await openGate(clickhouse, 7);
    const client = createClickHouse(clickhouse.url, { blockRowsMax: 1_000 });
    const insertRows = (rows: number): Promise<InsertOutcome> => {
      const body = rowsText(rows, 'n');
      return insertFenced({ clickhouse: { ...clickhouse, client }, epoch: 7, body });
    };
    await expect(insertRows(1_001)).rejects.toThrow(AssertionFailed);
    expect(await countOf(clickhouse)).toEqual({ rows: '0', parts: '0' });
    expect(await insertRows(1_000)).toEqual({ outcome: 'inserted' });
    expect(await countOf(clickhouse)).toEqual({ rows: '1000', parts: '1' });
    await client.close();
  });

  test('writes nothing when the gate holds a newer epoch', async ({ clickhouse }) => {
    await clickhouse.client.command(TABLE);
    await openGate(clickhouse, 7);
    await openGate(clickhouse, 8);
    const outcome = await insertFenced({ clickhouse, epoch: 7, body: rowsText(100_000, 'n') });
    expect(outcome).toEqual({ outcome: 'fenced' });
    expect(await countOf(clickhouse)).toEqual({ rows: '0', parts: '0' });
  });

  test('writes nothing when one row of the body is spoilt', async ({ clickhouse }) => {
    await clickhouse.client.command(TABLE);
    await openGate(clickhouse, 7);
    const body = `${rowsText(50_000, 'n')}\n[1,2,3,4]\n`;
    const insert = insertFenced({ clickhouse, epoch: 7, body });
    await expect(insert).rejects.toBeInstanceOf(DependencyError);
    expect(await countOf(clickhouse)).toEqual({ rows: '0', parts: '0' });
  });

  test('does not call an insert done whose table is gone', async ({ clickhouse }) => {
    await openGate(clickhouse, 7);
    const insert = insertFenced({ clickhouse, epoch: 7, body: rowsText(1, 'n') });
    await expect(insert).rejects.toMatchObject({ dependency: 'clickhouse', isRetryable: false });
  });

  test('does not ask again what the server cannot read', async ({ clickhouse }) => {
    const text = 'a'.repeat(140_000);
    const asked = clickhouse.client.query('SELECT {text:String} AS text', { text }, z.unknown());
    await expect(asked).rejects.toMatchObject({
      dependency: 'clickhouse',
      isRetryable: false,
      message: expect.stringContaining('ClickHouse (1000)'),
    });
  });
});
