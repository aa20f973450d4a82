import { describe, expect, it } from 'vitest';
import { copiesRows } from './guard-copies.js';

describe('a migration of ClickHouse copies rows', () => {
  it.each([
    'INSERT INTO a SELECT * FROM b',
    'exchange tables a and b',
    '-- with a comment\nRENAME TABLE a TO b, c TO a',
    '/* and another */ ALTER TABLE a REPLACE PARTITION 1 FROM b',
    'ALTER TABLE a ATTACH PARTITION ALL FROM b',
  ])('with %s', (statement) => {
    expect(copiesRows(['SELECT 1', statement])).toBe(true);
  });

  it.each([
    'CREATE TABLE IF NOT EXISTS a (id UInt64) ENGINE = MergeTree ORDER BY id',
    '-- INSERT INTO a SELECT * FROM b\nALTER TABLE a ADD COLUMN IF NOT EXISTS b String',
    'ALTER TABLE a ADD INDEX IF NOT EXISTS c b TYPE minmax',
  ])('not with %s', (statement) => {
    expect(copiesRows([statement])).toBe(false);
  });
});
