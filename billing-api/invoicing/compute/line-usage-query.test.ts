import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutOverlap } from './line-usage-query.js';

const interval = fc
  .tuple(fc.nat(50), fc.integer({ min: 1, max: 20 }))
  .map(([startMs, length]) => ({ startMs, endMs: startMs + length }));

describe('withoutOverlap', () => {
  it('puts intervals that touch each other into one list, in the order of time', () => {
    const days = [3, 1, 2].map((day) => ({ startMs: day, endMs: day + 1 }));
    expect(withoutOverlap(days)).toEqual([days.toSorted((a, b) => a.startMs - b.startMs)]);
    expect(withoutOverlap([])).toEqual([]);
  });

  it('keeps every interval once, in lists without overlaps', () => {
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 12 }), (intervals) => {
        const lists = withoutOverlap(intervals);
        expect(lists.flat()).toHaveLength(intervals.length);
        expect(new Set(lists.flat())).toEqual(new Set(intervals));
        for (const list of lists) {
          for (const [index, { startMs }] of list.entries()) {
            expect(startMs).toBeGreaterThanOrEqual(list[index - 1]?.endMs ?? 0);
          }
        }
      }),
    );
  });
});
