import { describe, expect, test } from 'vitest';
import { nextAttempt } from './retry-schedule.js';

describe('retries', () => {
  test('follow after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, and then no more', () => {
    const pauses = Array.from({ length: 10 }, (_none, index) => nextAttempt(index + 1, 0, 0));
    const hours = (count: number) => count * 3_600_000;
    expect(pauses).toEqual([5_000, 300_000, 1_800_000, ...[2, 5, 10, 14, 20, 24].map(hours), null]);
  });

  test('are up to a tenth later', () => {
    expect([nextAttempt(1, 100, 0), nextAttempt(1, 100, 1)]).toEqual([5_100, 5_600]);
  });
});
