import { sql } from 'slonik';
import { z } from 'zod';
import { isOfEnvironment } from '../../records/conditions.js';
import type { Expansion } from '../../records/expand-record.js';
import { findRecords, holdRecords } from '../../records/find-record.js';
import type { ReadUnit } from '../../records/unit.js';
import {
  GROUPS,
  groupToDto,
  type GroupDto,
  type GroupRow,
} from '../../declarations/catalog/group.resource.js';

const memberRow = z.object({ group_id: z.string(), id: z.string() });

/** Published records of these groups, oldest first; a group without any is left out. */
async function findMemberIds(
  { tx }: ReadUnit,
  groups: readonly GroupRow[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (groups.length === 0) return new Map();
  const groupIds = groups.map(({ id }) => id);
  const belongs = sql.fragment`group_id = ANY (${sql.array(groupIds, 'text')})
    AND status = 'published'`;
  const rows = await tx.any(sql.type(memberRow)`
    SELECT group_id, id FROM (
      SELECT group_id, id, created_at FROM features
      WHERE ${belongs} AND ${isOfEnvironment}
      UNION ALL
      SELECT group_id, id, created_at FROM prices
      WHERE ${belongs} AND ${isOfEnvironment}) AS members
    ORDER BY created_at, id`);
  const members = new Map<string, string[]>(groupIds.map((id) => [id, []]));
  for (const row of rows) members.get(row.group_id)?.push(row.id);
  return members;
}

/** Groups as they are answered, with the ids of their records. */
export async function groupsToDto(
  unit: ReadUnit,
  groups: readonly GroupRow[],
): Promise<readonly GroupDto[]> {
  const members = await findMemberIds(unit, groups);
  return groups.map((row) => groupToDto(row, members.get(row.id) ?? []));
}

/**
 * Takes those records out of their group whose group is archived: a copy cannot join it, though its
 * source still names it.
 */
export async function withoutArchivedGroups<Row extends { readonly group_id: string | null }>(
  unit: ReadUnit,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const groups = await holdRecords(
    unit,
    GROUPS,
    rows.flatMap((row) => row.group_id ?? []),
  );
  return rows.map((row) => {
    const isPublished = groups.get(row.group_id ?? '')?.status === 'published';
    return isPublished ? row : { ...row, group_id: null };
  });
}

/** Expands `group` of whatever has a group_id; null when it has none. */
export const expandGroup: Expansion<{ readonly group_id: string | null }, GroupDto | null> = async (
  unit,
  rows,
) => {
  const named = rows.flatMap((row) => row.group_id ?? []);
  const groups = await groupsToDto(unit, [...(await findRecords(unit, GROUPS, named)).values()]);
  const byId = new Map(groups.map((group) => [group.id, group]));
  return (row) => byId.get(row.group_id ?? '') ?? null;
};
