import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { migrationsFolder, pendingMigrations, readMigrations } from './migrations.js';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'minutebook-migrations-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

describe('migrations', () => {
  it('are read in the order of their numbers', () => {
    const folder = folderWith({ '0010_c.sql': 'c', '0001_a.sql': 'a', '0002_b.sql': 'b' });
    expect(readMigrations(folder).map((file) => file.number)).toEqual([1, 2, 10]);
  });

  it('are refused when a name has no number', () => {
    expect(() => readMigrations(folderWith({ 'tables.sql': '' }))).toThrow('0001_subject.sql');
  });

  it('are refused when two have the same number', () => {
    const folder = folderWith({ '0001_a.sql': '', '0001_b.sql': '' });
    expect(() => readMigrations(folder)).toThrow('0001_b.sql: its number is used twice');
  });

  it('are pending until they are applied', () => {
    const files = readMigrations(folderWith({ '0001_a.sql': 'a', '0002_b.sql': 'b' }));
    expect(pendingMigrations(files, files.slice(0, 1)).map((file) => file.name)).toEqual([
      '0002_b.sql',
    ]);
    expect(pendingMigrations(files, files)).toEqual([]);
  });

  it('are refused when a file was changed after it was applied, with the remedy', () => {
    const before = readMigrations(folderWith({ '0001_a.sql': 'a' }));
    const after = readMigrations(folderWith({ '0001_a.sql': 'A' }));
    expect(() => pendingMigrations(after, before)).toThrow(
      /0001_a\.sql was changed after it was applied.*Restore the file/,
    );
  });

  it('of a newer release do not stop an older one', () => {
    const files = readMigrations(folderWith({ '0001_a.sql': 'a', '0002_b.sql': 'b' }));
    expect(pendingMigrations(files.slice(0, 1), files)).toEqual([]);
  });

  it.each(['sql', 'clickhouse'] as const)('of %s are well named', (engine) => {
    expect(readMigrations(migrationsFolder(engine)).length).toBeGreaterThan(0);
  });
});
