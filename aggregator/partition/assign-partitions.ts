/** One partition as PostgreSQL has it. */
export type Holding = {
  readonly owner: string | null;
  /** The member that gave the partition up while it stayed alive, and still knows its ids. */
  readonly keptBy: string | null;
};

/** Who shares the partitions, as one reading of PostgreSQL shows it. */
export type Sharing = {
  /** Living processes that may own partitions; those that are leaving are not among them. */
  readonly members: readonly string[];
  /** Living processes that are on their way out: they own what they have not released yet. */
  readonly leaving: readonly string[];
  /** By partition number. */
  readonly holdings: readonly Holding[];
};

/** What one member should do about one partition that is not its own yet. */
export type Claim = { readonly partition: number; readonly from: string | null };

export type SharingPlan = {
  /** Owned and to be run. */
  readonly keep: readonly number[];
  /** Owned, and due to another member. */
  readonly give: readonly number[];
  /** Due to this member and owned by nobody who lives. */
  readonly claim: readonly Claim[];
  /** Due to this member; the living owner is about to release it. */
  readonly awaited: readonly Claim[];
};

/** How many partitions each member should have: the fullest get the remainder, then by id. */
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
 * assigned, shares differ by at most one, and as few partitions change hands as that allows: an
 * owner keeps what fits its share (its lowest numbers), and only the surplus and what has no owner
 * moves, preferably back to the member that kept its filter. Whoever reads the same rows computes
 * the same, in whatever order they are listed.
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

/** What the assignment asks of one member. */
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
