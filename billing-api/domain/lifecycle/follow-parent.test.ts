import { expect, test } from 'vitest';
import { moveToFollow } from './follow-parent.js';

test('a child goes where its parent is (29.1)', () => {
  expect(moveToFollow('active', 'active')).toBe(null);
  expect(moveToFollow('trialing', 'active')).toBe('end_trial');
  expect(moveToFollow('active', 'paused')).toBe('pause');
  expect(moveToFollow('paused', 'active')).toBe('resume');
  expect(moveToFollow('paused', 'cancelled')).toBe('cancel');
  expect(moveToFollow('trialing', 'cancelled')).toBe('cancel');
  expect(moveToFollow('cancelled', 'cancelled')).toBe(null);
});
