import { expect, test } from 'vitest';
import { Turns } from './turns.js';

test('a turn is full while as many of its items run as may at once', () => {
  const turns = new Turns(2);
  turns.begin('a');
  turns.begin('b');
  expect(turns.full).toEqual([]);
  turns.begin('a');
  expect(turns.full).toEqual(['a']);
  turns.end('a');
  turns.end('b');
  expect(turns.full).toEqual([]);
});
