import { describe, expect } from 'vitest';
import { sql } from 'slonik';
import { z } from 'zod';
import { test } from '../load-tests/harness/fixtures.js';

describe('database', () => {
  test('keeps every digit of numeric and int8', async ({ database: { database } }) => {
    const row = await database.slonik.one(sql.type(z.unknown())`
      SELECT 0.10000000000000000001 AS amount, 9007199254740993::int8 AS count`);
    expect(row).toEqual({ amount: '0.10000000000000000001', count: '9007199254740993' });
  });
  test('x', async ({ clickhouse }) => {
    expect(await clickhouse.client.query('SELECT 1 AS x', {}, z.object({ x: z.number() }))).toEqual(
      [{ x: 1 }],
    );
  });
});
