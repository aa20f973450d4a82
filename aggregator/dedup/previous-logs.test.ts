import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { partitionOf } from '../../contract/event-key.js';
import { previousShardsOf, type PreviousShard } from './previous-logs.js';

const counts = fc.integer({ min: 1, max: 64 });

function partitionsOf(shards: readonly PreviousShard[], log: string): readonly number[] {
  return shards.flatMap((shard) => ('log' in shard && shard.log === log ? shard.partitions : []));
}

describe('the ids of earlier logs that a partition needs', () => {
  it('stand in a partition of the earlier log that it reads, whatever the numbers of partitions', () => {
    fc.assert(
      fc.property(fc.string(), counts, counts, (key, before, now) => {
        const present = { log: 'now', partitionCount: now };
        const shards = previousShardsOf(partitionOf(key, now), present, [
          { log: 'before', partitionCount: before },
        ]);
        expect(partitionsOf(shards, 'before')).toContain(partitionOf(key, before));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    { of: 'one partition, when both logs have as many', before: 12, now: 12, expected: [5] },
    { of: 'one partition, when the new log has a multiple', before: 12, now: 24, expected: [5] },
    { of: 'every second partition', before: 4, now: 6, expected: [1, 3] },
    { of: 'all, when nothing is common', before: 4, now: 9, expected: [0, 1, 2, 3] },
  ])('are those of $of', ({ before, now, expected }) => {
    const present = { log: 'now', partitionCount: now };
    const shards = previousShardsOf(5, present, [{ log: 'before', partitionCount: before }]);
    expect(partitionsOf(shards, 'before')).toEqual(expected);
  });

  it('are all those of a log whose number of partitions nobody knows', () => {
    const present = { log: 'now', partitionCount: 4 };
    const shards = previousShardsOf(1, present, [{ log: 'before', partitionCount: 4 }]);
    expect(shards.at(-1)).toEqual({ otherThan: ['now', 'before'] });
  });
});
