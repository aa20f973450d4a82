import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import { describe, expect } from 'vitest';
import { test } from '../load-tests/harness/fixtures.js';
import { migrationsFolder } from '../runtime/migrations.js';
import { FUNCTIONS_FOLDER, readFunctions } from './functions.js';
import { migrateDatabase } from './migrate.js';
import { withSession } from './session.js';

/**
 * Only migrations call these. Each has them as they were when it was written, so that they are no
 * files.
 */
const OF_MIGRATIONS = ['force_row_security', 'isolate_environment'];

const DEFINITIONS = `
  SELECT routine.oid::regprocedure::text AS name, routine.proname AS file,
    pg_get_functiondef(routine.oid) AS text,
    ARRAY(SELECT given::text FROM unnest(routine.proacl) AS given ORDER BY 1) AS rights
  FROM pg_proc AS routine WHERE routine.pronamespace = 'public'::regnamespace
  UNION ALL
  SELECT tgname, NULL, pg_get_triggerdef(oid), '{}' FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL
  SELECT viewname, viewname, definition, '{}' FROM pg_views WHERE schemaname = 'public'
  ORDER BY 1`;

type Definition = { readonly name: string; readonly file: string | null };

async function definitions(session: Client): Promise<readonly Definition[]> {
  return (await session.query<Definition>(DEFINITIONS)).rows;
}

describe('functions of the database', () => {
  test('are each in a file', async ({ database }) => {
    const found = await withSession(database.url, definitions);
    const files = found.flatMap(({ file }) => (file === null ? [] : [file]));
    const names = readFunctions(FUNCTIONS_FOLDER).map(({ name }) => name);
    expect([...new Set(files)].sort()).toEqual([...names, ...OF_MIGRATIONS].sort());
  });

  test('are made anew by the files alone, with their rights and triggers', async ({ database }) => {
    await withSession(database.url, async (session) => {
      const before = await definitions(session);
      await session.query('BEGIN');
      for (const { name, file } of before) {
        const isKept = file === null || OF_MIGRATIONS.includes(file);
        if (!isKept) await session.query(`DROP FUNCTION IF EXISTS ${name} CASCADE`);
      }
      for (const { text } of readFunctions(FUNCTIONS_FOLDER)) await session.query(text);
      expect(await definitions(session)).toEqual(before);
      await session.query('ROLLBACK');
    });
  });
});

/** A folder of one made-up table, the table of the notes, and these functions. */
async function schemaWith(
  directory: string,
  functions: Readonly<Record<string, string>>,
): Promise<string> {
  const migrations = join(directory, 'migrations');
  await mkdir(migrations, { recursive: true });
  await mkdir(join(directory, 'functions'), { recursive: true });
  const notes = '0101_functions_in_files.sql';
  await cp(join(migrationsFolder('sql'), notes), join(migrations, notes));
  for (const [name, text] of Object.entries(functions))
    await writeFile(join(directory, 'functions', name), text);
  return migrations;
}

const returning = (name: string, expression: string): string =>
  `CREATE OR REPLACE FUNCTION ${name}() RETURNS text LANGUAGE sql AS $$ SELECT ${expression} $$;`;

const ANSWER = `SELECT first() AS first, (SELECT count(DISTINCT applied_at)::int FROM schema_functions) AS runs`;

function answer(url: string): Promise<unknown> {
  return withSession(url, async (session) => (await session.query(ANSWER)).rows[0] as unknown);
}

describe('migrateDatabase', () => {
  test('applies functions, and those that have changed once more', async ({
    emptyDatabaseUrl: url,
    directory,
  }) => {
    const before = { 'first.sql': returning('first', 'second()') };
    const one = { ...before, 'second.sql': returning('second', `'one'`) };
    await migrateDatabase(url, await schemaWith(directory, one));
    await migrateDatabase(url, await schemaWith(directory, one));
    expect(await answer(url)).toEqual({ first: 'one', runs: 1 });
    const two = { ...before, 'second.sql': returning('second', `'two'`) };
    expect(await migrateDatabase(url, await schemaWith(directory, two))).toEqual([]);
    expect(await answer(url)).toEqual({ first: 'two', runs: 2 });
  });

  test('changes no function when one fails, and names it', async ({
    emptyDatabaseUrl: url,
    directory,
  }) => {
    await migrateDatabase(
      url,
      await schemaWith(directory, { 'first.sql': returning('first', `'one'`) }),
    );
    const wrong = {
      'first.sql': returning('first', `'two'`),
      'second.sql': returning('second', 'nothing'),
    };
    await expect(migrateDatabase(url, await schemaWith(directory, wrong))).rejects.toThrow(
      'the change of functions failed: second.sql: column "nothing" does not exist',
    );
    expect(await answer(url)).toEqual({ first: 'one', runs: 1 });
  });

  test('leaves what a later release has applied', async ({ emptyDatabaseUrl: url, directory }) => {
    await migrateDatabase(
      url,
      await schemaWith(directory, { 'first.sql': returning('first', `'later'`) }),
    );
    await withSession(url, (session) =>
      session.query(`UPDATE schema_functions SET release = '1000.0.0'`),
    );
    await migrateDatabase(
      url,
      await schemaWith(directory, { 'first.sql': returning('first', `'earlier'`) }),
    );
    expect(await answer(url)).toEqual({ first: 'later', runs: 1 });
  });
});
