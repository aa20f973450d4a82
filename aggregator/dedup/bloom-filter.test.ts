import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BloomFilter } from './bloom-filter.js';

function idHash(index: number): string {
  return createHash('sha256').update(`id-${index}`).digest('hex').slice(0, 32);
}

describe('BloomFilter', () => {
  it('never forgets an id, across the growth of several layers', () => {
    const filter = new BloomFilter();
    const added = Array.from({ length: 300_000 }, (_, index) => idHash(index));
    for (const hash of added) filter.add(hash);
    expect(added.filter((hash) => !filter.mayContain(hash))).toEqual([]);
    expect(filter.size).toBe(300_000);
  });

  it('is wrong about fewer than one unknown id in 400', () => {
    const filter = new BloomFilter(100_000);
    for (let index = 0; index < 100_000; index += 1) filter.add(idHash(index));
    const unknown = Array.from({ length: 100_000 }, (_, index) => idHash(1_000_000 + index));
    const wrong = unknown.filter((hash) => filter.mayContain(hash)).length;
    expect(wrong).toBeLessThan(250);
  });

  it('knows nothing when it is empty', () => {
    expect(new BloomFilter().mayContain(idHash(1))).toBe(false);
  });
});
