import { describe, expect, test } from 'vitest';
import { Turns } from './turns.js';

describe('turns', () => {
  test('pass over who had one, until a new round begins', () => {
    const turns = new Turns(2);
    expect(turns.beginRound()).toBe(false);
    turns.serve('a');
    turns.serve('b');
    expect(turns.passed).toEqual(['a', 'b']);
    expect(turns.beginRound()).toBe(true);
    expect(turns.passed).toEqual([]);
  });

  test('pass over who has as many running as one may have, in every round', () => {
    const turns = new Turns(2);
    turns.begin('a');
    expect(turns.passed).toEqual([]);
    turns.begin('a');
    expect([turns.beginRound(), turns.passed]).toEqual([false, ['a']]);
    turns.end('a');
    expect(turns.passed).toEqual([]);
  });
});
