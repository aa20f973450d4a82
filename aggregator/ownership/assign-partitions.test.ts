import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignPartitions, planOf, type Holding, type Sharing } from './assign-partitions.js';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'] as const;
const membersArbitrary = fc.shuffledSubarray([...NAMES], { minLength: 1 });
const countArbitrary = fc.integer({ min: 1, max: 64 });
/** Owners as they may be found: living, dead ("gone") or none. */
const holdingArbitrary = fc.record({
  owner: fc.option(fc.constantFrom(...NAMES, 'gone')),
  keptBy: fc.option(fc.constantFrom(...NAMES, 'gone')),
});
const sharingArbitrary: fc.Arbitrary<Sharing> = fc.record({
  members: membersArbitrary,
  leaving: fc.constant([]),
  holdings: fc.array(holdingArbitrary, { minLength: 1, maxLength: 64 }),
});

function fresh(count: number): readonly Holding[] {
  return Array.from({ length: count }, () => ({ owner: null, keptBy: null }));
}

/** The rows after everybody has done what the assignment asks. */
function settle(members: readonly string[], holdings: readonly Holding[]): readonly Holding[] {
  const owners = assignPartitions({ members, leaving: [], holdings });
  return owners.map((owner) => ({ owner, keptBy: null }));
}

function movedBetween(before: readonly Holding[], after: readonly Holding[]): readonly number[] {
  return before.flatMap(({ owner }, at) => (owner === after[at]?.owner ? [] : [at]));
}

function sharesOf(members: readonly string[], owners: readonly (string | null)[]): number[] {
  return members.map((member) => owners.filter((owner) => owner === member).length);
}

describe('assignPartitions', () => {
  it('gives every partition to exactly one member, in shares that differ by one at most', () => {
    fc.assert(
      fc.property(sharingArbitrary, (sharing) => {
        const owners = assignPartitions(sharing);
        expect(owners).toHaveLength(sharing.holdings.length);
        const shares = sharesOf(sharing.members, owners);
        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(owners.length);
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('is the same for everybody, in whatever order the members are listed', () => {
    fc.assert(
      fc.property(sharingArbitrary, (sharing) => {
        const members = [...sharing.members].reverse();
        expect(assignPartitions({ ...sharing, members })).toEqual(assignPartitions(sharing));
      }),
    );
  });

  it('changes nothing once everybody has done what it asks', () => {
    fc.assert(
      fc.property(sharingArbitrary, ({ members, holdings }) => {
        const settled = settle(members, holdings);
        expect(settle(members, settled)).toEqual(settled);
      }),
    );
  });

  it('moves as few partitions as equal shares allow, from whatever it finds', () => {
    fc.assert(
      fc.property(sharingArbitrary, (sharing) => {
        const { members, holdings } = sharing;
        const owners = assignPartitions(sharing);
        const stayed = holdings.filter(
          ({ owner }, at) => owner !== null && owner === owners[at],
        ).length;
        // What any equal sharing can leave in place: the fullest members get the larger shares.
        const share = Math.floor(holdings.length / members.length);
        const remainder = holdings.length % members.length;
        const found = sharesOf(
          members,
          holdings.map(({ owner }) => owner),
        );
        const possible = found
          .sort((left, right) => right - left)
          .map((count, rank) => Math.min(count, rank < remainder ? share + 1 : share))
          .reduce((sum, count) => sum + count, 0);
        expect(stayed).toBe(possible);
      }),
    );
  });

  it('moves at most one share, and only to the newcomer, when a member joins', () => {
    fc.assert(
      fc.property(membersArbitrary, countArbitrary, (members, count) => {
        const before = settle(members, fresh(count));
        const after = settle([...members, 'new'], before);
        const moved = movedBetween(before, after);
        expect(moved.length).toBeLessThanOrEqual(Math.ceil(count / (members.length + 1)));
        expect(moved.filter((at) => after[at]?.owner !== 'new')).toEqual([]);
      }),
    );
  });

  it('moves only what the leaver had when a member leaves', () => {
    fc.assert(
      fc.property(membersArbitrary, countArbitrary, (members, count) => {
        const leaver = members[0];
        fc.pre(members.length > 1);
        const before = settle(members, fresh(count));
        const after = settle(members.slice(1), before);
        const moved = movedBetween(before, after);
        expect(moved).toEqual(before.flatMap(({ owner }, at) => (owner === leaver ? [at] : [])));
      }),
    );
  });

  it('stays equal and sparing through any row of joins and leaves', () => {
    const changes = fc.array(fc.constantFrom(...NAMES), { maxLength: 30 });
    fc.assert(
      fc.property(changes, countArbitrary, (names, count) => {
        let members: readonly string[] = ['first'];
        let holdings = settle(members, fresh(count));
        for (const name of names) {
          const isLeave = members.includes(name);
          members = isLeave ? members.filter((member) => member !== name) : [...members, name];
          const next = settle(members, holdings);
          const moved = movedBetween(holdings, next);
          const isExpected = (at: number): boolean =>
            isLeave ? holdings[at]?.owner === name : next[at]?.owner === name;
          expect(moved.filter((at) => !isExpected(at))).toEqual([]);
          holdings = next;
        }
      }),
    );
  });

  it('gives a partition back to the member that kept its filter', () => {
    const holdings: readonly Holding[] = [
      { owner: 'a', keptBy: null },
      { owner: 'b', keptBy: null },
      { owner: 'gone', keptBy: 'b' },
      { owner: 'gone', keptBy: 'a' },
    ];
    const sharing = { members: ['a', 'b'], leaving: [], holdings };
    expect(assignPartitions(sharing)).toEqual(['a', 'b', 'b', 'a']);
  });

  it('gives nothing to anybody when there is nobody', () => {
    const holdings = fresh(3);
    expect(assignPartitions({ members: [], leaving: [], holdings })).toEqual([null, null, null]);
  });
});

describe('planOf', () => {
  const holding = (owner: string | null): Holding => ({ owner, keptBy: null });

  it('claims what nobody living owns and waits for what a living member still owns', () => {
    const sharing: Sharing = {
      members: ['a', 'b'],
      leaving: ['c'],
      holdings: ['a', 'a', 'a', 'c', null, 'gone'].map(holding),
    };
    expect(planOf('a', sharing)).toEqual({ keep: [0, 1, 2], give: [], claim: [], awaited: [] });
    expect(planOf('b', sharing)).toEqual({
      keep: [],
      give: [],
      claim: [
        { partition: 4, from: null },
        { partition: 5, from: 'gone' },
      ],
      awaited: [{ partition: 3, from: 'c' }],
    });
    expect(planOf('c', sharing)).toMatchObject({ keep: [], give: [3], claim: [], awaited: [] });
  });

  it('lets no two members claim one partition, and somebody answer for each', () => {
    fc.assert(
      fc.property(sharingArbitrary, (sharing) => {
        const plans = sharing.members.map((member) => planOf(member, sharing));
        const wanted = plans.flatMap(({ keep, claim, awaited }) => [
          ...keep,
          ...[...claim, ...awaited].map(({ partition }) => partition),
        ]);
        expect([...wanted].sort((left, right) => left - right)).toEqual(
          sharing.holdings.map((_, at) => at),
        );
      }),
    );
  });
});
