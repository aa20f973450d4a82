import type { Occasion } from '../../records/occasion.js';
import { removeRecord } from '../../records/change-record.js';
import { hasText, isEqual } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { readRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { searchRecords, type Page } from '../../records/search-records.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type WriteDependencies,
} from '../../records/unit.js';
import {
  GROUPS,
  groupToDto,
  type CreateGroupBody,
  type GroupDto,
  type GroupRow,
  type SearchGroupsBody,
} from '../../declarations/catalog/group.resource.js';
import { groupsToDto } from './groups-store.js';

/** POST /groups. */
export async function createGroup(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreateGroupBody,
): Promise<GroupDto | Refusal> {
  const reader = new MemberReader();
  const { entity_type, lookup_key } = body;
  const name = reader.name('name', body.name);
  const group = { name, entity_type, lookup_key, metadata: reader.metadata(body.metadata) };
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, async (unit) => {
    const row = await createRecord(unit, GROUPS, group);
    return isRefusal(row) ? row : groupToDto(row, []);
  });
}

/** GET /groups/{id}, whatever its status. */
export function readGroup(
  dependencies: ReadDependencies,
  occasion: Occasion,
  id: string,
): Promise<GroupDto | Refusal> {
  return readUnit(dependencies, occasion, async (unit) => {
    const row = await readRecord(unit, GROUPS, id);
    if (isRefusal(row)) return row;
    const [group] = await groupsToDto(unit, [row]);
    return group ?? groupToDto(row, []);
  });
}

/** POST /groups/search. */
export function searchGroups(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchGroupsBody,
): Promise<Page<GroupDto> | Refusal> {
  const conditions = [
    ...isEqual('entity_type', body.entity_type),
    ...isEqual('lookup_key', body.lookup_key),
    ...hasText('name', body.name_contains),
  ];
  return readUnit(dependencies, occasion, async (unit) => {
    const page = await searchRecords(unit, GROUPS, { request: body, conditions });
    if (isRefusal(page)) return page;
    return { ...page, items: await groupsToDto(unit, page.items) };
  });
}

/** DELETE /groups/{id}: archives the group; its records keep its id. */
export function archiveGroup(
  dependencies: WriteDependencies,
  occasion: Occasion,
  id: string,
): Promise<GroupRow | Refusal> {
  return writeUnit(dependencies, occasion, (unit) =>
    removeRecord(unit, GROUPS, { id, guards: [] }),
  );
}
