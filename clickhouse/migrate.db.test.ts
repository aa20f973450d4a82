import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../load-tests/harness/fixtures.js';
import { createClickHouse } from './client.js';
import { migrateClickHouse } from './migrate.js';

async function write(directory: string, files: Readonly<Record<string, string>>): Promise<string> {
  await mkdir(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return directory;
}

async function tablesOf(url: string): Promise<string[]> {
  const client = createClickHouse(url);
  const rows = await client.query(
    'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
    {},
    z.object({ name: z.string() }),
  );
  await client.close();
  return rows.map((row) => row.name);
}

const TABLE = 'ENGINE = MergeTree ORDER BY id';
const FILES = {
  '0001_first.sql': `CREATE TABLE IF NOT EXISTS first (id UInt64) ${TABLE};
    CREATE TABLE IF NOT EXISTS second (id UInt64) ${TABLE};`,
  '0002_third.sql': `CREATE TABLE IF NOT EXISTS third (id UInt64) ${TABLE};`,
};

describe('migrateClickHouse', () => {
  test('makes the database and applies every file of the product, once', async ({
    emptyClickHouseUrl,
    emptyDatabaseUrl,
  }) => {
    const applied = await migrateClickHouse(emptyClickHouseUrl, emptyDatabaseUrl);
    expect(applied[0]).toBe('0001_usage.sql');
    expect(await tablesOf(emptyClickHouseUrl)).toContain('events_v1');
    expect(await migrateClickHouse(emptyClickHouseUrl, emptyDatabaseUrl)).toEqual([]);
  });

  test('applies each file once when five processes start together', async ({
    emptyClickHouseUrl,
    emptyDatabaseUrl,
    directory,
  }) => {
    const folder = await write(directory, FILES);
    const runs = Array.from({ length: 5 }, () =>
      migrateClickHouse(emptyClickHouseUrl, emptyDatabaseUrl, folder),
    );
    const applied = (await Promise.all(runs)).flat();
    expect(applied).toEqual(['0001_first.sql', '0002_third.sql']);
  });

  test('goes on after a crash in the middle of a file', async ({
    emptyClickHouseUrl,
    directory,
  }) => {
    const broken = {
      '0001_first.sql': `${FILES['0001_first.sql'].split(';')[0]}; SELECT no_such;`,
    };
    const failing = migrateClickHouse(emptyClickHouseUrl, null, await write(directory, broken));
    await expect(failing).rejects.toThrow('0001_first.sql failed');
    expect(await tablesOf(emptyClickHouseUrl)).toEqual(['first', 'schema_migrations']);
    await migrateClickHouse(emptyClickHouseUrl, null, await write(directory, FILES));
    expect(await tablesOf(emptyClickHouseUrl)).toEqual([
      'first',
      'schema_migrations',
      'second',
      'third',
    ]);
  });

  test('refuses a changed file', async ({ emptyClickHouseUrl, directory }) => {
    await migrateClickHouse(emptyClickHouseUrl, null, await write(directory, FILES));
    const changed = { '0002_third.sql': `CREATE TABLE IF NOT EXISTS fourth (id UInt8) ${TABLE};` };
    const refused = migrateClickHouse(emptyClickHouseUrl, null, await write(directory, changed));
    await expect(refused).rejects.toThrow(/0002_third\.sql was changed.*new migration/);
    expect(await tablesOf(emptyClickHouseUrl)).not.toContain('fourth');
  });
});
