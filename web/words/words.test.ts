import { describe, expect, test } from 'vitest';
import { languageOf, LANGUAGES, t } from './words.js';

const namesIn = (text: string): readonly string[] =>
  [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).sort();

describe('words', () => {
  test('are the same in every language, with the same values put in', () => {
    const { en, de } = LANGUAGES;
    expect(Object.keys(de)).toEqual(Object.keys(en));
    for (const [word, text] of Object.entries(en)) {
      const other = Object.entries(de).find(([name]) => name === word)?.[1] ?? '';
      expect([word, namesIn(other)]).toEqual([word, namesIn(text)]);
      expect([word, other.trim()]).not.toEqual([word, '']);
    }
  });

  test('get their values', () => {
    expect(t('rows_of', { first: '1', last: '50', total: '1,753' })).toBe('1–50 of 1,753');
  });

  test.each([
    [['de-AT', 'en'], 'de'],
    [['en-US', 'de'], 'en'],
    [['fr', 'de-DE'], 'de'],
    [['fr', 'es'], 'en'],
    [[], 'en'],
  ])('for readers of %j are %s', (wanted, language) => {
    expect(languageOf(wanted)).toBe(language);
  });
});
