import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { partitionsOf } from './assign-partitions.js';

const membersArbitrary = fc.uniqueArray(fc.string({ minLength: 1 }), {
  minLength: 1,
  maxLength: 9,
});

describe('partitionsOf', () => {
  it('gives every partition exactly one owner, whatever the order members are listed in', () => {
    fc.assert(
      fc.property(membersArbitrary, fc.integer({ min: 1, max: 64 }), (members, count) => {
        const owned = members.flatMap((member, index) =>
          partitionsOf(member, index % 2 === 0 ? members : [...members].reverse(), count),
        );
        expect([...owned].sort((a, b) => a - b)).toEqual(
          Array.from({ length: count }, (_, p) => p),
        );
      }),
    );
  });

  it('shares partitions evenly', () => {
    fc.assert(
      fc.property(membersArbitrary, fc.integer({ min: 1, max: 64 }), (members, count) => {
        const sizes = members.map((member) => partitionsOf(member, members, count).length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('gives nothing to a member that is not listed', () => {
    expect(partitionsOf('c', ['a', 'b'], 4)).toEqual([]);
  });
});
