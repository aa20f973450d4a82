import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { test } from '../load-tests/harness/fixtures.js';
import { migrateDatabase } from './migrate.js';
import { withSession } from './session.js';

async function write(directory: string, files: Readonly<Record<string, string>>): Promise<string> {
  await mkdir(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return directory;
}

function count(url: string, table: string): Promise<unknown> {
  return withSession(url, async (session) => {
    const result = await session.query(`SELECT count(*)::int AS count FROM ${table}`);
    return result.rows[0]?.count as unknown;
  });
}

const FILES = {
  '0001_first.sql': 'CREATE TABLE first (id int); INSERT INTO first VALUES (1);',
  '0002_second.sql': 'CREATE TABLE second (id int); INSERT INTO second VALUES (1);',
};

describe('migrateDatabase', () => {
  test('applies every file of the product to an empty database, once', async ({
    emptyDatabaseUrl,
  }) => {
    const applied = await migrateDatabase(emptyDatabaseUrl);
    expect(applied[0]).toBe('0001_platform.sql');
    expect(await migrateDatabase(emptyDatabaseUrl)).toEqual([]);
    expect(await count(emptyDatabaseUrl, 'schema_migrations')).toBe(applied.length);
  });

  test('applies each file once when five processes start together', async ({
    emptyDatabaseUrl,
    directory,
  }) => {
    const folder = await write(directory, FILES);
    const runs = Array.from({ length: 5 }, () => migrateDatabase(emptyDatabaseUrl, folder));
    const applied = (await Promise.all(runs)).flat();
    expect(applied).toEqual(['0001_first.sql', '0002_second.sql']);
    expect(await count(emptyDatabaseUrl, 'first')).toBe(1);
  });

  test('lets programs read a table that it waits for, and is applied when it can be', async ({
    emptyDatabaseUrl: url,
    directory,
  }) => {
    const before = await write(directory, FILES);
    await migrateDatabase(url, before);
    const column = { '0003_column.sql': 'ALTER TABLE first ADD COLUMN text text' };
    const folder = await write(join(directory, 'next'), { ...FILES, ...column });
    const migrating = await withSession(url, async (long) => {
      // As a backup does for as long as it reads.
      await long.query('BEGIN');
      await long.query('SELECT FROM first');
      const running = migrateDatabase(url, folder);
      const waiting = `SELECT FROM pg_locks WHERE relation = 'first'::regclass AND NOT granted`;
      await vi.waitFor(async () => expect((await long.query(waiting)).rowCount).toBe(1), 20_000);
      expect(await count(url, 'first')).toBe(1);
      await long.query('COMMIT');
      return running;
    });
    expect(migrating).toEqual(['0003_column.sql']);
  });

  test('leaves no trace of a file that fails, and applies it once it is corrected', async ({
    emptyDatabaseUrl,
    directory,
  }) => {
    const broken = { ...FILES, '0002_second.sql': 'CREATE TABLE second (id int); SELECT 1/0;' };
    const failing = migrateDatabase(emptyDatabaseUrl, await write(directory, broken));
    await expect(failing).rejects.toThrow('0002_second.sql failed: division by zero');
    expect(await migrateDatabase(emptyDatabaseUrl, await write(directory, FILES))).toEqual([
      '0002_second.sql',
    ]);
    expect(await count(emptyDatabaseUrl, 'second')).toBe(1);
  });

  test('applies a file and records it in one transaction', async ({
    emptyDatabaseUrl,
    directory,
  }) => {
    const unnoted = {
      ...FILES,
      '0002_second.sql': `CREATE TABLE second (id int);
        ALTER TABLE schema_migrations ADD CHECK (number <> 2);`,
    };
    const failing = migrateDatabase(emptyDatabaseUrl, await write(directory, unnoted));
    await expect(failing).rejects.toThrow('0002_second.sql failed');
    await migrateDatabase(emptyDatabaseUrl, await write(directory, FILES));
    expect(await count(emptyDatabaseUrl, 'second')).toBe(1);
  });

  test('refuses a changed file and changes nothing', async ({ emptyDatabaseUrl, directory }) => {
    await migrateDatabase(emptyDatabaseUrl, await write(directory, FILES));
    const changed = { '0001_first.sql': 'CREATE TABLE other (id int);', '0003_third.sql': '' };
    const refused = migrateDatabase(emptyDatabaseUrl, await write(directory, changed));
    await expect(refused).rejects.toThrow(/0001_first\.sql was changed.*new migration/);
    expect(await count(emptyDatabaseUrl, 'schema_migrations')).toBe(2);
  });

  test('reports an unreachable server as an outage', async ({ directory }) => {
    const folder = await write(directory, FILES);
    await expect(migrateDatabase('postgres://a:b@127.0.0.1:1/c', folder)).rejects.toMatchObject({
      name: 'DependencyError',
      isRetryable: true,
    });
  });
});
