import { describe, expect, test } from 'vitest';
import { createRateLimit } from './rate-limit.js';

/** Whether each of so many requests of the key is allowed. */
function takeMany(limit: ReturnType<typeof createRateLimit>, key: string, requests: number) {
  return Array.from({ length: requests }, () => limit.take(key)?.isAllowed);
}

describe('the quota of an environment', () => {
  test('allows so many requests in a second and no more, and says what is left', () => {
    const limit = createRateLimit('events', 3, () => 0);
    expect(limit.take('a')).toEqual({ isAllowed: true, remaining: 2, resetSeconds: 1 });
    expect(takeMany(limit, 'a', 3)).toEqual([true, true, false]);
    expect(limit.take('a')).toEqual({ isAllowed: false, remaining: 0, resetSeconds: 1 });
  });

  test('is counted for each environment apart', () => {
    const limit = createRateLimit('events', 1, () => 0);
    expect(takeMany(limit, 'a', 2)).toEqual([true, false]);
    expect(takeMany(limit, 'b', 2)).toEqual([true, false]);
  });

  test('is whole again when the second is over, and not before', () => {
    let nowMs = 5_000;
    const limit = createRateLimit('events', 1, () => nowMs);
    expect(takeMany(limit, 'a', 2)).toEqual([true, false]);
    nowMs = 5_999.9;
    expect(takeMany(limit, 'a', 1)).toEqual([false]);
    nowMs = 6_000;
    expect(takeMany(limit, 'a', 2)).toEqual([true, false]);
  });

  test('has headers with the policy, and with what is left when the caller is known', () => {
    const limit = createRateLimit('events', 2, () => 0);
    const policy = ['RateLimit-Policy', '"events";q=2;w=1'];
    expect(limit.headers(null)).toEqual(policy);
    expect(limit.headers(limit.take('a'))).toEqual([...policy, 'RateLimit', '"events";r=1;t=1']);
  });

  test('is neither counted nor told where there is none', () => {
    const limit = createRateLimit('events', 0);
    expect(limit.take('a')).toBeNull();
    expect(limit.headers(null)).toEqual([]);
  });
});
