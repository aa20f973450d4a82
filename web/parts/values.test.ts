import { describe, expect, test } from 'vitest';
import { screenOf } from './values.js';

describe('an id', () => {
  test.each([
    ['inv_01M8HQZ2XMTDXS3TXK5EDNG3E3', '/invoices/inv_01M8HQZ2XMTDXS3TXK5EDNG3E3'],
    ['subs_01M8HQZ0NYFZQSCXWJ8XWBQY80', '/subscriptions/subs_01M8HQZ0NYFZQSCXWJ8XWBQY80'],
    ['subs_line_01M8HQZ0NYFZQSCXWJ8XWBQY80', null],
    ['call-1', null],
  ])('%s leads to the screen %s', (id, path) => {
    expect(screenOf(id)).toBe(path);
  });
});
