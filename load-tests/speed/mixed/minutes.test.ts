import { describe, expect, it } from 'vitest';
import { growthOfLastHalf, MinuteLatencies, slopeOf } from './minutes.js';

describe('the minutes of a run', () => {
  it('have the p99 of what was recorded in each, and the run that of all', () => {
    const latencies = new MinuteLatencies();
    for (let ms = 1; ms <= 100; ms += 1) latencies.record('single', ms);
    latencies.endMinute(1);
    latencies.record('single', 500);
    latencies.endMinute(2);
    expect(latencies.p99s('single').map(Math.round)).toEqual([99, 500]);
    expect(latencies.count('single')).toBe(101);
    expect(Math.round(latencies.at('single', 50))).toBe(51);
  });

  it('show growth by the line through the last half, and none of a level that swings', () => {
    const points = Array.from({ length: 60 }, (_, x) => [x, x < 30 ? 10 * x : 300 + x] as const);
    expect(growthOfLastHalf(points)).toBeCloseTo(29);
    const level = Array.from({ length: 60 }, (_, x) => [x, 100 + (x % 2)] as const);
    expect(Math.abs(growthOfLastHalf(level))).toBeLessThan(1);
    expect(slopeOf([[1, 1]])).toBe(0);
  });
});
