import { describe, expect, it } from 'vitest';
import { AssertionFailed, mustGet, zip } from './failure.js';

describe('mustGet', () => {
  it('returns what the map has, a zero too', () => {
    expect(mustGet(new Map([['a', 0]]), 'a', 'the amount')).toBe(0);
  });

  it('fails for a key that the map lacks, and says what is missing', () => {
    const amounts = new Map([['a', 1]]);
    amounts.delete('a');
    expect(() => mustGet(amounts, 'a', 'the amount')).toThrow(AssertionFailed);
    expect(() => mustGet(amounts, 'a', 'the amount')).toThrow('the amount is missing');
  });
});

describe('zip', () => {
  it('pairs the elements at the same places, null and undefined too', () => {
    expect(zip(['a', 'b', 'c'], [1, null, undefined])).toEqual([
      ['a', 1],
      ['b', null],
      ['c', undefined],
    ]);
    expect(zip([], [])).toEqual([]);
  });

  it.each([
    ['the first', [1], [1, 2]],
    ['the second', [1, 2], [1]],
    ['all of the second', [1], []],
  ])('fails when %s lacks one element', (_, left, right) => {
    expect(() => zip(left, right)).toThrow(AssertionFailed);
  });
});
