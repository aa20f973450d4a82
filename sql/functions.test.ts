import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { releaseVersion } from '../runtime/project.js';
import { FUNCTIONS_FOLDER, pendingFunctions, readFunctions } from './functions.js';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'minutebook-functions-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const namesOf = (functions: readonly { readonly name: string }[]): readonly string[] =>
  functions.map(({ name }) => name);

describe('functions', () => {
  it('are read behind those that they name, comments aside', () => {
    const functions = readFunctions(
      folderWith({
        'first.sql': '-- Not after fourth.\nSELECT second()',
        'second.sql': 'SELECT third(), second()',
        'third.sql': 'SELECT 1',
        'fourth.sql': 'SELECT first()',
      }),
    );
    expect(namesOf(functions)).toEqual(['third', 'second', 'first', 'fourth']);
  });

  it('are refused when they name each other', () => {
    const folder = folderWith({ 'a.sql': 'SELECT b()', 'b.sql': 'SELECT a()', 'c.sql': '' });
    expect(() => readFunctions(folder)).toThrow('have no order: a, b');
  });

  it('are refused when a file has another name', () => {
    expect(() => readFunctions(folderWith({ '0001_a.sql': '' }))).toThrow('0001_a.sql must have');
  });

  it('are none where there is no folder', () => {
    expect(readFunctions(join(folderWith({}), 'functions'))).toEqual([]);
  });

  it('are in the files that bear their names', () => {
    for (const { name, text } of readFunctions(FUNCTIONS_FOLDER)) {
      expect(text).toMatch(new RegExp(`CREATE OR REPLACE (FUNCTION|VIEW) ${name}\\b`));
    }
  });

  it('are pending until they are applied, and when they have changed', () => {
    const functions = readFunctions(folderWith({ 'a.sql': 'a', 'b.sql': 'b', 'c.sql': 'c' }));
    const noted = functions.map(({ name, checksum }) => ({
      name,
      checksum: name === 'b' ? 'other' : checksum,
      release: releaseVersion(),
    }));
    expect(namesOf(pendingFunctions(functions, noted.slice(0, 2)))).toEqual(['b', 'c']);
  });

  it('are left to a later release that has applied them', () => {
    const [one, two] = releaseVersion().split('.', 2);
    const functions = readFunctions(folderWith({ 'a.sql': 'a' }));
    const notedBy = (release: string) => [{ name: 'a', checksum: 'other', release }];
    expect(pendingFunctions(functions, notedBy(`${one}.${two}.100`))).toEqual([]);
    expect(pendingFunctions(functions, notedBy('0.0.9'))).toEqual(functions);
  });
});
