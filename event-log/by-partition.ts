import type { AppendRequest } from './event-log.js';

/** Records by partition; those of one partition keep their order. */
export function byPartition(
  records: readonly AppendRequest[],
): ReadonlyMap<number, readonly AppendRequest[]> {
  const groups = new Map<number, AppendRequest[]>();
  for (const record of records) {
    const group = groups.get(record.partition);
    if (group === undefined) groups.set(record.partition, [record]);
    else group.push(record);
  }
  return groups;
}
