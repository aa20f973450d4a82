import { describe, expect, it } from 'vitest';
import { splitStatements } from './migrate.js';

describe('statements of a file', () => {
  it('end at semicolons', () => {
    expect(splitStatements('SELECT 1;\nSELECT 2;\n')).toEqual(['SELECT 1', 'SELECT 2']);
  });

  it.each([
    ['a string', `SELECT 'a;b'`],
    ['a string with an escaped quote', `SELECT 'a\\';b', 'it'';s'`],
    ['a line comment', 'SELECT 1 -- one; two'],
    ['a comment with a quote', `SELECT 1 -- it's; fine\n, 2`],
    ['a block comment', 'SELECT /* ; */ 1'],
    ['a quoted name', 'SELECT `a;b`, "c;d"'],
  ])('do not end inside %s', (_, text) => {
    expect(splitStatements(`${text}\n;`)).toEqual([text]);
  });

  it('may lack the last semicolon, and comments are no statement', () => {
    expect(splitStatements('SELECT 1;\nSELECT 2\n')).toEqual(['SELECT 1', 'SELECT 2']);
    expect(splitStatements('SELECT 1;\n-- the end\n')).toEqual(['SELECT 1']);
  });
});
