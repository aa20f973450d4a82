import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { markerRow, timesWritten, type WrittenOffsets } from './batch-marker.js';

type Range = { readonly start: number; readonly end: number };

/** What the table holds of these markers, merged. */
function merged(ranges: readonly Range[]): WrittenOffsets {
  const cells = ranges.map((range) => markerRow({ logId: 'log', partition: 0, ...range }).cell);
  return {
    count: cells.reduce((sum, { eventCount }) => sum + eventCount, 0),
    first: Math.min(...cells.map(({ valueMin }) => valueMin?.toNumber() ?? 0)),
    end: Math.max(0, ...cells.map(({ valueMax }) => valueMax.toNumber())),
    single: 0,
  };
}

/** Batches one after the other, from any first offset on. */
const batches = fc
  .tuple(
    fc.nat({ max: 1_000_000 }),
    fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 20 }),
  )
  .map(([first, lengths]) => {
    const ranges: Range[] = [];
    let start = first;
    for (const length of lengths) {
      ranges.push({ start, end: start + length });
      start += length;
    }
    return ranges;
  });

describe('the merged markers of a partition', () => {
  it('tell that the last batch, or the one after it, is there once, not at all, or twice', () => {
    fc.assert(
      fc.property(batches, (ranges) => {
        const last = ranges[ranges.length - 1] ?? { start: 0, end: 1 };
        const before = ranges.slice(0, -1);
        expect(timesWritten(merged(before), last)).toBe(0);
        expect(timesWritten(merged(ranges), last)).toBe(1);
        expect(timesWritten(merged([...ranges, last]), last)).toBe(2);
        const next = { start: last.end, end: last.end + 5 };
        expect(timesWritten(merged(ranges), next)).toBe(0);
        expect(timesWritten(merged([...ranges, next]), last)).toBe(1);
      }),
    );
  });

  it('never tell 0 or 1 of a batch that is there while an earlier one is missing or double', () => {
    const cases = batches.filter((ranges) => ranges.length > 2);
    fc.assert(
      fc.property(cases, fc.nat(), fc.boolean(), (ranges, draw, isDouble) => {
        const last = ranges[ranges.length - 1] ?? { start: 0, end: 1 };
        // The first batch tells where the partition began: nothing is known of what was before it.
        const at = 1 + (draw % (ranges.length - 2));
        const changed = ranges.flatMap((range, index) =>
          index !== at ? [range] : isDouble ? [range, range] : [],
        );
        expect([0, 1]).not.toContain(timesWritten(merged(changed), last));
      }),
    );
  });

  it('contradict a batch in the middle of which they end', () => {
    const found = timesWritten(merged([{ start: 0, end: 7 }]), { start: 5, end: 9 });
    expect([0, 1]).not.toContain(found);
  });

  it('leave the marker that names its batch to speak for it', () => {
    const found = { count: 0, first: 0, end: 0, single: 1 };
    expect(timesWritten(found, { start: 5, end: 9 })).toBe(1);
    expect(timesWritten({ ...found, single: 2 }, { start: 5, end: 9 })).toBe(2);
  });
});
