import { describe, expect, it } from 'vitest';
import { noRows } from './columns.js';
import { parseStatement, statement } from './statement.js';

describe('parameters of a statement', () => {
  it('are found by name and passed in camelCase', () => {
    expect(parseStatement('SELECT :meter_id, :v2')).toEqual({
      texts: ['SELECT ', ', ', ''],
      names: ['meterId', 'v2'],
    });
  });

  it.each([
    ['a cast', 'SELECT now()::text'],
    ['a string', `SELECT 'it''s :not_me'`],
    ['a quoted name', 'SELECT ":not_me"'],
    ['a line comment', 'SELECT 1 -- :not_me'],
    ['a block comment', 'SELECT /* :not_me */ 1'],
    ['a dollar quote', 'DO $body$ SELECT :not_me $body$'],
  ])('are not seen in %s', (_, text) => {
    expect(parseStatement(text)).toEqual({ texts: [text], names: [] });
  });

  it('are recognised right before a cast', () => {
    expect(parseStatement('SELECT :at::timestamptz').names).toEqual(['at']);
  });

  it('are bound values wherever they are named', () => {
    const query = statement(
      'insert-first-key',
      noRows,
    )({
      id: 'secret_1',
      tenantId: `'; DROP TABLE secrets; --`,
      environmentId: 'env_1',
      userId: 'user_1',
      keyHash: Buffer.alloc(32),
      displayId: 'sk_ab***yz',
    });
    expect(query.sql).not.toContain('DROP TABLE');
    expect(query.values).toContain(`'; DROP TABLE secrets; --`);
  });

  it('must all be given, and no others', () => {
    const findApiKey = statement('find-api-key', noRows);
    expect(() => findApiKey({})).toThrow('needs the parameter keyHash');
    expect(() => findApiKey({ keyHash: Buffer.alloc(32), other: 1 })).toThrow(
      'has no parameter other',
    );
  });

  it('need a file that exists', () => {
    expect(() => statement('no-such-statement', noRows)).toThrow('no-such-statement.sql');
  });
});
