import { describe, expect, it } from 'vitest';
import { propertyFiltersProblem } from './property-filters.js';

const withKeys = (count: number): Record<string, string[]> =>
  Object.fromEntries([...Array(count).keys()].map((index) => [`k${index}`, ['a']]));
const withTexts = (count: number): Record<string, string[]> => ({
  a: [...Array(count).keys()].map(String),
});

describe('limits of property filters', () => {
  it.each<[string, Record<string, string[]>]>([
    ['no key', {}],
    ['99 keys', withKeys(99)],
    ['100 keys', withKeys(100)],
    ['a key of 254 characters', { ['a'.repeat(254)]: ['x'] }],
    ['a key of 255 characters', { ['a'.repeat(255)]: ['x'] }],
    ['999 texts', withTexts(999)],
    ['1,000 texts', withTexts(1_000)],
    ['an empty text', { a: [''] }],
  ])('allow %s', (_, filters) => {
    expect(propertyFiltersProblem(filters)).toBeNull();
  });

  it.each<[string, Record<string, string[]>, string]>([
    ['101 keys', withKeys(101), 'at most 100 property keys'],
    ['20,000 keys', withKeys(20_000), 'at most 100 property keys'],
    ['a key of 256 characters', { ['a'.repeat(256)]: ['x'] }, 'at most 255 characters'],
    ['1,001 texts', withTexts(1_001), 'at most 1000 texts'],
    ['an empty key', { '': ['x'] }, 'at least one text'],
    ['no text', { a: [] }, 'at least one text'],
  ])('refuse %s', (_, filters, remedy) => {
    expect(propertyFiltersProblem(filters)).toContain(remedy);
  });
});
