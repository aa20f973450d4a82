import { describe, expect, test } from 'vitest';
import { textRuns } from './text-runs.js';

const runsOf = (line: string): readonly (readonly [string, string])[] =>
  textRuns(line, false).map(({ text, font }) => [font, text]);

describe('a line in runs of one font and direction', () => {
  test('is one run in one script', () => {
    expect(runsOf('Acme Inc., 12')).toEqual([['latin', 'Acme Inc., 12']]);
  });

  test('changes the font with the script', () => {
    expect(runsOf('Acme 北京')).toEqual([
      ['latin', 'Acme '],
      ['chinese', '北京'],
    ]);
  });

  test('keeps the words of an Arabic name together', () => {
    expect(runsOf('شركة البرمجيات')).toEqual([['arabic', 'شركة البرمجيات']]);
  });

  test('puts an Arabic line right to left, with its numbers left to right', () => {
    expect(runsOf('شارع 12, الرياض')).toEqual([
      ['arabic', 'الرياض'],
      ['latin', ' ,'],
      ['latin', '12'],
      ['arabic', 'شارع '],
    ]);
  });
});
