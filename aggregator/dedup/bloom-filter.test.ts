import { createCipheriv } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BloomFilter, bytesPerIdMax, ID_BYTES, SMALL_FILTER_IDS } from './bloom-filter.js';

/** So many random ids, the same at every run; those of another seed are others. */
function idsOf(seed: number, count: number): Buffer {
  const key = Buffer.alloc(16, seed);
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(
    Buffer.alloc(count * ID_BYTES),
  );
}

function countKnown(filter: BloomFilter, ids: Buffer): number {
  let known = 0;
  for (let at = 0; at < ids.length; at += ID_BYTES) if (filter.mayContain(ids, at)) known += 1;
  return known;
}

/** Five standard deviations above the mean of so many independent trials. */
function clearlyMore(trials: number, rate: number): number {
  return trials * rate + 5 * Math.sqrt(trials * rate);
}

const RATES = [0.1, 0.01, 0.001];

describe('BloomFilter', () => {
  it('never forgets an id, across the growth of several layers', () => {
    const filter = new BloomFilter({ falsePositiveRate: 0.01 });
    const ids = idsOf(1, 600_000);
    filter.add(ids);
    expect(filter.isOvergrown).toBe(true);
    expect(countKnown(filter, ids)).toBe(600_000);
    expect(filter.size).toBe(600_000);
  });

  it.each(RATES)('is wrong about no larger share of unknown ids than %d when built', (rate) => {
    const filter = new BloomFilter({ falsePositiveRate: rate, expectedIds: 200_000 });
    filter.add(idsOf(2, 200_000));
    const wrong = countKnown(filter, idsOf(3, 400_000));
    expect(wrong).toBeLessThan(clearlyMore(400_000, rate));
  });

  it.each(RATES)('keeps to %d while the ids double after it was built', (rate) => {
    const filter = new BloomFilter({ falsePositiveRate: rate, expectedIds: 200_000 });
    filter.add(idsOf(2, 400_000));
    expect(filter.isOvergrown).toBe(false);
    const wrong = countKnown(filter, idsOf(3, 400_000));
    expect(wrong).toBeLessThan(clearlyMore(400_000, rate));
  });

  it('spends its bits well: a full layer is wrong as often as the formula says', () => {
    // One layer of 240,000 ids takes a fifth of the rate.
    const filter = new BloomFilter({ falsePositiveRate: 0.05, expectedIds: 200_000 });
    filter.add(idsOf(2, 240_000));
    const wrong = countKnown(filter, idsOf(3, 1_000_000));
    expect(Math.abs(wrong - 10_000)).toBeLessThan(500);
  });

  it('takes no more memory for each id than it states, at every size but small ones', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0.1, 0.01, 0.0001),
        fc.integer({ min: 0, max: 400_000 }),
        fc.integer({ min: SMALL_FILTER_IDS, max: 700_000 }),
        (falsePositiveRate, expected, size) => {
          const expectedIds = Math.min(expected, size);
          const filter = new BloomFilter({ falsePositiveRate, expectedIds });
          filter.add(NO_MATTER_WHICH.subarray(0, size * ID_BYTES));
          // A word a layer is lost to rounding.
          const bound = bytesPerIdMax(falsePositiveRate) * size + 100;
          expect(filter.bytes).toBeLessThanOrEqual(bound);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('takes less than two bytes for each id at the default rate', () => {
    expect(bytesPerIdMax(0.01)).toBeLessThan(2);
  });

  it('works beyond 2^32 bits', () => {
    const filter = new BloomFilter({ falsePositiveRate: 0.01, expectedIds: 320_000_000 });
    expect(filter.bytes * 8).toBeGreaterThan(2 ** 32);
    const ids = idsOf(4, 2_000);
    filter.add(ids);
    expect(countKnown(filter, ids)).toBe(2_000);
    expect(countKnown(filter, idsOf(3, 20_000))).toBe(0);
  });

  it('knows nothing when it is empty', () => {
    expect(new BloomFilter({ falsePositiveRate: 0.01 }).mayContain(idsOf(5, 1), 0)).toBe(false);
  });
});

const NO_MATTER_WHICH = idsOf(6, 700_000);
