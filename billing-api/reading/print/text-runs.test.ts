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

  test('turns the brackets of an Arabic name around, in a font that has them', () => {
    expect(runsOf('شركة (ش.م.ك)')).toEqual([
      ['latin', '('],
      ['arabic', 'ش.م.ك'],
      ['latin', ')'],
      ['arabic', 'شركة '],
    ]);
  });

  test('takes marks of several scripts from the font of theirs', () => {
    expect(runsOf('タワー')).toEqual([['chinese', 'タワー']]);
    expect(runsOf('قطعة 5، مبنى')).toEqual([
      ['arabic', '، مبنى'],
      ['latin', '5'],
      ['arabic', 'قطعة '],
    ]);
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
