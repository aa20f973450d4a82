import { describe, expect, test } from 'vitest';
import { endOfRun } from './checks.mjs';

const clean = ['lint', 'format', 'imports'].map((name) => ({ name, findings: null }));
const lint = { name: 'lint', findings: 'a.ts: unused variable' };
const types = { name: 'types', findings: 'b.ts(1,1): error TS2322' };
const counts = { passed: 20, failed: 0, skipped: 0 };

describe('the end of a run of checks and tests', () => {
  test('is the counts of the tests when every check passed', () => {
    expect(endOfRun(clean, counts)).toEqual(['20 passed, 0 failed']);
    expect(endOfRun(clean, { ...counts, skipped: 3 })).toEqual([
      '3 skipped',
      '20 passed, 0 failed',
    ]);
  });

  test('tells the findings of all checks and counts each failed check beside failed tests', () => {
    expect(endOfRun([types, ...clean, lint], { ...counts, failed: 2 })).toEqual([
      'check: types FAILED',
      'b.ts(1,1): error TS2322',
      '',
      'check: lint FAILED',
      'a.ts: unused variable',
      '',
      '20 passed, 4 failed',
    ]);
  });

  test('tells the findings of the checks also when the tests have no result', () => {
    expect(endOfRun([lint], null)).toEqual([
      'check: lint FAILED',
      'a.ts: unused variable',
      '',
      'The tests ended without a result.',
    ]);
  });
});
