import { describe, expect } from 'vitest';
import { z } from 'zod';
import { MINUTE_VALUES } from '../contract/minute-values.js';
import { MINUTE_COLUMNS } from '../contract/usage-minute.js';
import { test } from '../load-tests/harness/fixtures.js';

const COLUMNS = MINUTE_COLUMNS.map(({ name }) => name).join(', ');
const key = "'t', 'e', 'e:acme', 'm', 1, toDateTime64(60, 0, 'UTC'), '', ''";
const hash = (digit: string): string => `toFixedString(unhex('${digit.repeat(32)}'), 16)`;

function insertOf(values: string): string {
  return `INSERT INTO usage_minute_v1 (${COLUMNS}) VALUES (${key}, ${values})`;
}

const READ = `SELECT event_count, unreadable_count, toString(value_sum) AS sum,
    toString(value_time_sum) AS time_sum, toString(value_max) AS max,
    toString(tupleElement(latest, 'value')) AS latest, length(uniques) AS uniques,
    toString(value_min) AS min
  FROM usage_minute_v1 FINAL`;
const row = z.object({
  event_count: z.coerce.number(),
  unreadable_count: z.coerce.number(),
  sum: z.string(),
  time_sum: z.string(),
  max: z.string(),
  latest: z.string(),
  uniques: z.coerce.number(),
  min: z.string().nullable(),
});

describe('usage_minute_v1', () => {
  test('has the columns that minutes are written with, merged as they are declared', async ({
    clickhouse,
  }) => {
    const found = await clickhouse.client.query(
      `SELECT name, type FROM system.columns
       WHERE database = currentDatabase() AND table = 'usage_minute_v1' ORDER BY position`,
      {},
      z.object({ name: z.string(), type: z.string() }),
    );
    expect(found.map(({ name }) => name)).toEqual(MINUTE_COLUMNS.map(({ name }) => name));
    const declared = Object.values(MINUTE_VALUES).map(({ column, merge, kind }) => ({
      name: column,
      type: `SimpleAggregateFunction(${merge}, ${kind.type})`,
    }));
    expect(found.slice(-declared.length)).toEqual(declared);
  });

  test('merges rows of one key as every aggregation wants it', async ({ clickhouse }) => {
    const { client } = clickhouse;
    await client.command(
      insertOf(`2, 1, '0.000000000000000001', '-3', '7.5', (60001, 5, 'b', '4'),
        [${hash('a')}, ${hash('b')}], '2.5'`),
    );
    await client.command(
      insertOf(`3, 0, '999999999999999999999999999999999999999', '1', '7.25', (60001, 5, 'c', '0'),
        [${hash('b')}, ${hash('c')}], NULL`),
    );
    await client.command('OPTIMIZE TABLE usage_minute_v1 FINAL');
    expect(await client.query(READ, {}, row)).toEqual([
      {
        event_count: 5,
        unreadable_count: 1,
        sum: '999999999999999999999999999999999999999.000000000000000001',
        time_sum: '-2',
        max: '7.5',
        latest: '0',
        uniques: 3,
        min: '2.5',
      },
    ]);
  });

  test('has a least value of 0 only when a row has it', async ({ clickhouse }) => {
    const { client } = clickhouse;
    for (const value of ['NULL', `'0.000000000000000001'`, 'NULL', `'0'`, `'7'`]) {
      await client.command(insertOf(`1, 0, '0', '0', '0', (0, 0, '', '0'), [], ${value}`));
    }
    const least = async (): Promise<unknown> => (await client.query(READ, {}, row))[0]?.min;
    expect(await least()).toBe('0');
    await client.command('OPTIMIZE TABLE usage_minute_v1 FINAL');
    expect(await least()).toBe('0');
  });

  test('finds everybody with usage of one meter without reading the others', async ({
    clickhouse,
  }) => {
    const { client } = clickhouse;
    // 2,000 customers with 40 meters each.
    await client.command(`INSERT INTO usage_minute_v1 (tenant_id, environment_id, customer_key,
      meter_id, generation, minute, event_count)
      SELECT 't', 'e', concat('e:', toString(intDiv(number, 40))), concat('m', toString(number % 40)), 1,
        toDateTime64(60 * number, 0, 'UTC'), 1
      FROM numbers(80000)`);
    const [estimate] = await client.query(
      `EXPLAIN ESTIMATE SELECT sum(event_count) FROM usage_minute_v1
       WHERE tenant_id = 't' AND environment_id = 'e' AND meter_id = 'm7'`,
      {},
      z.object({ rows: z.coerce.number() }),
    );
    // Its own 2,000, and what shares granules of 2,048 with them.
    expect(estimate?.rows).toBeLessThanOrEqual(3 * 2_048);
  });

  test('keeps what counts alone, whatever the other columns hold', async ({ clickhouse }) => {
    const { client } = clickhouse;
    const count = `INSERT INTO usage_minute_v1 (tenant_id, environment_id, customer_key, meter_id,
      generation, minute, source, group_key, event_count) VALUES (${key}, 4)`;
    await client.command(count);
    await client.command(count);
    await client.command('OPTIMIZE TABLE usage_minute_v1 FINAL');
    expect(await client.query(READ, {}, row)).toMatchObject([
      { event_count: 8, uniques: 0, min: null },
    ]);
  });
});
