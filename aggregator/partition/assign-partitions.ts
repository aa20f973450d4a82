/**
 * Which partitions one of the members should own: every partition has exactly one owner in
 * everybody's view of the same members, and shares differ by at most one. Members are ranked by
 * their ids, so all of them compute the same.
 */
export function partitionsOf(
  member: string,
  members: readonly string[],
  partitionCount: number,
): readonly number[] {
  const ranked = [...new Set(members)].sort();
  const rank = ranked.indexOf(member);
  if (rank < 0) return [];
  const partitions: number[] = [];
  for (let partition = rank; partition < partitionCount; partition += ranked.length) {
    partitions.push(partition);
  }
  return partitions;
}
