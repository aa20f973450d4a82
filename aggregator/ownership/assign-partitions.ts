/** One partition as PostgreSQL has it. */
export type Holding = {
  readonly owner: string | null;
  /** The live member that owned the partition before and still has its id filter. */
  readonly keptBy: string | null;
};

/** Who shares the partitions, as read from PostgreSQL at one time. */
export type Sharing = {
  /** Live processes that may own partitions, without those that are leaving. */
  readonly members: readonly string[];
  /** Live processes that are shutting down and still own what they have not released. */
  readonly leaving: readonly string[];
  /** By partition number. */
  readonly holdings: readonly Holding[];
};

/** A partition that a member should become the owner of, and the owner that it saw. */
export type Claim = { readonly partition: number; readonly from: string | null };

export type SharingPlan = {
  /** Partitions that this member owns and keeps. */
  readonly keep: readonly number[];
  /** Partitions that this member owns and must release to another member. */
  readonly give: readonly number[];
  /** Partitions assigned to this member that have no live owner. */
  readonly claim: readonly Claim[];
  /** Partitions assigned to this member whose live owner must release them first. */
  readonly awaited: readonly Claim[];
};

/** How many partitions each member should have; those that have most get the remainder. */
function quotasOf(counts: ReadonlyMap<string, number>, total: number): Map<string, number> {
  const byFullness = [...counts].sort(([leftId, left], [rightId, right]) =>
    left === right ? (leftId < rightId ? -1 : 1) : right - left,
  );
  const share = Math.floor(total / byFullness.length);
  const remainder = total % byFullness.length;
  return new Map(
    byFullness.map(([member], rank) => [member, rank < remainder ? share + 1 : share]),
  );
}

function countHoldings({ members, holdings }: Sharing): Map<string, number> {
  const counts = new Map<string, number>();
  for (const member of [...members].sort()) counts.set(member, 0);
  for (const { owner } of holdings) {
    const count = owner === null ? undefined : counts.get(owner);
    if (owner !== null && count !== undefined) counts.set(owner, count + 1);
  }
  return counts;
}

/**
 * Which member should own each partition; null only when there is no member. Every partition is
 * assigned, shares differ by at most one, and as few partitions as possible change their owner: an
 * owner keeps what fits its share (its lowest numbers). Only the surplus and partitions without an
 * owner move, preferably to the member that kept their filter. All members compute the same from
 * the same rows, in whatever order the rows are listed.
 */
export function assignPartitions(sharing: Sharing): readonly (string | null)[] {
  const { holdings } = sharing;
  if (sharing.members.length === 0) return holdings.map(() => null);
  const room = quotasOf(countHoldings(sharing), holdings.length);
  const takeRoom = (member: string | null): string | null => {
    const free = member === null ? 0 : (room.get(member) ?? 0);
    if (member === null || free === 0) return null;
    room.set(member, free - 1);
    return member;
  };
  const kept = holdings.map(({ owner }) => takeRoom(owner));
  const returned = kept.map((owner, at) => owner ?? takeRoom(holdings[at]?.keptBy ?? null));
  const others = [...room].flatMap(([member, free]) => Array.from({ length: free }, () => member));
  return returned.map((owner) => owner ?? others.shift() ?? null);
}

/** What one member must do so that the assignment comes true. */
export function planOf(memberId: string, sharing: Sharing): SharingPlan {
  const living = new Set([...sharing.members, ...sharing.leaving]);
  const plan = { keep: [] as number[], give: [] as number[] };
  const wanted = { claim: [] as Claim[], awaited: [] as Claim[] };
  for (const [partition, target] of assignPartitions(sharing).entries()) {
    const from = sharing.holdings[partition]?.owner ?? null;
    const isTarget = target === memberId;
    if (from === memberId) plan[isTarget ? 'keep' : 'give'].push(partition);
    else if (isTarget) {
      const isHeld = from !== null && living.has(from);
      wanted[isHeld ? 'awaited' : 'claim'].push({ partition, from });
    }
  }
  return { ...plan, ...wanted };
}
